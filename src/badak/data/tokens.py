"""Texts larger than memory: tokenized once into a file of numbers, which training reads where it lies.

    write_tokens("corpus", documents(["books/", "news.txt.gz"]), tokenizer)
    tokens = TokenFile("corpus")
    tokens.ids[1000:1010]                            only these are read from the disk
    len(TokenWindows(tokens.ids, context=128))

A folder of tokens holds `tokens.npy` (uint16, or uint32 for more than 65,536 tokens), `ends.npy` (where each document ends),
`tokenizer.json` and `about.json`, which has size and SHA-256 of the three, and its own. It says from the beginning that the folder
is one of tokens, and only at the end that it is finished.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from badak.core.errors import ArgumentError, BadakError, FileError, IndexOutOfRangeError, expect_kind, tr
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import guard_types as _guard_types
from badak.data import validation
from badak.data.dataset import Dataset
from badak.data.files import read_pieces
from badak.data.tokenizer import FILE, Tokenizer
from badak.io.atomic import as_path, make_folder, new_file, open_file, read_small, reading, remove_leftovers, write_file
from badak.io.config import parse_json
from badak.io.errors import shown
from badak.io.sealed import seal, unseal
from badak.tensor import Tensor, from_numpy

FORMAT = "badak tokens 2"
IDS, ENDS, ABOUT = "tokens.npy", "ends.npy", "about.json"
ANEW = tr("write the tokens again with badak tokenize, into a new folder")
BLOCK = 1 << 22  # numbers that are looked at together
TOGETHER = 64  # pieces of text that the cores share
HEADER = 128  # bytes before the numbers in a .npy file that grows


def documents(files: Iterable[str | os.PathLike], lines: bool = False) -> Iterator[Iterator[str]]:
    """Each file as one document, in pieces; with `lines` each line that is not empty as one."""
    for file in validation.several("documents", files, tr("a list of files"), "documents(['books/one.txt'])"):
        if lines:
            yield from (iter((line,)) for line in _lines(file) if line.strip())
        else:
            yield cut_at_lines(read_pieces(file))


def _lines(file: str | os.PathLike) -> Iterator[str]:
    rest = ""
    for piece in read_pieces(file):
        *whole, rest = (rest + piece).split("\n")
        yield from whole
    if rest:
        yield rest


def cut_at_lines(pieces: Iterable[str]) -> Iterator[str]:
    """The same text in pieces that end after a letter or digit before a line's end: there every tokenizer cuts, too."""
    rest = ""
    for piece in pieces:
        rest += piece
        end = rest.rfind("\n")
        while end > 0 and not rest[end - 1].isalnum():
            end = rest.rfind("\n", 0, end)
        if end > 0:
            yield rest[:end]
            rest = rest[end:]
    if rest:
        yield rest


def write_tokens(
    folder: str | os.PathLike,
    texts: Iterable[Iterable[str]],
    tokenizer: Tokenizer,
    end: int | None = None,
    tell: Callable[[int, int], None] = lambda characters, tokens: None,
) -> "TokenFile":
    """Tokenize documents, each given in pieces, into a new folder. Memory is that of a few pieces, whatever the size of the texts.

    end: the token after each document, the tokenizer's own unless told. tell(characters, tokens) is called as it goes on.
    """
    place = as_path(folder)
    expect_kind(tokenizer, Tokenizer, "write_tokens: expected a Tokenizer; got {}", "Tokenizer.load('tokenizer.json')")
    end = tokenizer.eos if end is None else validation.whole("write_tokens", "end", end, least=0)
    if end is not None and end >= len(tokenizer):
        cause = tr("write_tokens: end={} is outside of the {} tokens", end, len(tokenizer))
        raise IndexOutOfRangeError(cause, "the number of a mark")
    expect_free(place)
    remove_leftovers(make_folder(place))
    _tell_about(place, {"finished": False})
    kind = np.dtype(np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32)
    with new_file(place / IDS) as file:
        ends, count, characters = _write_ids(file, texts, tokenizer, end, kind, tell)
    write_file(place / ENDS, lambda file: file.write(_header(np.dtype(np.int64), len(ends)) + np.array(ends, "<i8").tobytes()))
    tokenizer.save(place)
    _tell_about(
        place,
        {
            "finished": True, "tokens": count, "documents": len(ends), "characters": characters, "vocab_size": len(tokenizer),
            "files": {name: _measured(place / name) for name in (IDS, ENDS, FILE)},
        },
    )  # fmt: skip
    return TokenFile(place)


