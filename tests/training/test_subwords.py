"""A GPT over pieces of words: a tokenizer trained on the text, one that is given, and folders of tokens larger than memory."""

import dataclasses

import numpy as np
import pytest

from badak.cli import main
from badak.core.errors import ArgumentError, FileError, StateError
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import documents, write_tokens
from badak.generation.logit_filters import GenerationConfig
from badak.generation.text import generate_text
from badak.training.build import build, open_model, resume, start
from badak.training.loop import train
from badak.training.presets import PRESETS, change

TEXT = "바닥부터 쌓는 트랜스포머. The floor, from the bottom up: every layer stands on the one below it.\n" * 60
TINY = change(
    change(PRESETS["gpt"]["characters"], "model", {"d_model": 16, "heads": 2, "layers": 1, "context": 8}),
    "train", {"steps": 4, "batch_size": 3, "eval_every": 2},
)  # fmt: skip


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def with_data(path, **data):
    return change(TINY, "data", {"path": str(path), **data})


def finish(folder, setup):
    run, experiment = start(folder, setup)
    assert train(experiment, setup.train, run)
    return run, experiment


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_a_tokenizer_is_trained_on_the_text_and_stays_with_the_run(tmp_path, text, kind):
    run, experiment = finish(tmp_path / "r", with_data(text, tokens=kind, vocabulary=300))
    found = open_model(tmp_path / "r", "gpt")
    assert found.vocabulary == Tokenizer.load(tmp_path / "r") == experiment.vocabulary
    assert found.setup.model.vocab_size == len(found.vocabulary) <= 300
    written = "".join(generate_text(found.model, found.vocabulary, "The floor", GenerationConfig(max_new_tokens=5)))
    assert written.startswith("The floor") and len(written) > len("The floor")


