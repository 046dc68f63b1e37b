"""Texts larger than memory: tokenized once into a file of numbers, which training reads where it lies.

    write_tokens("corpus", documents(["books/", "news.txt.gz"]), tokenizer)
    tokens = TokenFile("corpus")
    tokens.ids[1000:1010]                            only these are read from the disk
    len(TokenWindows(tokens.ids, context=128))

A folder of tokens holds `tokens.npy` (uint16, or uint32 for more than 65,536 tokens), `ends.npy` (where each document ends),
`tokenizer.json` and `about.json`, which is written last: without it the folder is not finished.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from badak.data import given
from badak.data.dataset import Dataset
from badak.data.files import read_pieces
from badak.data.tokenizer import Tokenizer
from badak.errors import ArgumentError, FileError, KindError, RangeError
from badak.io.atomic import as_path, unreadable, write_file
from badak.io.config import read_json
from badak.io.errors import shown
from badak.naming import guard_names as _guard_names
from badak.naming import guard_types as _guard_types
from badak.tensor import Tensor, from_numpy

FORMAT = "badak tokens 1"
IDS, ENDS, ABOUT = "tokens.npy", "ends.npy", "about.json"
TOGETHER = 64  # pieces of text that the cores share
HEADER = 128  # bytes before the numbers in a .npy file that grows


def documents(files: Iterable[str | os.PathLike], lines: bool = False) -> Iterator[Iterator[str]]:
    """Each file as one document, in pieces; with `lines` each line that is not empty as one."""
    for file in given.several("documents", files, "a list of files", "documents(['books/one.txt'])"):
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
    if not isinstance(tokenizer, Tokenizer):
        raise KindError(f"write_tokens: expected a Tokenizer; got {type(tokenizer).__name__}", "Tokenizer.load('tokenizer.json')")
    end = tokenizer.eos if end is None else given.whole("write_tokens", "end", end, least=0)
    if end is not None and end >= len(tokenizer):
        raise RangeError(f"write_tokens: end={end} is outside of the {len(tokenizer)} tokens", "the number of a mark")
    kind = np.dtype(np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32)
    ends, count, characters = [], 0, 0
    try:
        place.mkdir(parents=True, exist_ok=True)
        (place / ABOUT).unlink(missing_ok=True)
        with open(place / IDS, "wb") as file:
            file.write(_header(kind, 0))
            marked = ((piece, last) for text in _documents(texts) for piece, last in _with_last(text))
            while batch := list(islice(marked, TOGETHER)):
                for ids, (piece, last) in zip(tokenizer.encode_all([piece for piece, _ in batch]), batch):
                    file.write(ids.astype(kind).tobytes())
                    count, characters = count + len(ids), characters + len(piece)
                    if last:
                        if end is not None:
                            file.write(np.array([end], kind).tobytes())
                            count += 1
                        ends.append(count)
                tell(characters, count)
            file.seek(0)
            file.write(_header(kind, count))
        np.save(place / ENDS, np.array(ends, np.int64))
        tokenizer.save(place)
    except OSError as error:
        raise FileError(f"{place}: cannot be written ({error.strerror})", "another folder, or more room on the disk") from error
    about = {"format": FORMAT, "tokens": count, "documents": len(ends), "characters": characters, "vocab_size": len(tokenizer)}
    text = json.dumps(about, indent=2) + "\n"
    write_file(place / ABOUT, lambda file: file.write(text.encode()) and None)
    return TokenFile(place)


def _documents(texts: Any) -> Iterator[Iterable[str]]:
    """Each document, which must be one in pieces: a text alone would be cut into its characters."""
    example = "[['the first document'], ['the second']], or documents(files)"
    for pieces in given.several("write_tokens", texts, "documents", example):
        yield given.several("write_tokens", pieces, "each document as a list of pieces", example)


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

    Raises FileError for a folder that is not finished, or whose files do not belong together.
    """

    def __init__(self, folder: str | os.PathLike):
        self.folder = as_path(folder)
        if not (self.folder / ABOUT).is_file():
            raise FileError(f"{folder}: no folder of tokens, or one that was not finished", "badak tokenize TEXT -o FOLDER")
        self.about = read_json(self.folder / ABOUT)
        if not isinstance(self.about, dict) or self.about.get("format") != FORMAT:
            raise self._broken(f"{ABOUT} does not say {FORMAT!r}")
        self.tokenizer = Tokenizer.load(self.folder)
        self.ids, self.ends = self._array(IDS, "r"), self._array(ENDS, None)
        counts = (self.about.get("tokens"), self.about.get("documents"), self.about.get("vocab_size"))
        found = (len(self.ids), len(self.ends), len(self.tokenizer))
        if counts != found or self.ids.dtype.kind != "u" or self.ends.dtype != np.int64:
            raise self._broken(f"{ABOUT} says {shown(counts)} tokens, documents and vocabulary, the files hold {found}")
        whole = np.concatenate([[0], self.ends])
        if (np.diff(whole) < 0).any() or whole[-1] != len(self.ids):
            raise self._broken(f"{ENDS} does not divide the tokens")

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> np.ndarray:
        """The tokens of one document."""
        number = given.place("TokenFile", "document", number, len(self))
        return self.ids[self.ends[number - 1] if number else 0 : self.ends[number]]

    def _array(self, name: str, mode: Any) -> np.ndarray:
        try:
            found = np.load(self.folder / name, mmap_mode=mode, allow_pickle=False)
        except OSError as error:
            raise unreadable(self.folder / name, error) from error
        except (ValueError, EOFError) as error:
            raise self._broken(f"{name}: {error}") from error
        if found.ndim != 1:
            raise self._broken(f"{name} has {found.ndim} axes")
        return found

    def _broken(self, what: str) -> FileError:
        return FileError(f"{self.folder}: {what}", "write the folder anew with badak tokenize")


class TokenWindows(Dataset):
    """Window i of N tokens: tokens i .. i+T-1, and as labels the same ones moved on by one; both int64 (T,).

    ids: an array in memory or on the disk. Raises ArgumentError for a text shorter than one window.
    """

    def __init__(self, ids: np.ndarray, context: int):
        given.array_of_tokens("TokenWindows", ids)
        given.whole("TokenWindows", "context", context)
        if len(ids) <= context:
            raise ArgumentError(
                f"TokenWindows: {len(ids)} tokens, a window needs {context + 1}", "a longer text, or a smaller context"
            )
        self.ids, self.context = ids, context

    def __len__(self) -> int:
        return len(self.ids) - self.context

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        ids, labels = self.gather([given.place("TokenWindows", "window", index, len(self))])
        return ids[0], labels[0]

    def gather(self, starts: list[int]) -> tuple[Tensor, Tensor]:
        """A batch: ids and labels, each (B, T)."""
        first = np.asarray(starts, np.int64)
        if first.size and not 0 <= first.min() <= first.max() < len(self):
            raise RangeError(f"TokenWindows: windows {first.min()}..{first.max()} of {len(self)}", f"numbers in 0..{len(self) - 1}")
        block = self.ids[first[:, None] + np.arange(self.context + 1)].astype(np.int64)  # (B, T + 1)
        return from_numpy(np.ascontiguousarray(block[:, :-1])), from_numpy(np.ascontiguousarray(block[:, 1:]))


_guard_names(globals(), __name__)
_guard_types(globals(), __name__)
