"""Folders of tokens: the numbers of the whole text however it was cut, read where they lie; and what is damaged."""

import gzip
import json

import numpy as np
import pytest

from badak.cli import main
from badak.data import DataLoader, files
from badak.data.files import read_pieces, read_text, text_files
from badak.data.tokenizer import Tokenizer
from badak.data.tokens import TokenFile, TokenWindows, documents, write_tokens
from badak.errors import ArgumentError, FileError
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


FAULTS = {
    "not finished": (lambda place: (place / "about.json").unlink(), "no folder of tokens, or one that was not finished"),
    "cut": (lambda place: (place / "tokens.npy").write_bytes((place / "tokens.npy").read_bytes()[:-2]), "tokens.npy"),
    "a forged header": (
        lambda place: (place / "tokens.npy").write_bytes((place / "tokens.npy").read_bytes().replace(b"<u2", b"|O ")), "tokens.npy",
    ),
    "other ends": (lambda place: np.save(place / "ends.npy", np.array([5])), "ends.npy does not divide the tokens"),
    "more documents": (lambda place: np.save(place / "ends.npy", np.array([5, 6])), "about.json says .* the files hold"),
    "another form": (lambda place: (place / "about.json").write_text('{"format": 3}'), "about.json does not say 'badak tokens 1'"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_damaged_folder_is_refused_in_two_lines(fault, tokenizer, tmp_path):
    (tmp_path / "a.txt").write_text("some text")
    write_tokens(tmp_path / "out", documents([tmp_path / "a.txt"]), tokenizer)
    spoil, cause = FAULTS[fault]
    spoil(tmp_path / "out")
    with pytest.raises(FileError, match=cause) as caught:
        TokenFile(tmp_path / "out")
    assert len(str(caught.value).splitlines()) == 2


def test_a_wrong_byte_is_named_wherever_it_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK", 10)
    for place in (0, 9, 10, 11, 37):
        good = ("한글" * 20).encode()
        place -= place % 3
        (tmp_path / "a.txt").write_bytes(good[:place] + b"\xff" + good[place:])
        with pytest.raises(FileError, match=f"a.txt: not UTF-8 text: byte {place} is 0xff\nfix: save it as UTF-8"):
            read_text(tmp_path / "a.txt")


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
    assert main(["tokenize", str(tmp_path), "-o", str(tmp_path / "out"), "--train", "bpe", "--size", "262"]) == 0
    said = capsys.readouterr().out
    assert "left out, since their names end in none of .txt, .text, .md (and .gz): 1 of 2" in said and "262 tokens of bpe" in said
    made = TokenFile(tmp_path / "out")
    assert made.tokenizer.decode(made[0][:-1]) == "to be or not to be\n" * 50
    again = ["tokenize", str(tmp_path / "a.txt"), "-o", str(tmp_path / "more"), "--tokenizer", str(tmp_path / "out")]
    assert main(again) == 0 and json.loads((tmp_path / "more" / "about.json").read_text())["tokens"] == len(made.ids)
    assert main(["tokenize", str(tmp_path), "-o", str(tmp_path / "x")]) == 2
    assert "error: say which tokenizer: --tokenizer or --train\nfix: --tokenizer gpt2" in capsys.readouterr().err
