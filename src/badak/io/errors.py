"""What goes wrong with files where PyTorch raises a class of its own: each complaint is of that class too."""

import pickle
from collections.abc import Iterable
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr

LETTERS, ITEMS, DEPTH = 60, 4, 2  # of a value in a message
PLAIN = (type(None), bool, float, complex)
BRACKETS: dict[type, tuple[str, str]] = {tuple: ("(", ")"), list: ("[", "]"), dict: ("{", "}"), set: ("{", "}")}


class AbsentFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class UnsafeFileError(FileError, pickle.UnpicklingError):
    """A file that asks for more than data: a class or function that badak does not take from a file."""


class UnseekableError(FileError, AttributeError):
    """Something that can be read, but only from its beginning to its end."""


class UnpicklableError(ArgumentError, pickle.PicklingError, AttributeError, TypeError):
    """A value that no file can hold: a lambda, a local class, an open file."""


def damaged(where: str, what: str, fix: str = "copy or download it again, or write it again with badak.save") -> FileError:
    """The complaint about a file that cannot be what badak.save or torch.save wrote."""
    return FileError(tr("{}: damaged, or not a file of torch.save: {}", where, what), fix)


FIRST_BYTES = {
    b"\x1f\x8b": "gzip data",
    b"\x89HDF": "an HDF5 file",
    b"version ": "a Git LFS pointer, not the file itself",
    b"<": "a web page",
}


def looks_like(first: bytes, others: dict[bytes, str]) -> str:
    """What else a file may be, from its first bytes: of FIRST_BYTES, and of what only one format is taken for."""
    return next((f"; it looks like {kind}" for magic, kind in (FIRST_BYTES | others).items() if first.startswith(magic)), "")


def shown(value: Any, depth: int = DEPTH) -> str:
    """A value of a file for a message: one short line, whatever its size. No code of its class runs, as repr would."""
    kind = type(value)
    if kind in (str, bytes):
        return repr(value[:LETTERS]) + "..." * (len(value) > LETTERS)
    if kind is int:
        return str(value) if value.bit_length() < 200 else f"a number of {value.bit_length():,} bits"
    if kind in PLAIN:
        return repr(value)
    if kind not in BRACKETS or not depth:
        return f"a {line(kind.__name__)}"
    left, right = BRACKETS[kind]
    more = ", ..." if len(value) > ITEMS else "," if kind is tuple and len(value) == 1 else ""
    return f"{left}{', '.join(_items(value, depth - 1))}{more}{right}"


def _items(value: Any, depth: int) -> Iterable[str]:
    for _, item in zip(range(ITEMS), value.items() if type(value) is dict else value):
        yield ": ".join(shown(one, depth) for one in item) if type(value) is dict else shown(item, depth)


def line(text: str, letters: int = LETTERS) -> str:
    """A name in a file for a message: short, on one line, printable."""
    plain = (letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[:letters])
    return "".join(plain) + "..." * (len(text) > letters)


def reason(error: BaseException) -> str:
    """What another library's error says, as part of a line."""
    return " ".join(line(part, 200) for part in str(error).strip().splitlines()[:1]) or type(error).__name__
