"""Folders of Hugging Face: what transformers wrote is read, what badak wrote transformers reads, and both compute the same."""

import json
import shutil

import numpy as np
import pytest
import torch
import transformers

import badak
from badak import models, nn
from badak.core.errors import FileError

pytestmark = pytest.mark.slow

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

V = 61
SMALL = {"vocab_size": V, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
GROUPED = {**SMALL, "num_key_value_heads": 2, "intermediate_size": 40, "max_position_embeddings": 24}
LONGER = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
t = transformers
THEIRS = {
    "gpt2": (
        t.GPT2Config(vocab_size=V, n_positions=24, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=0),
        t.GPT2LMHeadModel, models.GPT,
    ),
    "llama": (t.LlamaConfig(**GROUPED), t.LlamaForCausalLM, models.Llama),
    "llama tied": (t.LlamaConfig(**GROUPED, tie_word_embeddings=True, rms_norm_eps=1e-3), t.LlamaForCausalLM, models.Llama),
    "llama with a head_dim": (t.LlamaConfig(**GROUPED, head_dim=16), t.LlamaForCausalLM, models.Llama),
    "llama 3": (
        t.LlamaConfig(**GROUPED, rope_parameters={**LONGER, "original_max_position_embeddings": 6}),
        t.LlamaForCausalLM, models.Llama,
    ),
    "llama linear": (
        t.LlamaConfig(**GROUPED, rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 1000.0}),
        t.LlamaForCausalLM, models.Llama,
    ),
    "mistral": (t.MistralConfig(**GROUPED, sliding_window=None), t.MistralForCausalLM, models.Llama),
    "qwen2": (t.Qwen2Config(**GROUPED), t.Qwen2ForCausalLM, models.Llama),
    "qwen3": (t.Qwen3Config(**GROUPED, head_dim=16, tie_word_embeddings=True), t.Qwen3ForCausalLM, models.Llama),
    "bert": (t.BertConfig(**SMALL, max_position_embeddings=24), t.BertForMaskedLM, models.BERT),
    "bert classes": (t.BertConfig(**SMALL, num_labels=3), t.BertForSequenceClassification, models.BERTClassifier),
    "bert number": (t.BertConfig(**SMALL, num_labels=1), t.BertForSequenceClassification, models.BERTClassifier),
    "marian": (
        t.MarianConfig(
            vocab_size=V, d_model=32, encoder_layers=2, decoder_layers=3, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=40, decoder_ffn_dim=40, max_position_embeddings=24, scale_embedding=True, activation_function="swish",
            pad_token_id=0, eos_token_id=2, decoder_start_token_id=0, bos_token_id=1, forced_eos_token_id=2,
        ),
        t.MarianMTModel, models.Seq2Seq,
    ),
    "bert encoder": (t.BertConfig(**SMALL), t.BertModel, models.BERTEncoder),
}  # fmt: skip


def theirs(name):
    """A small model of transformers whose weights matter, norms and biases too."""
    config, kind, _ = THEIRS[name]
    torch.manual_seed(0)
    model = kind(config).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if "embed_positions" not in key:  # sines, which no training changes
                parameter.add_(0.3 * torch.randn_like(parameter))
    return model


def ids_for(name):
    ids = torch.randint(1, V, (3, 17), generator=torch.Generator().manual_seed(1))
    if "bert" in name or name == "marian":
        ids[0, 12:], ids[2, 5:] = 0, 0  # padding
    return ids


def their_output(model, name, ids):
    if name == "marian":
        return model(ids, attention_mask=(ids != 0).long(), decoder_input_ids=ids).logits
    if "bert" not in name:
        return model(ids).logits
    made = model(ids, attention_mask=(ids != 0).long())
    return made.last_hidden_state if name == "bert encoder" else made.logits


def our_output(model, ids):
    ids = badak.from_numpy(ids.numpy())
    return model(ids, ids) if isinstance(model, models.Seq2Seq) else model(ids)


