"""The vocabulary of a run is read as it was written, or refused."""

import pytest

from badak.core.errors import ArgumentError, FileError
from badak.data.text import CharVocabulary
from badak.data.tokenizer import Tokenizer
from badak.io.sealed import seal, unseal
from badak.training.presets import GPTSetup, change
from badak.training.run import Run
from badak.training.vocabulary import noted

TEXTS = ["바닥부터 쌓는 트랜스포머 🙂", "the floor, from the bottom up"] * 20


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train_bpe(TEXTS, 300)


def run_with(folder, vocabulary):
    setup = noted(change(GPTSetup(), "model", {"vocab_size": len(vocabulary)}), vocabulary)
    return Run.create(folder, setup, vocabulary)


def test_a_tokenizer_stands_beside_the_settings_with_its_hash(tmp_path, tokenizer):
    run_with(tmp_path / "r", tokenizer)
    run = Run.open(tmp_path / "r")
    assert run.vocabulary() == tokenizer and run.setup.vocabulary == ()
    assert Tokenizer.load(tmp_path / "r") == tokenizer  # any program reads it
    assert run.vocabulary().decode(run.vocabulary().encode(TEXTS[0])) == TEXTS[0]


def test_characters_stand_in_the_settings(tmp_path):
    vocabulary = CharVocabulary.from_text("".join(TEXTS))
    setup = change(change(GPTSetup(), "data", {"tokens": "characters"}), "model", {"vocab_size": len(vocabulary)})
    Run.create(tmp_path / "r", noted(setup, vocabulary), vocabulary)
    assert Run.open(tmp_path / "r").vocabulary() == vocabulary
    assert not (tmp_path / "r" / "tokenizer.json").exists()


def test_another_tokenizer_is_refused(tmp_path, tokenizer):
    run_with(tmp_path / "r", tokenizer)
    Tokenizer.train_bpe(TEXTS, 290).save(tmp_path / "r")
    with pytest.raises(FileError, match=r"tokenizer.json: damaged or exchanged: .* config.json has\nfix: restore the file"):
        Run.open(tmp_path / "r").vocabulary()


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_changed_byte_is_refused(tmp_path, tokenizer, place):
    run_with(tmp_path / "r", tokenizer)
    data = bytearray((tmp_path / "r" / "tokenizer.json").read_bytes())
    data[place] ^= 1
    (tmp_path / "r" / "tokenizer.json").write_bytes(data)
    with pytest.raises(FileError, match=r"tokenizer.json: damaged or exchanged"):
        Run.open(tmp_path / "r").vocabulary()


def test_a_tokenizer_that_is_gone_is_named(tmp_path, tokenizer):
    run_with(tmp_path / "r", tokenizer)
    (tmp_path / "r" / "tokenizer.json").unlink()
    with pytest.raises(FileError, match=r"tokenizer.json: .*\nfix: "):
        Run.open(tmp_path / "r").vocabulary()


def test_a_model_of_another_size_is_refused(tmp_path, tokenizer):
    run = run_with(tmp_path / "r", tokenizer)
    table = unseal(tmp_path / "r" / "config.json", "")
    table["model"]["vocab_size"] = 7
    (tmp_path / "r" / "config.json").write_bytes(seal(table))
    with pytest.raises(FileError, match=rf"{len(tokenizer)} tokens .* model.vocab_size is 7\nfix: "):
        Run.open(run.folder).vocabulary()


def test_a_tokenizer_of_the_users_is_not_written_over(tmp_path, tokenizer):
    Tokenizer.train_bpe(TEXTS, 290).save(tmp_path)
    with pytest.raises(ArgumentError, match=r"another tokenizer is in this folder already\nfix: --run names another folder"):
        run_with(tmp_path, tokenizer)
