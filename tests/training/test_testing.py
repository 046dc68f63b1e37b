"""badak eval: the figures of a run are found again, and what cannot be tested is refused."""

import csv

import pytest

from badak.cli import main

pytestmark = pytest.mark.slow

SMALL = "--layers 1 --heads 2 --d-model 16 --steps 1".split()
TASKS = {
    "gpt": ["gpt", *SMALL, "--context", "16", "--preset", "sentences"],
    "bert": ["bert", *SMALL],
    "classes": ["text", *SMALL],
    "numbers": ["text", "--task", "regression", *SMALL],
}


def train(folder, words) -> dict[str, str]:
    """The last row of a training of one step."""
    assert main(["train", *words, "--run", str(folder)]) == 0
    with (folder / "metrics.csv").open() as file:
        return list(csv.DictReader(file))[-1]


def table(capsys, *words) -> dict[str, str]:
    """What badak eval prints."""
    capsys.readouterr()
    assert main(["eval", *map(str, words)]) == 0
    lines = capsys.readouterr().out.partition("\n\n")[0].splitlines()
    return {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in lines}


@pytest.mark.parametrize("task", TASKS)
def test_the_figures_of_training_are_found_again(task, tmp_path, capsys):
    row, found = train(tmp_path / "run", TASKS[task]), table(capsys, tmp_path / "run")
    assert found["loss"] == f"{float(row['val_loss']):.6g}"
    if task != "numbers":
        assert found["accuracy"] == f"{float(row['val_accuracy']):.4%}"
    assert found["steps"] == "1"


def test_a_writer_is_tested_with_the_whole_of_another_text(tmp_path, capsys):
    text, other = tmp_path / "text.txt", tmp_path / "other.txt"
    text.write_text("the quick brown fox jumps over the lazy dog. " * 20)
    other.write_text("the lazy fox jumps over the brown dog. " * 20)
    words = ["gpt", *SMALL, "--context", "16", "--data", str(text), "--tokens", "characters"]
    train(tmp_path / "run", words)
    held_out, whole = table(capsys, tmp_path / "run"), table(capsys, tmp_path / "run", "--data", other)
    assert whole["data"] == str(other)
    assert held_out["judged"] == "80 tokens" and whole["judged"] == f"{(other.stat().st_size - 1) // 16 * 16} tokens"
    other.write_text("0123456789 " * 20)
    assert main(["eval", str(tmp_path / "run"), "--data", str(other)]) == 2
    assert "is not among the" in capsys.readouterr().err


def test_other_data_than_the_run_learned_with_is_refused(tmp_path, capsys):
    text = tmp_path / "text.txt"
    text.write_text("abcabc " * 60)
    train(tmp_path / "run", ["gpt", *SMALL, "--context", "16", "--data", str(text), "--tokens", "characters"])
    text.write_text("abccba " * 60)
    assert main(["eval", str(tmp_path / "run")]) == 2
    said = capsys.readouterr().err
    assert "error: " in said and "the data is not what this run began with" in said
    assert "fix: bring the old data back, or say --data PATH" in said


def test_opinions_have_no_other_data(tmp_path, capsys):
    train(tmp_path / "run", TASKS["classes"])
    assert main(["eval", str(tmp_path / "run"), "--data", "other.csv"]) == 2
    assert "this run learned from the opinions that come with badak" in capsys.readouterr().err


def test_bert_refuses_words_that_it_did_not_learn(tmp_path, capsys):
    other = tmp_path / "other.txt"
    other.write_text("some other words\nin two lines\n")
    train(tmp_path / "run", TASKS["bert"])
    assert main(["eval", str(tmp_path / "run"), "--data", str(other)]) == 2
    assert "this data makes another vocabulary or other classes" in capsys.readouterr().err


def test_prompts_of_a_file(tmp_path, capsys):
    train(tmp_path / "run", TASKS["gpt"])
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n")
    assert main(["generate", str(tmp_path / "run"), "--prompts", str(prompts)]) == 2
    assert "no line has a prompt" in capsys.readouterr().err
    assert main(["generate", str(tmp_path / "run"), "a", "--prompts", str(prompts)]) == 2
    assert "the prompt is given twice" in capsys.readouterr().err