def close(ours, expected, mask=None):
    ours, expected = ours.detach().numpy(), expected.detach().numpy()
    if mask is not None:
        ours, expected = ours[mask], expected[mask]
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def seen(name, ids):
    """Where the two must agree: what stands at padding is nobody's."""
    return ids.numpy() != 0 if name in ("bert", "bert encoder") else None


@pytest.mark.thin(7)
@pytest.mark.parametrize("name", THEIRS)
def test_a_folder_of_transformers_gives_the_same_numbers_and_gradients(name, tmp_path):
    model, ids = theirs(name), ids_for(name)
    model.save_pretrained(tmp_path)
    ours = THEIRS[name][2].from_pretrained(tmp_path)
    assert not ours.training and type(models.from_pretrained(tmp_path)) is THEIRS[name][2]
    expected, made = their_output(model, name, ids), our_output(ours, ids)
    close(made, expected, seen(name, ids))
    weight = torch.randn(expected.shape, generator=torch.Generator().manual_seed(2))
    if seen(name, ids) is not None:
        weight = weight * (ids != 0)[..., None]
    (expected * weight).sum().backward()
    (made * badak.from_numpy(weight.numpy())).sum().backward()
    embedding = model.get_input_embeddings().weight.grad.numpy()
    np.testing.assert_allclose(ours.token.weight.grad.numpy(), embedding, rtol=0, atol=1e-4 * np.abs(embedding).max())


@pytest.mark.thin(7)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", THEIRS)
def test_what_badak_writes_transformers_reads(name, dtype, tmp_path):
    model, ids = theirs(name), ids_for(name)
    model.save_pretrained(tmp_path / "theirs")
    ours = THEIRS[name][2].from_pretrained(tmp_path / "theirs")
    ours.save_pretrained(tmp_path / "ours", dtype=None if dtype == "float32" else getattr(badak, dtype))
    again = type(model).from_pretrained(tmp_path / "ours", dtype=torch.float32, output_loading_info=True)
    assert not any(again[1][key] for key in ("unexpected_keys", "mismatched_keys"))
    assert all("pooler" in key for key in again[1]["missing_keys"])
    rounded = getattr(torch, dtype)
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            parameter.copy_(parameter if "embed_positions" in key else parameter.to(rounded))
        close(badak.from_numpy(their_output(again[0].eval(), name, ids).numpy()), their_output(model, name, ids), seen(name, ids))
    back = models.from_pretrained(tmp_path / "ours")
    assert back.config == ours.config
    for key, value in ours.state_dict().items():
        assert badak.equal(back.state_dict()[key], value.to(getattr(badak, dtype)).to(badak.float32)), key


def test_shards_and_old_files_are_read(tmp_path):
    model, ids = theirs("llama"), ids_for("llama")
    expected = model(ids).logits
    model.save_pretrained(tmp_path / "shards", max_shard_size="20KB")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 2
    given = badak.from_numpy(ids.numpy())
    ours = models.from_pretrained(tmp_path / "shards")
    close(ours(given), expected)
    ours.save_pretrained(tmp_path / "own", shard=20_000)
    assert len(list((tmp_path / "own").glob("model-*-of-*.safetensors"))) > 2
    close(badak.from_numpy(t.LlamaForCausalLM.from_pretrained(tmp_path / "own")(ids).logits.detach().numpy()), expected)
    close(models.from_pretrained(tmp_path / "own")(given), expected)
    old = tmp_path / "old"
    old.mkdir()
    shutil.copy(tmp_path / "own" / "config.json", old)
    torch.save(model.state_dict(), old / "pytorch_model.bin")
    close(models.from_pretrained(old)(given), expected)
    ours.save_pretrained(tmp_path / "own")  # one file now: what the earlier save left must not be read
    assert sorted(path.name for path in (tmp_path / "own").glob("model.safetensors*")) == ["model.safetensors"]


