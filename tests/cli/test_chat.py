"""badak chat and badak generate: runs and folders of Hugging Face, lines from a pipe, and Ctrl-C within an answer."""

import io
import sys

import pytest

import badak
from badak import models
from badak.cli import chat as command
from badak.cli import main
from badak.data.tokenizer import Tokenizer

SIZES = ["--context", "8", "--d-model", "16", "--heads", "2", "--layers", "1", "--batch-size", "4", "--steps", "2"]


@pytest.fixture
def place(tmp_path, monkeypatch, capsys):
    """A folder with a text, in which the commands run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("to be or not\nthat is the question\n" * 20)
    return tmp_path


def asked(monkeypatch, capsys, lines, *arguments):
    """(code, out, err) of `badak chat` with these lines as its input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    code = main(["chat", *arguments])
    return code, *capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("how", [["characters"], ["words", "--lines"], ["pieces"], ["bpe", "--vocab-size", "270"]], ids=" ".join)
def test_any_run_of_gpt_can_be_talked_with(place, monkeypatch, capsys, how):
    assert main(["train", "gpt", "--data", "text.txt", "--tokens", *how, "--run", "r", *SIZES]) == 0
    capsys.readouterr()
    code, out, err = asked(monkeypatch, capsys, "to be\nthat is\n/reset\nto be\n/quit\nnot read\n", "r", "--max-new-tokens", "5")
    assert code == 0 and len(out.splitlines()) == 3
    assert out.splitlines()[0] == out.splitlines()[2]  # what was said between was forgotten
    assert "error" not in err


@pytest.mark.slow
def test_what_the_model_has_never_seen_ends_nothing(place, monkeypatch, capsys):
    assert main(["train", "gpt", "--data", "text.txt", "--tokens", "characters", "--run", "r", *SIZES]) == 0
    capsys.readouterr()
    code, out, err = asked(monkeypatch, capsys, "ZZZ\n/help\n\nto be\n", "r", "--max-new-tokens", "5", "--temperature", "3")
    assert code == 0 and out.strip()
    assert "error: encode: 'Z' (at character 0) is not among the" in err and "\nfix: use the characters of the training" in err
    assert "(/help is no command: /reset clears the history" in err


@pytest.mark.slow
def test_a_long_talk_says_once_that_it_is_cut(place, monkeypatch, capsys):
    assert main(["train", "gpt", "--data", "text.txt", "--tokens", "characters", "--run", "r", *SIZES]) == 0
    capsys.readouterr()
    code, _, err = asked(monkeypatch, capsys, "to be\n" * 5, "r", "--max-new-tokens", "2")
    assert code == 0 and err == "(the model sees 8 tokens: what was said first is left out from now on)\n"


@pytest.fixture
def folder(place):
    """A small GPT-2 with its tokenizer."""
    tokenizer = Tokenizer.train_bpe([(place / "text.txt").read_text()], 280)
    badak.manual_seed(0)
    models.GPT(models.GPTConfig(vocab_size=len(tokenizer), context=32, d_model=16, layers=1)).save_pretrained(place / "m")
    tokenizer.save(place / "m")
    return "m"


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "bf16", "int8"])
def test_folders_of_hugging_face_write_and_answer(folder, monkeypatch, capsys, precision):
    assert main(["generate", folder, "to be", "--max-new-tokens", "5", "--precision", precision]) == 0
    assert capsys.readouterr().out.startswith("to be")
    assert main(["generate", folder, "to be", "--max-new-tokens", "3", "--explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    code, out, err = asked(monkeypatch, capsys, "to be\n", folder, "--max-new-tokens", "5", "--precision", precision)
    assert code == 0 and out and not err


def test_ctrl_c_ends_an_answer_and_not_the_program(folder, monkeypatch, capsys):
    """At each step: the answer so far stays in the history, and the next question is answered."""
    seen = []

    class Stopped(command.Chat):
        def ask(self, question):
            seen.append([turn["content"] for turn in self.turns])
            for number, piece in enumerate(super().ask(question)):
                yield piece
                if question == "to" and number == 1:
                    raise KeyboardInterrupt

    monkeypatch.setattr(command, "Chat", Stopped)
    options = ["--max-new-tokens", "9", "--temperature", "5", "--top-k", "0", "--seed", "3"]
    code, out, err = asked(monkeypatch, capsys, "to\nbe\n", folder, *options)
    assert code == 0 and not err and len(out.splitlines()) >= 2
    assert seen[0] == [] and seen[1][0] == "to" and len(seen[1]) == 2


def test_a_folder_without_a_tokenizer_is_refused(place, capsys):
    models.GPT(models.GPTConfig(d_model=16, layers=1)).save_pretrained("m")
    assert main(["chat", "m"]) == 2
    assert capsys.readouterr().err == (
        "error: m: no tokenizer.json, no vocab.json with merges.txt and no vocab.txt\nfix: the folder of a tokenizer\n"
    )
