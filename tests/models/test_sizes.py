"""config.json is believed only as far as the tensors go: any size, any kind ends in two lines, before anything is made of it."""

import json
import resource
import time

import numpy as np
import pytest
import torch

from badak import models
from badak.core.errors import FileError
from badak.models import from_pretrained
from badak.models.pretrained import config_of

HUGE = [10**9, 10**9 + 1, 2**31, 2**63, 10**30]
ODD = [None, "8", 8.5, -1, 0, True, [], [8], {}, {"a": 1}, float("nan"), float("inf"), "\x1b[31m"]
SIZES = {"vocab_size": 30, "d_model": 8, "heads": 2, "context": 8}
MADE = {
    "llama": lambda: models.Llama(models.LlamaConfig(**SIZES, num_key_value_heads=1, layers=1, feedforward=12)),
    "gpt2": lambda: models.GPT(models.GPTConfig(**SIZES, layers=1)),
    "bert": lambda: models.BERT(models.BERTConfig(**SIZES, layers=1, type_vocab_size=2)),
    "classifier": lambda: models.BERTClassifier(models.TextConfig(**SIZES, layers=1, type_vocab_size=2)),
    "marian": lambda: models.Seq2Seq(
        models.Seq2SeqConfig(**SIZES, encoder_layers=1, decoder_layers=1, feedforward=12, norm_first=False, positions="halves",
                             output_bias=True)
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=MADE)
def folder(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    MADE[request.param]().save_pretrained(place)
    return place


def say(folder, **values):
    """The folder's settings, some of them others; what they were."""
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(json.dumps({**json.loads(text), **values}))
    return text


def settings(folder):
    return list(json.loads((folder / "config.json").read_text()))


def ask(folder, name, value):
    """What becomes of it: a model or two lines, and quickly, without memory."""
    before = say(folder, **{name: value})
    memory, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        for read in (from_pretrained, config_of):
            try:
                read(folder)
            except FileError as error:
                assert len(str(error).splitlines()) == 2 and str(error).replace("\n", "").isprintable(), (name, value)
    finally:
        (folder / "config.json").write_text(before)
    assert time.process_time() - began < 10 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 1 << 18, (name, value)


@pytest.mark.slow
def test_every_setting_may_be_huge(folder):
    for at, name in enumerate(settings(folder)):
        for value in HUGE[at % 3 :: 3]:  # interleaved: each takes a tenth of a second
            ask(folder, name, value)


@pytest.mark.thin(3)
@pytest.mark.slow
def test_every_setting_may_be_of_any_kind(folder):
    for at, name in enumerate(settings(folder)):
        for value in ODD[at % 5 :: 5]:
            ask(folder, name, value)


@pytest.mark.thin(2)
@pytest.mark.slow
def test_tables_within_the_settings_may_be_anything(folder):
    names = "rope_parameters rope_scaling id2label architectures model_type head_dim sliding_window n_ctx rope_theta n_inner"
    odd = (*ODD, *HUGE, {"rope_type": []}, {"rope_type": "linear", "factor": 10**400}, {"type": {}}, [[]], "x" * 10**5)
    for at, name in enumerate(names.split()):
        for value in odd[at % 5 :: 5]:
            ask(folder, name, value)


@pytest.mark.parametrize("value, cause", [
    ({"max_position_embeddings": 10**9}, "tables for 1,000,000,000 positions take 15,258 MiB, the weights 0 MiB"),
    ({"head_dim": 10**9}, "a head has 1,000,000,000 channels, 65,536 at most"),
    ({"head_dim": 60_000}, "head_dim is 60,000, and no tensor is wider than 30"),
    ({"num_attention_heads": 10**9 + 1, "num_key_value_heads": 2}, "is not a multiple of num_key_value_heads=2"),
    ({"intermediate_size": 31}, "feedforward is 31, and no tensor is wider than 30"),
    ({"num_hidden_layers": 10**9}, "1,000,000,000 layers, and 11 tensors are there"),
    ({"rope_parameters": [1]}, "rope_parameters must be a table"),
    ({"vocab_size": 10**30}, "vocab_size must be an integer"),
])  # fmt: skip
def test_what_is_said_of_it(value, cause, tmp_path):
    MADE["llama"]().save_pretrained(tmp_path)
    say(tmp_path, **value)
    with pytest.raises(FileError) as caught:
        from_pretrained(tmp_path)
    assert cause in str(caught.value) and len(str(caught.value).splitlines()) == 2


def test_a_long_context_is_read_where_it_belongs_to_a_small_head(tmp_path):
    """Tables up to 256 MiB, or a quarter of the weights, are those of real models."""
    model = MADE["llama"]()
    model.save_pretrained(tmp_path)
    say(tmp_path, max_position_embeddings=131_072)
    assert from_pretrained(tmp_path).config.context == 131_072


def test_numbers_that_a_file_holds_once_are_not_taken_a_billion_times(tmp_path):
    """PyTorch's .bin may say that a tensor of any size is one number."""
    model = MADE["gpt2"]()
    model.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    state = {"transformer.wte.weight": torch.zeros(1).expand(10**6, 10**6)}
    torch.save(state, tmp_path / "pytorch_model.bin")
    with pytest.raises(FileError, match="pytorch_model.bin: transformer.wte.weight says the same numbers again and again\nfix: "):
        from_pretrained(tmp_path)


def test_a_wide_tensor_without_numbers_vouches_for_nothing(tmp_path):
    from badak.io import safetensors

    MADE["llama"]().save_pretrained(tmp_path)
    tensors = {name: x.numpy() for name, x in safetensors.load_file(tmp_path / "model.safetensors").items()}
    safetensors.save_file({**tensors, "x": np.zeros((0, 10**9), np.float32)}, tmp_path / "model.safetensors")
    say(tmp_path, intermediate_size=10**9)
    with pytest.raises(FileError, match="feedforward is 1,000,000,000, and no tensor is wider than 30"):
        from_pretrained(tmp_path)
