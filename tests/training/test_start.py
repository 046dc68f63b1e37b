"""A GPT that begins with the weights of a folder: all of it, its upper layers, or adapters learn."""

import numpy as np
import pytest

import badak
from badak import kernels
from badak.cli import main
from badak.core.errors import ArgumentError, StateError
from badak.data.tokenizer import Tokenizer
from badak.io import safetensors
from badak.models import GPT, GPTConfig, Llama, LlamaConfig, from_pretrained
from badak.nn.lora import lora_state_dict
from badak.training.build import build, open_model, resume, start
from badak.training.loop import train
from badak.training.memory import learned_of, saved_of, weights_of
from badak.training.presets import PRESETS, change

pytestmark = pytest.mark.slow

TEXT = "The floor, from the bottom up: every layer stands on the one below it.\n" * 40
SIZES = {
    "gpt2": lambda V: GPT(GPTConfig(vocab_size=V, context=32, d_model=16, heads=2, layers=3, dropout=0.1)),
    "llama": lambda V: Llama(
        LlamaConfig(vocab_size=V, context=32, d_model=16, heads=4, num_key_value_heads=2, layers=3, feedforward=24)
    ),
}


@pytest.fixture(autouse=True)
def plain():
    with kernels.use("reference"):
        yield


@pytest.fixture(params=SIZES)
def folder(tmp_path, request):
    """A model with a tokenizer, as Hugging Face keeps them; its table has rows to spare."""
    badak.manual_seed(5)
    tokenizer = Tokenizer.train_bpe([TEXT], 280)
    SIZES[request.param](len(tokenizer) + 4).save_pretrained(tmp_path / "base")
    tokenizer.save(tmp_path / "base")
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path / "base"


def setup_from(folder, /, steps=4, **begin):
    settings = {"steps": steps, "batch_size": 2, "eval_every": 2, "schedule": "constant", "warmup_steps": 0}
    setup = change(PRESETS["gpt"]["characters"], "train", settings)
    setup = change(setup, "data", {"path": str(folder.parent / "text.txt"), "seq_len": 8})
    return change(setup, "start", {"folder": str(folder), **begin})


def trained(folder, name="r", **begin):
    setup = setup_from(folder, **begin)
    run, experiment = start(folder.parent / name, setup)
    assert train(experiment, setup.train, run)
    return run, experiment


def answers(model):
    return model.eval()(badak.arange(8)[None]).detach().numpy()


def test_it_begins_with_the_weights_and_the_tokens_of_the_folder(folder):
    experiment = build(setup_from(folder))
    base = from_pretrained(folder)
    assert answers(experiment.model).tobytes() == answers(base).tobytes()
    assert experiment.vocabulary == Tokenizer.load(folder) and experiment.setup.data.tokens == "tokenizer"
    assert experiment.setup.model.dropout == 0.0 and experiment.setup.model.context == 32  # the window is 8
    assert next(iter(experiment.loader))[0].shape == (2, 8)


def test_what_was_trained_further_answers_without_the_folder(folder):
    run, experiment = trained(folder)
    assert run.rows()[-1].val_loss < run.rows()[0].val_loss
    for file in folder.iterdir():
        file.unlink()
    found = open_model(run.folder, "gpt")
    assert answers(found.model).tobytes() == answers(experiment.model).tobytes()
    assert max(found.vocabulary.special) == found.setup.model.vocab_size - 1  # rows to spare are never written
    again, experiment = resume(run.folder, changes={"steps": 6})
    assert train(experiment, again.setup.train, again)


def test_frozen_layers_keep_every_bit(folder):
    base = {name: x.clone() for name, x in from_pretrained(folder).state_dict().items()}
    _, experiment = trained(folder, freeze=2)
    still = ("token.", "position.", "blocks.0.", "blocks.1.")
    for name, x in experiment.model.state_dict().items():
        same = (x == base[name]).all().item()
        assert same == name.startswith(still) or name.startswith("rotary"), name


def test_adapters_alone_learn_and_are_kept(folder):
    base = {name: x.clone() for name, x in from_pretrained(folder).state_dict().items()}
    run, experiment = trained(folder, lora=2)
    kept = safetensors.load_file(run.folder / "model.safetensors")
    assert set(kept) == set(lora_state_dict(experiment.model))
    assert sum(x.numel() for x in kept.values()) == saved_of(experiment.setup)
    for name, x in experiment.model.state_dict().items():
        if "lora" not in name:
            assert (x == base[name.replace(".base.", ".")]).all(), name
    found = open_model(run.folder, "gpt")
    np.testing.assert_allclose(answers(found.model), answers(experiment.model), rtol=1e-4, atol=1e-5)
    assert not np.allclose(answers(found.model), answers(from_pretrained(folder)), atol=1e-4)


