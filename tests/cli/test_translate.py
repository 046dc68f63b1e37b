"""badak translate: where its sentences come from, and what it refuses before it opens a run."""

import io
import sys
from types import SimpleNamespace

import pytest

from badak.cli import main
from badak.cli.translate import sentences_of
from badak.core.errors import ArgumentError
from badak.training.build import start
from badak.training.loop import train
from badak.training.presets import PRESETS, change


def pipe(monkeypatch, data, terminal=False):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: terminal))


def test_sentences_come_from_the_line_a_file_or_a_pipe(monkeypatch, tmp_path):
    (tmp_path / "some.txt").write_text("eins\n\n zwei \n")
    assert sentences_of(("eins", "zwei"), None) == ["eins", "zwei"]
    assert sentences_of((), str(tmp_path / "some.txt")) == ["eins", "", "zwei"]
    pipe(monkeypatch, "하나\n둘".encode())
    assert sentences_of((), None) == ["하나", "둘"]
    pipe(monkeypatch, b"")
    assert sentences_of((), None) == []


def test_no_sentence_two_sources_and_bytes_that_are_no_text_are_refused(monkeypatch):
    pipe(monkeypatch, b"", terminal=True)
    with pytest.raises(ArgumentError, match="no sentence\nfix: badak translate RUN 'a sentence', --in FILE, or lines"):
        sentences_of((), None)
    with pytest.raises(ArgumentError, match="sentences are given twice, on the command line and by --in\nfix: leave out"):
        sentences_of(("eins",), "file")
    pipe(monkeypatch, b"a \xff b")
    with pytest.raises(ArgumentError, match="what is piped in is not UTF-8 text: byte 2 is 0xff\nfix: iconv -t utf-8"):
        sentences_of((), None)


def test_pictures_of_several_and_references_that_do_not_fit_are_refused(tmp_path, capsys):
    (tmp_path / "reference").write_text("one\ntwo\n")
    assert main(["translate", "none", "eins", "zwei", "--show"]) == 2
    assert capsys.readouterr().err == "error: --show draws one sentence; got 2\nfix: badak translate RUN 'a sentence' --show\n"
    assert main(["translate", "none", "eins", "--reference", str(tmp_path / "reference")]) == 2
    said = capsys.readouterr().err
    assert said == f"error: {tmp_path / 'reference'} has 2 lines for 1 sentence\nfix: a translation in each line, in order\n"


@pytest.mark.slow
def test_one_long_line_does_not_end_a_file(tmp_path, capsys):
    setup = change(PRESETS["translate"]["phrases"], "model", {"d_model": 16, "heads": 2, "feedforward": 16, "context": 30})
    run, experiment = start(tmp_path / "r", change(setup, "train", {"steps": 1}))
    train(experiment, run.setup.train, run)
    (tmp_path / "in.txt").write_text("안녕\n" + "안녕 " * 80 + "\n\n고마워\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["translate", str(tmp_path / "r"), "--in", str(tmp_path / "in.txt"), "--num-beams", "1"]) == 0
    out, err = capsys.readouterr()
    assert len(out.split("\n")) == 5 and out.split("\n")[2] == ""
    assert err.startswith("sentence 2 has ") and err.count("\n") == 1
    assert err.endswith(" tokens, the model reads 30: what stands behind them is not translated\n")