def test_reading_a_model_draws_nothing(tmp_path):
    theirs("llama").save_pretrained(tmp_path)
    badak.manual_seed(3)
    expected = badak.rand(4).tolist()
    badak.manual_seed(3)
    models.from_pretrained(tmp_path)
    assert badak.rand(4).tolist() == expected


@pytest.mark.parametrize("name", ["gpt2", "llama", "llama 3", "qwen3"])
@badak.no_grad()
def test_a_cache_gives_the_logits_of_the_whole_text(name, tmp_path):
    theirs(name).save_pretrained(tmp_path)
    model, ids = models.from_pretrained(tmp_path), badak.from_numpy(ids_for(name).numpy())
    cache = nn.KeyValueCache(2, max_length=17)
    parts = badak.cat([model(part, cache) for part in ids.split([5, 1, 1, 10], dim=1)], dim=1)
    close(parts, model(ids))


FAULTS = {
    "no config": (lambda place: (place / "config.json").unlink(), r"config\.json: .*(No such file|no such file)"),
    "another architecture": (lambda place: say(place, model_type="mamba"), "model_type is 'mamba'; badak.models reads "),
    "another activation": (lambda place: say(place, hidden_act="relu"), "hidden_act is 'relu'; this model knows 'silu'"),
    "sizes that are words": (lambda place: say(place, hidden_size="large"), "hidden_size must be an integer; got 'large'"),
    "other sizes": (lambda place: say(place, intermediate_size=41), r"gate_proj\.weight is \(40, 32\) where .* \(41, 32\)"),
    "other heads": (lambda place: say(place, num_key_value_heads=4), r"k_proj\.weight is \(16, 32\) where .* \(32, 32\)"),
    "more layers": (lambda place: say(place, num_hidden_layers=3), "9 of 30 tensors are missing: model.layers.2"),
    "fewer layers": (lambda place: say(place, num_hidden_layers=1), "9 tensors have no place in Llama: model.layers.1"),
    "another rotation": (
        lambda place: say(place, rope_parameters={"rope_type": "yarn", "factor": 2.0}),
        "rope_type is 'yarn'; this model knows 'default', 'linear', 'llama3'",
    ),
    "no tensors": (lambda place: (place / "model.safetensors").unlink(), "no model.safetensors and no pytorch_model.bin"),
    "half a file": (
        lambda place: (place / "model.safetensors").write_bytes((place / "model.safetensors").read_bytes()[:5000]),
        "damaged, or not a safetensors file",
    ),
    "an index to elsewhere": (
        lambda place: (place / "model.safetensors").rename(place / "x")
        and (place / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "../x"}})),
        "names '../x', which is no file of this folder",
    ),
    "a missing shard": (
        lambda place: (place / "model.safetensors").rename(place / "x")
        and (place / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "b.safetensors"}})),
        "b.safetensors: is missing, and model.safetensors.index.json names it",
    ),
}  # fmt: skip


def say(place, **changes):
    path = place / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_read_is_said_in_two_lines(fault, tmp_path):
    theirs("llama").save_pretrained(tmp_path)
    spoil, text = FAULTS[fault]
    spoil(tmp_path)
    with pytest.raises(FileError, match=text) as caught:
        models.from_pretrained(tmp_path)
    assert len(str(caught.value).splitlines()) == 2


def test_a_folder_that_is_not_there_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as caught:
        models.from_pretrained("gpt2")
    assert str(caught.value) == (
        "gpt2: there is no such folder, and huggingface_hub, which could fetch it, is not installed\n"
        "fix: pip install huggingface_hub, or put its config.json, model.safetensors and tokenizer.json into a folder gpt2"
    )
    with pytest.raises(FileError, match="there is no such folder\nfix: the folder that holds config.json"):
        models.from_pretrained(tmp_path / "a b")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="is a file\nfix: the folder that holds"):
        models.from_pretrained(tmp_path / "file")


def test_another_class_is_refused(tmp_path):
    theirs("llama").save_pretrained(tmp_path)
    with pytest.raises(FileError, match="model_type is 'llama'; GPT reads gpt2\nfix: badak.models.from_pretrained"):
        models.GPT.from_pretrained(tmp_path)


