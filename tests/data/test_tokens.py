"""Folders of tokens: the numbers of the whole text however it was cut, read where they lie; and what is damaged."""

import gzip
import json
import re

import numpy as np
import pytest

from badak.cli import main
from badak.core.errors import ArgumentError, FileError
from badak.data import DataLoader, files
from badak.data.files import read_pieces, read_text, text_files
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenFile, TokenWindows, _measured, documents, write_tokens
from badak.io.sealed import seal, unseal
from tests.real_data import real_data


@pytest.fixture(scope="module")
def text():
    return read_text(real_data("tinyshakespeare"))[:60_000] + "\n\n  \r오늘은\n\n좋다.\n" * 50


@pytest.fixture(scope="module")
def tokenizer(text):
    return Tokenizer.train_bpe([text], 600)


@pytest.mark.parametrize("block", [50, 1000, 1 << 20])
def test_the_tokens_are_those_of_the_whole_text(text, tokenizer, tmp_path, monkeypatch, block):
    monkeypatch.setattr(files, "BLOCK", block)
    (tmp_path / "one.txt").write_bytes(text.encode())
    (tmp_path / "two.txt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfsecond\r\nfile"))
    told = []
    made = write_tokens(tmp_path / "out", documents(text_files([tmp_path])[0]), tokenizer, tell=lambda *now: told.append(now))
    whole = text.replace("\r", "\n")
    assert made[0].tolist() == [*tokenizer.encode(whole).tolist(), tokenizer.eos]
    assert made[-1].tolist() == [*tokenizer.encode("second\nfile").tolist(), tokenizer.eos]
    assert len(made) == 2 and told[-1] == (len(whole) + len("second\nfile"), len(made.ids) - 2) or told[-1][1] == len(made.ids)
    assert isinstance(made.ids, np.memmap) and made.ids.dtype == np.uint16
    assert made.tokenizer == tokenizer and made.about["documents"] == 2
    assert np.array_equal(np.load(tmp_path / "out" / "tokens.npy"), made.ids)  # a file like any other of NumPy