def test_the_tokenizer_is_made_of_the_part_to_learn_from(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("aaaa bbbb\n" * 90 + "zqzq\n" * 20)
    vocabulary = build(with_data(path, tokens="bpe", vocabulary=300, val_split=0.12)).vocabulary
    assert "aaaa" in vocabulary.ids and "zq" not in vocabulary.ids


@pytest.mark.slow
def test_a_run_goes_on_with_its_own_tokenizer_bit_for_bit(tmp_path, text):
    setup = with_data(text, tokens="bpe", vocabulary=300)
    whole, _ = finish(tmp_path / "whole", setup)
    half = dataclasses.replace(setup, train=dataclasses.replace(setup.train, steps=2, schedule="constant"))
    long = dataclasses.replace(setup, train=dataclasses.replace(setup.train, schedule="constant"))
    whole, _ = finish(tmp_path / "long", long)
    finish(tmp_path / "parts", half)
    parts, experiment = resume(tmp_path / "parts", changes={"steps": 4})
    assert train(experiment, parts.setup.train, parts)
    for name in ("model.safetensors", "optimizer.safetensors", "tokenizer.json", "config.json"):
        assert (whole.folder / name).read_bytes() == (parts.folder / name).read_bytes(), name


@pytest.mark.slow
def test_a_tokenizer_that_is_given_is_taken(tmp_path, text):
    Tokenizer.train_bpe([TEXT], 280).save(tmp_path / "t.json")
    run, experiment = finish(tmp_path / "r", with_data(text, tokenizer=str(tmp_path / "t.json")))
    assert experiment.setup.data.tokens == "tokenizer" and len(experiment.vocabulary) == 280
    (tmp_path / "t.json").unlink()  # the run has its own
    resume(run.folder)


@pytest.mark.slow
def test_a_folder_of_tokens_is_read_where_it_lies(tmp_path, text):
    tokenizer = Tokenizer.train_bpe([TEXT], 300)
    write_tokens(tmp_path / "tokens", documents([text], lines=True), tokenizer)
    run, experiment = finish(tmp_path / "r", with_data(tmp_path / "tokens"))
    dataset = experiment.loader.dataset
    assert isinstance(dataset.ids, np.memmap) or isinstance(dataset.ids.base, np.memmap)
    assert experiment.setup.data.tokens == "tokenizer" and open_model(run.folder, "gpt").vocabulary == tokenizer


def test_a_folder_of_tokens_has_the_tokens_of_its_text(tmp_path, text):
    tokenizer = Tokenizer.train_bpe([TEXT], 300)
    tokenizer.save(tmp_path / "t.json")
    write_tokens(tmp_path / "tokens", documents([text]), tokenizer)
    there = build(with_data(tmp_path / "tokens", val_split=0.0)).corpus.ids()
    assert there[:-1].tolist() == build(with_data(text, tokenizer=str(tmp_path / "t.json"))).corpus.ids().tolist()
    assert there[-1] == tokenizer.eos  # the end of the document


@pytest.mark.slow
def test_other_tokens_are_refused_when_a_run_goes_on(tmp_path, text):
    tokenizer = Tokenizer.train_bpe([TEXT], 300)
    write_tokens(tmp_path / "tokens", documents([text]), tokenizer)
    run, _ = finish(tmp_path / "r", with_data(tmp_path / "tokens"))
    text.write_text(TEXT.replace("floor", "storey"), encoding="utf-8")
    write_tokens(tmp_path / "tokens", documents([text]), tokenizer)
    again, experiment = resume(run.folder, changes={"steps": 6})
    with pytest.raises(StateError, match=r"the data is not what this run began with\nfix: "):
        train(experiment, again.setup.train, again)
    write_tokens(tmp_path / "tokens", documents([text]), Tokenizer.train_bpe([TEXT], 290))
    with pytest.raises(StateError, match=r"its vocabulary differs\nfix: "):
        resume(run.folder)


def test_contradictions_are_refused(tmp_path, text):
    Tokenizer.train_bpe([TEXT], 280).save(tmp_path / "t.json")
    write_tokens(tmp_path / "tokens", documents([text]), Tokenizer.load(tmp_path / "t.json"))
    for data, said in (
        ({"path": str(text), "tokens": "bpe", "tokenizer": str(tmp_path / "t.json")}, "--tokens bpe makes a tokenizer, and --tok"),
        ({"path": str(tmp_path / "tokens"), "tokenizer": str(tmp_path / "t.json")}, "its tokens are made already"),
        ({"path": str(text), "tokens": "tokenizer"}, "--tokens tokenizer: which one is not said"),
        ({"path": str(tmp_path / "tokens"), "lines": True}, "a folder of tokens has no lines"),
        ({"path": str(text), "tokens": "bpe", "vocabulary": 20}, "expected a size of 257 tokens or more; got 20"),
    ):
        with pytest.raises(ArgumentError, match=said):
            build(change(TINY, "data", data))
    with pytest.raises(FileError, match="no tokenizer.json"):
        build(with_data(text, tokenizer=str(tmp_path)))


def test_a_folder_of_texts_is_one_text(tmp_path, text):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.txt").write_text("second")
    (tmp_path / "more" / "a.md").write_text("first ")
    setup = change(with_data(tmp_path / "more", val_split=0.0), "model", {"context": 3})
    assert build(setup).corpus.text == "first second"


def test_answers_that_do_not_fit_into_memory_are_refused_before_training(text, monkeypatch):
    monkeypatch.setattr("badak.training.memory.machine_memory", lambda: 10_000_000)
    setup = change(with_data(text, tokens="bpe", vocabulary=300), "train", {"batch_size": 2_000})
    with pytest.raises(
        ArgumentError, match=r"the answers to a batch of 2000 examples .* numbers and need .*\nfix: .*--grad-accum-steps"
    ):
        build(setup)


@pytest.mark.slow
def test_the_commands_train_and_write_with_pieces_of_words(tmp_path, text, capsys):
    folder = str(tmp_path / "r")
    quick = ["--d-model", "16", "--layers", "1", "--context", "8", "--steps", "3", "--batch-size", "2"]
    assert main(["train", "gpt", "--data", str(text), "--tokens", "bpe", "--vocab-size", "300", "--run", folder, *quick]) == 0
    assert "a tokenizer of 300 tokens was made from" in capsys.readouterr().out
    assert main(["generate", folder, "바닥", "--max-new-tokens", "4", "--stop", "zzz"]) == 0
    assert capsys.readouterr().out.startswith("바닥")
    assert main(["generate", folder, "The", "--max-new-tokens", "3", "--explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    assert main(["info", folder]) == 0
