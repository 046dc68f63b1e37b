"""One is singular in English, in every message that counts."""

import re

import pytest

from badak.core.errors import ArgumentError
from badak.core.i18n import COUNTED, say, singular


@pytest.mark.parametrize(
    "text, expected",
    [
        ("badak: compiled 1 kernels in 0.5 s", "badak: compiled 1 kernel in 0.5 s"),
        ("1 steps, 11 steps, 21 tokens", "1 step, 11 steps, 21 tokens"),
        ("(1 queries)", "(1 query)"),
        ("1 parameters are not registered", "1 parameter is not registered"),
        ("1 rows have no key", "1 row has no key"),
        ("wrong in 1 of 1 numbers", "wrong in 1 of 1 numbers"),
        ("0.1 seconds, stage-1 layers, --1 steps, v1 models", "0.1 seconds, stage-1 layers, --1 steps, v1 models"),
        ("token 1 is read", "token 1 is read"),
        ("my 1 tokens.bin, 1 files/x and 1 runs-old: no such file", "my 1 tokens.bin, 1 files/x and 1 runs-old: no such file"),
        ("of 1 words.", "of 1 words."),
        ("it has 1 words.", "it has 1 word."),
    ],
)
def test_one_is_singular(monkeypatch, text, expected):
    monkeypatch.setenv("BADAK_LANG", "en")
    assert say(text) == expected


def test_each_word_has_a_singular_and_errors_use_it(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "en")
    for noun in COUNTED:
        assert re.fullmatch(r"[a-z]+", singular(noun)) and say(f"of all 1 {noun}") == f"of all 1 {singular(noun)}"
    assert {singular(word) for word in ("classes", "batches", "matrices", "losses", "sizes", "processes", "kernels")} == {
        "class", "batch", "matrix", "loss", "size", "process", "kernel"
    }  # fmt: skip
    assert str(ArgumentError("got 1 rows", "2 rows")) == "got 1 row\nfix: 2 rows"


def test_korean_does_not_read_the_singular(monkeypatch):
    monkeypatch.setenv("BADAK_LANG", "ko")
    assert "case" not in say("right: {} cases in {} s", 1, 0.1) and "1" in say("right: {} cases in {} s", 1, 0.1)
