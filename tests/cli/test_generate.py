"""badak generate: a prompt without a word before it, texts that end it, reasons for each token, and loops."""

import pytest

from badak.cli import main

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A run of two steps on a few words."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("to be or not to be that is the question\n" * 20)
    sizes = ["--context", "8", "--d-model", "16", "--heads", "2", "--layers", "1", "--batch-size", "4"]
    assert main(["train", "gpt", "--data", "text.txt", "--tokens", "characters", "--steps", "2", "--run", "r", *sizes]) == 0
    capsys.readouterr()
    return "r"


def test_the_prompt_may_stand_alone(run, capsys):
    assert main(["generate", run, "to be", "--max-new-tokens", "4"]) == 0
    alone = capsys.readouterr().out
    assert main(["generate", run, "--prompt", "to be", "--max-new-tokens", "4"]) == 0
    assert capsys.readouterr().out == alone and alone.startswith("to be") and len(alone) == 10
    assert main(["generate", run, "to", "--prompt", "be"]) == 2
    assert capsys.readouterr().err == "error: the prompt is given twice\nfix: badak generate RUN 'a text'\n"


def test_what_is_said_before_the_first_token_stands_before_the_text(run, capsys, monkeypatch):
    def pieces(*given):
        yield "to be"
        print("compiling")
        yield from (" or", " not")

    monkeypatch.setattr("badak.cli.generate.generate_text", pieces)
    assert main(["generate", run, "to be"]) == 0
    assert capsys.readouterr().out == "compiling\nto be or not\n"


def test_reasons_name_each_token_and_where_the_model_looked(run, capsys):
    assert main(["generate", run, "to", "--explain", "--max-new-tokens", "3", "--top-k", "5", "--seed", "4"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["token", "chance", "rank", "top", "looked", "at", "removed"] and len(lines) == 3
    assert all(" top_k " in line and "%" in line for line in lines) and "'t'@0" in lines[0] + lines[1]
    tokens = "".join(line[1] for line in lines)
    assert main(["generate", run, "to", "--max-new-tokens", "3", "--top-k", "5", "--seed", "4"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == "to" + tokens
    assert main(["generate", run, "to", "--explain", "--num-beams", "2"]) == 2
    assert capsys.readouterr().err == "error: --explain follows one text, --num-beams several\nfix: one of the two\n"


def test_a_text_ends_before_what_is_to_stop_it(run, capsys):
    assert main(["generate", run, "to", "--max-new-tokens", "30", "--temperature", "3"]) == 0
    whole = capsys.readouterr().out.rstrip("\n")
    letter = whole[6]
    assert main(["generate", run, "to", "--max-new-tokens", "30", "--temperature", "3", "--stop", letter]) == 0
    assert capsys.readouterr().out.rstrip("\n") == "to" + whole[2:].split(letter)[0]


@pytest.mark.filterwarnings("always")
def test_a_loop_is_said(run, capsys):
    assert main(["generate", run, "to", "--max-new-tokens", "60", "--temperature", "0"]) == 0
    said = capsys.readouterr().err
    assert "warning: the model repeats itself: " in said and "\nfix: --no-repeat-ngram-size 3 forbids it" in said
    assert main(["generate", run, "to", "--max-new-tokens", "60", "--temperature", "0", "--no-repeat-ngram-size", "2"]) == 0
    assert "repeats itself" not in capsys.readouterr().err