def test_each_line_may_be_a_document(tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("one\n\n two \nthree")
    made = write_tokens(tmp_path / "out", documents([tmp_path / "a.txt"], lines=True), tokenizer, end=5)
    assert [made.tokenizer.decode(one[:-1]) for one in made] == ["one", " two ", "three"]
    assert all(one[-1] == 5 for one in made)


def test_windows_are_read_where_the_tokens_lie(tokenizer, text, tmp_path):
    (tmp_path / "a.txt").write_text(text[:5000])
    made = write_tokens(tmp_path / "out", documents([tmp_path / "a.txt"]), tokenizer)
    windows = TokenWindows(made.ids, 16)
    ids, labels = windows[7]
    assert ids.tolist() == made.ids[7:23].tolist() and labels.tolist() == made.ids[8:24].tolist()
    batch = next(iter(DataLoader(windows, 4)))
    assert batch[0].shape == batch[1].shape == (4, 16) and str(batch[0].dtype) == "badak.int64"
    with pytest.raises(ArgumentError, match="TokenWindows: 3 tokens, a window needs 17\nfix: a longer text"):
        TokenWindows(made.ids[:3], 16)


def rewrite(name, change, told=False):
    """Change the bytes of a file; told: about.json knows of it, and has the right checksums."""

    def spoil(place):
        (place / name).write_bytes(change((place / name).read_bytes()))
        if told:
            tell(place, files={**about_of(place)["files"], name: _measured(place / name)})

    return spoil


def about_of(place):
    return unseal(place / "about.json", "")


def tell(place, **values):
    said = {name: value for name, value in {**about_of(place), **values}.items() if name != "sha256"}
    (place / "about.json").write_bytes(seal(said))


def last(number, kind):
    return lambda data: data[: -np.dtype(kind).itemsize] + np.array([number], kind).tobytes()


FAULTS = {
    "nothing said": (lambda place: (place / "about.json").unlink(), "no folder of tokens, or one that was not finished"),
    "not finished": (lambda place: tell(place, finished=False), "a folder of tokens that was not finished"),
    "cut": (rewrite("tokens.npy", lambda data: data[:-2]), "tokens.npy has 168 bytes instead of 170: it is not the file"),
    "one id changed": (
        rewrite("tokens.npy", last(5, "<u2")), "tokens.npy was changed: it is not the file that about.json knows",
    ),
    "one end changed": (rewrite("ends.npy", last(4, "<i8")), "ends.npy was changed"),
    "another tokenizer": (
        rewrite("tokenizer.json", lambda data: data.replace(b'"merges"', b'"Merges"')), "tokenizer.json was changed",
    ),
    "an edited about.json": (
        rewrite("about.json", lambda data: data.replace(b"600", b"601")), "damaged or edited: its SHA-256 differs",
    ),
    "no such file": (lambda place: (place / "ends.npy").unlink(), "ends.npy: no such file"),
    # under right checksums
    "an id beyond the vocabulary": (
        rewrite("tokens.npy", last(600, "<u2"), told=True), "token 600 in tokens.npy, tokenizer.json has 600",
    ),
    "a header that says object": (
        rewrite("tokens.npy", lambda data: data.replace(b"<u2", b"|O "), told=True), "tokens.npy does not begin",
    ),
    "a header without its end": (
        rewrite("ends.npy", lambda data: data.replace(b"}", b"("), told=True), "ends.npy does not begin as 1 ",
    ),
    "a header that is no text": (
        rewrite("ends.npy", lambda data: data[:20] + b"\xff" + data[21:], told=True), "ends.npy does not begin",
    ),
    "a short file": (rewrite("ends.npy", lambda data: data[:60], told=True), "ends.npy does not begin as 1 number of int64"),
    "other ends": (rewrite("ends.npy", last(5, "<i8"), told=True), "ends.npy does not divide the tokens"),
    "another vocabulary": (lambda place: tell(place, vocab_size=7), "tokenizer.json has 600 tokens, about.json speaks of 7"),
    "a huge count": (lambda place: tell(place, tokens=1 << 70), "about.json does not say how many tokens"),
    "no files": (lambda place: tell(place, files=[]), "about.json does not say how many tokens there are, or not which files"),
    "another form": (lambda place: tell(place, format=3), "about.json does not say 'badak tokens 2'"),
    "no JSON of ours": (lambda place: (place / "about.json").write_text('{"format": 3}'), "it does not end with its checksum"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_folder_is_refused_in_two_lines(fault, tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("zebra")
    write_tokens(tmp_path / "out", [["zebra" * 4]], tokenizer)
    spoil, cause = FAULTS[fault]
    spoil(tmp_path / "out")
    with pytest.raises(FileError, match=re.escape(cause)) as caught:
        TokenFile(tmp_path / "out")
    assert len(str(caught.value).splitlines()) == 2


OTHERS = {"a run": "config.json", "a tokenizer": "tokenizer.json", "tokens of another program": "tokens.npy", "notes": "about.json"}


@pytest.mark.parametrize("what", OTHERS)
def test_what_lies_in_a_folder_is_not_written_over(what, tmp_path, capsys):
    (tmp_path / "a.txt").write_text("to be or not to be\n" * 50)
    there = tmp_path / "out" / OTHERS[what]
    there.parent.mkdir()
    there.write_text("{}")
    assert main(["tokenize", str(tmp_path / "a.txt"), "-o", str(tmp_path / "out"), "--train", "bpe", "--vocab-size", "262"]) == 2
    said = capsys.readouterr().err
    assert f"{OTHERS[what]} of something else" in said and "fix: a folder of its own" in said and said.count("\n") == 2
    assert there.read_text() == "{}" and len(list(there.parent.iterdir())) == 1


def test_a_folder_of_tokens_is_written_anew(tmp_path, tokenizer):
    """Also one that was not finished; what an earlier process left is removed; who reads the old one goes on reading it."""
    old = write_tokens(tmp_path / "out", [["one"]], tokenizer)
    tell(tmp_path / "out", finished=False)
    (tmp_path / "out" / ".tokens.npy.1.partial").write_bytes(b"x")
    before = old.ids.tolist()
    new = write_tokens(tmp_path / "out", [["two", "three"]], tokenizer)
    assert new.ids.tolist() != before == old.ids.tolist()
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"about.json", "ends.npy", "tokenizer.json", "tokens.npy"}


def test_a_wrong_byte_is_named_wherever_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 10)
    for place in (0, 9, 10, 11, 37):
        good = ("한글" * 20).encode()
        place -= place % 3
        (tmp_path / "a.txt").write_bytes(good[:place] + b"\xff" + good[place:])
        with pytest.raises(FileError, match=f"a.txt: not UTF-8 text: byte {place} is 0xff\nfix: save it as UTF-8"):
            read_text(tmp_path / "a.txt")


@pytest.mark.slow
def test_a_damaged_or_swollen_gzip_file_is_refused(tmp_path):
    packed = gzip.compress(b"a text " * 1000)
    (tmp_path / "cut.gz").write_bytes(packed[:-9])
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(40_000_000)))
    with pytest.raises(FileError, match=r"cut.gz: a damaged gzip file \(.*\)\nfix: copy or download it again"):
        read_text(tmp_path / "cut.gz")
    with pytest.raises(FileError, match="bomb.gz: becomes more than 200 times as large when it is unpacked\nfix: gunzip"):
        for _ in read_pieces(tmp_path / "bomb.gz"):
            pass


def test_a_folder_is_read_in_order_and_without_a_text_refused(tmp_path):
    with pytest.raises(FileError, match="no file in it ends with .txt, .text, .md, or one of these and .gz\nfix: name the files"):
        text_files([tmp_path])
    (tmp_path / "b.md").write_text("two")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "c.txt").write_text("one ")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    found, left = text_files([tmp_path])
    assert [path.name for path in found] == ["c.txt", "b.md"] and left == 1
    assert read_text(tmp_path) == "one two"


def test_the_command(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("to be or not to be\n" * 50)
    (tmp_path / "skip.bin").write_text("")
    assert main(["tokenize", str(tmp_path), "-o", str(tmp_path / "out"), "--train", "bpe", "--vocab-size", "262"]) == 0
    said = capsys.readouterr().out
    assert "left out, since their names end in none of .txt, .text, .md (and .gz): 1 of 2" in said and "262 tokens of bpe" in said
    made = TokenFile(tmp_path / "out")
    assert made.tokenizer.decode(made[0][:-1]) == "to be or not to be\n" * 50
    again = ["tokenize", str(tmp_path / "a.txt"), "-o", str(tmp_path / "more"), "--tokenizer", str(tmp_path / "out")]
    assert main(again) == 0 and json.loads((tmp_path / "more" / "about.json").read_text())["tokens"] == len(made.ids)
    assert main(["tokenize", str(tmp_path), "-o", str(tmp_path / "x")]) == 2
    assert "error: say which tokenizer: --tokenizer or --train\nfix: --tokenizer gpt2" in capsys.readouterr().err
