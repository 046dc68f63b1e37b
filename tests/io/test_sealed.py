"""JSON that carries its own checksum: what is not as it was written is an error of two lines, whatever the parser says of it."""

import hashlib

import pytest

from badak.core.errors import FileError
from badak.io import sealed
from badak.io.errors import reason
from badak.io.sealed import seal, unseal


def test_what_was_sealed_comes_back(tmp_path):
    table = {"step": 12, "text": '바닥\n"', "deep": [{"": None}, 0.1, -0.0, 1 << 70]}
    (tmp_path / "x").write_bytes(seal(table))
    assert unseal(tmp_path / "x", "restore it") == table


def test_every_changed_byte_is_noticed(tmp_path):
    data = seal({"step": 12, "more": [1, 2]})
    for at in range(len(data)):
        (tmp_path / "x").write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(FileError, match=r"damaged.*\nfix: restore it"):
            unseal(tmp_path / "x", "restore it")


NONSENSE = [b"[1", b"nonsense", b'{"a": ', b'{"a": ' + b"[" * 100_000 + b"]" * 100_000, b'{"n": ' + b"9" * 10_000, b"\xff"]


@pytest.mark.parametrize("body", NONSENSE, ids=lambda body: repr(body[:9]))
def test_nonsense_under_a_right_checksum_is_an_error_of_two_lines(tmp_path, body):
    body += sealed._MARK
    (tmp_path / "x").write_bytes(body + hashlib.sha256(body).hexdigest().encode() + sealed._END)
    with pytest.raises(FileError, match=r"x: damaged: not .*\nfix: restore it") as told:
        unseal(tmp_path / "x", "restore it")
    assert str(told.value).count("\n") == 1


@pytest.mark.parametrize("text", ["", "\n", " \n two", "one\ntwo"])
def test_a_parser_that_says_little_is_quoted_all_the_same(tmp_path, monkeypatch, text):
    def fail(data):
        raise ValueError(text)

    (tmp_path / "x").write_bytes(seal({}))
    monkeypatch.setattr(sealed.json, "loads", fail)
    with pytest.raises(FileError, match=r"x: damaged: not JSON \((ValueError|two|one)\)\nfix: restore it"):
        unseal(tmp_path / "x", "restore it")
    assert reason(ValueError(text)) == (text.split() or ["ValueError"])[0]