@pytest.mark.parametrize("pooling, normalize", [("mean", True), ("cls", False)])
@badak.no_grad()
def test_a_sentence_encoder_keeps_how_it_reads(pooling, normalize, tmp_path):
    theirs("bert encoder").save_pretrained(tmp_path / "plain")
    plain = models.SentenceEncoder.from_pretrained(tmp_path / "plain")
    assert (plain.config.pooling, plain.config.normalize) == ("mean", True)
    config = models.SentenceConfig(**{**vars(plain.config), "pooling": pooling, "normalize": normalize})
    ours = models.SentenceEncoder(config).eval()
    ours.load_state_dict(plain.state_dict())
    ours.save_pretrained(tmp_path / "own")
    again, ids = models.SentenceEncoder.from_pretrained(tmp_path / "own"), ids_for("bert encoder")
    assert again.config == config
    hidden = their_output(theirs("bert encoder"), "bert encoder", ids)
    kept = (ids != 0)[..., None]
    expected = hidden[:, 0] if pooling == "cls" else (hidden * kept).sum(1) / kept.sum(1)
    expected = torch.nn.functional.normalize(expected, dim=-1) if normalize else expected
    close(again(badak.from_numpy(ids.numpy())), expected)


SENTENCE_FAULTS = {
    "another pooling": (
        lambda place: (place / "1_Pooling" / "config.json").write_text('{"pooling_mode_max_tokens": true}'),
        r"pools by \['pooling_mode_max_tokens'\]; SentenceEncoder knows pooling_mode_cls_token, pooling_mode_mean_tokens",
    ),
    "another module": (
        lambda place: (place / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]'),
        "modules.json: has a module 'Dense', which SentenceEncoder lacks",
    ),
    "no table of modules": (
        lambda place: (place / "modules.json").write_text('{"type": 3}'),
        "modules.json: expected a list of modules; got dict",
    ),
}


@pytest.mark.parametrize("fault", SENTENCE_FAULTS)
def test_a_sentence_encoder_that_reads_otherwise_is_refused(fault, tmp_path):
    small = models.SentenceConfig(vocab_size=V, d_model=16, heads=2, layers=1, type_vocab_size=2)
    models.SentenceEncoder(small).save_pretrained(tmp_path)
    spoil, text = SENTENCE_FAULTS[fault]
    spoil(tmp_path)
    with pytest.raises(FileError, match=text) as caught:
        models.SentenceEncoder.from_pretrained(tmp_path)
    assert len(str(caught.value).splitlines()) == 2


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot be made .*\nfix: choose another folder"):
        models.GPT(models.GPTConfig()).save_pretrained(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    "kind, config",
    [
        (models.GPT, models.GPTConfig()),
        (models.Llama, models.LlamaConfig()),
        (models.Llama, models.LlamaConfig(tied=False, qkv_bias=True)),
        (models.BERT, models.BERTConfig()),
        (models.BERT, models.BERTConfig(type_vocab_size=3)),
        (models.BERTClassifier, models.TextConfig(classes=4)),
    ],
)
@badak.no_grad()
def test_a_model_of_ours_comes_back_as_it_went(kind, config, tmp_path):
    badak.manual_seed(0)
    model, ids = kind(config).eval(), badak.randint(1, 50, (2, 9))
    model.save_pretrained(tmp_path)
    again = models.from_pretrained(tmp_path)
    assert type(again) is kind and again.config == config
    assert badak.equal(again(ids), model(ids))


def test_what_no_folder_can_say_is_refused_when_it_is_written(tmp_path):
    for config in (models.TextConfig(pooling="mean"), models.TextConfig(pooler=False)):
        with pytest.raises(badak.core.errors.ArgumentError, match="no folder of BertForSequenceClassification can say .*\nfix: "):
            models.BERTClassifier(config).save_pretrained(tmp_path)