def _write_ids(
    file: BinaryIO, texts: Any, tokenizer: Tokenizer, end: int | None, kind: np.dtype, tell: Callable[[int, int], None]
) -> tuple[list[int], int, int]:
    """Write the numbers of all documents, and before them what a .npy file says; (ends of the documents, tokens, characters)."""
    ends, count, characters = [], 0, 0
    file.write(_header(kind, 0))
    marked = ((piece, last) for text in _documents(texts) for piece, last in _with_last(text))
    while batch := list(islice(marked, TOGETHER)):
        for ids, (piece, last) in zip(tokenizer.encode_all([piece for piece, _ in batch]), batch):
            file.write(ids.astype(kind.newbyteorder("<")).tobytes())
            count, characters = count + len(ids), characters + len(piece)
            if last:
                if end is not None:
                    file.write(np.array([end], kind.newbyteorder("<")).tobytes())
                    count += 1
                ends.append(count)
        tell(characters, count)
    file.seek(0)
    file.write(_header(kind, count))
    return ends, count, characters


def expect_free(place: Path) -> None:
    """Refuse a folder in which something else lies under the names that tokens take: a run's tokenizer, a model's."""
    if (place / ABOUT).is_file():
        try:
            said = unseal(place / ABOUT, ANEW).get("format")
        except BadakError:
            said = None
        if said == FORMAT:
            return
    there = [name for name in (ABOUT, FILE, IDS, ENDS, "config.json") if os.path.lexists(place / name)]
    if there:
        cause = tr("{}: {} of something else would be in one folder with tokens, or written over", place, " and ".join(there))
        raise ArgumentError(cause, "a folder of its own for the tokens, such as tokens/")


def _tell_about(place: Path, said: dict[str, Any]) -> None:
    text = seal({"format": FORMAT, **said})
    write_file(place / ABOUT, lambda file: file.write(text))


def _measured(path: Path, expected: int | None = None) -> dict[str, Any]:
    """Size and SHA-256 of a file; its SHA-256 is "" where it has another size than is expected, however large it says to be."""
    with reading(path) as file:
        size = os.fstat(file.fileno()).st_size
        digest = hashlib.file_digest(file, "sha256").hexdigest() if expected in (None, size) else ""
    return {"sha256": digest, "bytes": size}


def _documents(texts: Any) -> Iterator[Iterable[str]]:
    """Each document, which must be one in pieces: a text alone would be cut into its characters."""
    example = tr("[['the first document'], ['the second']], or documents(files)")
    for pieces in validation.several("write_tokens", texts, "documents", example):
        yield validation.several("write_tokens", pieces, tr("each document as a list of pieces"), example)