@pytest.mark.thin(3)
@pytest.mark.parametrize("base", ["float32", "q4", "q8"])
def test_adapters_go_on_bit_for_bit(folder, base):
    whole, _ = trained(folder, "whole", steps=6, lora=2, base=base)
    parts, _ = trained(folder, "parts", steps=2, lora=2, base=base)
    parts, experiment = resume(parts.folder, changes={"steps": 6})
    assert train(experiment, parts.setup.train, parts)
    for name in ("model.safetensors", "optimizer.safetensors", "config.json"):
        assert (whole.folder / name).read_bytes() == (parts.folder / name).read_bytes(), name


def test_adapters_next_to_a_base_of_4_bits_are_kept_alone_and_answer(folder):
    run, experiment = trained(folder, lora=2, base="q4")
    assert set(safetensors.load_file(run.folder / "model.safetensors")) == set(lora_state_dict(experiment.model))
    assert run.rows()[-1].val_loss < run.rows()[0].val_loss
    found, expected = answers(open_model(run.folder, "gpt").model), answers(experiment.model)
    assert np.linalg.norm(found - expected) < 0.03 * np.linalg.norm(expected)  # inputs of merged weights are not rounded


def test_adapters_of_other_weights_are_refused(folder):
    run, _ = trained(folder, lora=2)
    model = from_pretrained(folder)
    with badak.no_grad():
        model.token.weight[0, 0] += 1
    model.save_pretrained(folder)
    for use in (lambda: open_model(run.folder, "gpt"), lambda: resume(run.folder)):
        with pytest.raises(StateError, match=r"base: not the weights that this run began with\nfix: bring the old folder back"):
            use()


def test_memory_is_counted_as_the_model_has_it(folder):
    for begin in ({}, {"freeze": 2}, {"lora": 3}):
        experiment = build(setup_from(folder, **begin))
        numbers = list(experiment.model.parameters())
        learning = sum(p.numel() for p in numbers if p.requires_grad)
        base = sum(p.numel() for name, p in experiment.model.named_parameters() if "lora" not in name)
        assert 0.9 * base < weights_of(experiment.setup) <= base
        assert 0.85 * learning < learned_of(experiment.setup) <= learning


def test_contradictions_are_refused(folder, tmp_path):
    Tokenizer.train_bpe([TEXT + "zqxj vwkq " * 9], 300).save(tmp_path / "large.json")
    for begin, data, cause in (
        ({"freeze": 4}, {}, r"--freeze 4: the model has 3 layers\nfix: --freeze 3"),
        ({}, {"seq_len": 33}, r"--seq-len 33 is more than the 32 tokens that the model sees at once\nfix: --seq-len 32"),
        ({}, {"tokens": "bpe"}, r"has its own tokenizer; got --tokens bpe too\nfix: leave it out"),
        ({}, {"tokenizer": str(tmp_path / "large.json")}, r"a vocabulary of [\d,]+ tokens for a model of [\d,]+"),
    ):
        with pytest.raises(ArgumentError, match=cause):
            build(change(setup_from(folder, **begin), "data", data))
    for begin, cause in (
        (
            {"folder": "", "lora": 2},
            r"--lora is for a model that has learned something: there is no --init-from\nfix: --init-from FOLDER",
        ),
        ({"base": "q4"}, r"--base q4: weights in blocks do not learn, and there are no adapters\nfix: --lora 8"),
        ({"lora": 2, "freeze": 1}, r"--freeze and --lora: with LoRA nothing else learns anyway\nfix: one of the two"),
    ):
        with pytest.raises(ArgumentError, match=cause):
            setup_from(folder, **begin)


@pytest.mark.thin(1)
def test_the_commands_train_further_and_write(folder, tmp_path, capsys):
    run, quick = str(tmp_path / "r"), ["--steps", "2", "--batch-size", "2", "--seq-len", "8"]
    line = ["train", "gpt", "--init-from", str(folder), "--data", str(tmp_path / "text.txt"), "--run", run, *quick]
    assert main([*line, "--d-model", "32"]) == 2
    assert "--init-from says how large the model is; got --d-model too" in capsys.readouterr().err
    assert main([*line, "--lora", "2"]) == 0
    capsys.readouterr()
    assert main(["generate", run, "The floor", "--max-new-tokens", "4"]) == 0
    assert capsys.readouterr().out.startswith("The floor")
    assert main(["train", "gpt", "--resume", run, "--steps", "3"]) == 0