def _with_last(pieces: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each piece, and whether it is the last one."""
    before = None
    for piece in pieces:
        if before is not None:
            yield before, False
        before = piece
    if before is not None:
        yield before, True


def _header(kind: np.dtype, count: int) -> bytes:
    """What stands before the numbers of a .npy file, in as many bytes for any count."""
    said = f"{{'descr': '{kind.newbyteorder('<').str}', 'fortran_order': False, 'shape': ({count},), }}"
    return b"\x93NUMPY\x01\x00" + (HEADER - 10).to_bytes(2, "little") + said.ljust(HEADER - 11).encode() + b"\n"


class TokenFile:
    """A folder of tokens: `ids` (N,), read where they lie; `ends`, where each document ends; `tokenizer`; `about`.

    Raises FileError for a folder that is not finished, or of which a byte is another one than was written: each file is read once
    for that, a few seconds for a billion tokens.
    """

    def __init__(self, folder: str | os.PathLike) -> None:
        self.folder = as_path(folder)
        if not (self.folder / ABOUT).is_file():
            raise FileError(tr("{}: no folder of tokens, or one that was not finished", folder), "badak tokenize TEXT -o FOLDER")
        self.about = self._read_about()
        self.tokenizer = Tokenizer.from_dict(parse_json(self._whole(FILE), self.folder / FILE), self.folder / FILE)
        size = len(self.tokenizer)
        kind = np.dtype(np.uint16 if size <= 1 << 16 else np.uint32)
        self.ids = self._array(IDS, kind, self.about["tokens"])
        self.ends = self._array(ENDS, np.dtype(np.int64), self.about["documents"])
        whole = np.concatenate([[0], self.ends])
        if (np.diff(whole) < 0).any() or whole[-1] != len(self.ids):
            raise self._broken(tr("{} does not divide the tokens", ENDS))
        most = max((int(self.ids[at : at + BLOCK].max()) for at in range(0, len(self.ids), BLOCK)), default=0)
        if size != self.about["vocab_size"] or most >= max(size, 1):
            cause = tr("token {} in {}, {} has {} tokens, {} speaks of {}", most, IDS, FILE, size, ABOUT, self.about["vocab_size"])
            raise self._broken(cause)

    def _read_about(self) -> dict[str, Any]:
        """about.json, of which every entry is one that can be."""
        said = unseal(self.folder / ABOUT, ANEW)
        if said.get("format") != FORMAT:
            raise self._broken(tr("{} does not say {!r}", ABOUT, FORMAT))
        if said.get("finished") is not True:
            raise FileError(tr("{}: a folder of tokens that was not finished", self.folder), ANEW)
        files, counts = said.get("files"), [said.get(name) for name in ("tokens", "documents", "characters", "vocab_size")]
        kinds = {"sha256": str, "bytes": int}
        if (
            not all(type(one) is int and 0 <= one < 1 << 62 for one in counts)
            or not isinstance(files, dict)
            or set(files) != {IDS, ENDS, FILE}
            or any(not isinstance(one, dict) or {k: type(v) for k, v in one.items()} != kinds for one in files.values())
        ):
            raise self._broken(tr("{} does not say how many tokens there are, or not which files: {}", ABOUT, shown(said)))
        return said

    def _expect_same(self, name: str, found: dict[str, Any]) -> None:
        said = self.about["files"][name]
        if found != said:
            longer = found["bytes"] != said["bytes"]
            what = tr("has {:,} bytes instead of {:,}", found["bytes"], said["bytes"]) if longer else tr("was changed")
            raise self._broken(tr("{} {}: it is not the file that {} knows by its SHA-256", name, what, ABOUT))

    def _whole(self, name: str) -> bytes:
        """The bytes of a small file, as they were written."""
        data = read_small(self.folder / name)
        self._expect_same(name, {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)})
        return data

    def _array(self, name: str, kind: np.dtype, count: int) -> np.ndarray:
        """The numbers in a .npy file of ours, where they lie."""
        path, kind = self.folder / name, kind.newbyteorder("<")
        self._expect_same(name, _measured(path, self.about["files"][name]["bytes"]))
        with open_file(path) as file:
            begin = file.read(HEADER)
        if begin != _header(kind, count) or self.about["files"][name]["bytes"] != HEADER + count * kind.itemsize:
            raise self._broken(tr("{} does not begin as {:,} numbers of {} do", name, count, kind.name))
        return np.memmap(path, kind, "r", HEADER, (count,)) if count else np.zeros(0, kind)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> np.ndarray:
        """The tokens of one document."""
        number = validation.place("TokenFile", "document", number, len(self))
        return self.ids[self.ends[number - 1] if number else 0 : self.ends[number]]

    def _broken(self, what: str) -> FileError:
        return FileError(tr("{}: {}", self.folder, what), ANEW)


class TokenWindows(Dataset):
    """Window i of N tokens: tokens i .. i+T-1, and as labels the same ones moved on by one; both int64 (T,).

    ids: an array in memory or on the disk. Raises ArgumentError for a text shorter than one window.
    """

    def __init__(self, ids: np.ndarray, context: int) -> None:
        validation.array_of_tokens("TokenWindows", ids)
        validation.whole("TokenWindows", "context", context)
        if len(ids) <= context:
            cause = tr("TokenWindows: {} tokens, a window needs {}", len(ids), context + 1)
            raise ArgumentError(cause, "a longer text, or a smaller context")
        self.ids, self.context = ids, context

    def __len__(self) -> int:
        return len(self.ids) - self.context

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        ids, labels = self.gather([validation.place("TokenWindows", "window", index, len(self))])
        return ids[0], labels[0]

    def gather(self, starts: list[int]) -> tuple[Tensor, Tensor]:
        """A batch: ids and labels, each (B, T)."""
        first = np.asarray(starts, np.int64)
        if first.size and not 0 <= first.min() <= first.max() < len(self):
            cause = tr("TokenWindows: windows {}..{} of {}", first.min(), first.max(), len(self))
            raise IndexOutOfRangeError(cause, tr("numbers in 0..{}", len(self) - 1))
        block = self.ids[first[:, None] + np.arange(self.context + 1)].astype(np.int64)  # (B, T + 1)
        return from_numpy(np.ascontiguousarray(block[:, :-1])), from_numpy(np.ascontiguousarray(block[:, 1:]))


_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
