"""GGUF files, llama.cpp's: facts about a model and its tensors in one file, whose reader need not trust it.

    file = read_gguf("model.gguf")
    file.facts["general.architecture"]          "llama"
    file.tensors["token_embd.weight"]           Stored(kind="q4_0", shape=(32000, 2048), rows=uint8 (32000, 1152))

A file is a header, facts (name, type, value), a row for each tensor (name, sizes, type, where its bytes begin), and the bytes. All
is checked before anything of its size is made. The bytes are mapped: what is not used is not read, and nothing is copied.

Source: the description of the format in ggml. The package gguf is the judge in the tests; it trusts what it reads.
"""

import math
import os
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from badak.core.errors import ArgumentError, FileError, tr
from badak.io.atomic import as_path, open_file, reading, write_file
from badak.io.errors import line, shown
from badak.kernels.block_formats import FORMATS, READ

MAGIC, VERSIONS = b"GGUF", (2, 3)
ALIGNMENT, FACT = 32, "general.alignment"
MOST_SIZES = 4  # of a tensor
FLOATS = {"f32": (0, 4), "f16": (1, 2), "bf16": (30, 2)}  # kind: (number of the type, bytes)
KINDS = {number: (name, 1, width) for name, (number, width) in FLOATS.items()}  # number: (name, numbers of a block, its bytes)
KINDS |= {one.code: (one.name, one.size, one.width) for one in (*FORMATS.values(), *READ.values())}
OTHERS = {3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 10: "Q2_K", 11: "Q3_K", 13: "Q5_K", 20: "IQ4_NL", 23: "IQ4_XS"}
_NUMBERS = ("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?", "", "", "<Q", "<q", "<d")  # by the type of a fact
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
LEAST = {_STRING: 8, _ARRAY: 12} | {code: struct.calcsize(form) for code, form in enumerate(_NUMBERS) if form}


class Stored(NamedTuple):
    """One tensor: its kind ("f32", "bf16", "q4_0", ...), shape, and bytes (N, bytes of a row), N the product of all sizes but the
    last."""

    kind: str
    shape: tuple[int, ...]
    rows: np.ndarray


class GGUF(NamedTuple):
    """What a file holds: facts and tensors by their names."""

    facts: dict[str, Any]
    tensors: dict[str, Stored]


def is_gguf(path: str | os.PathLike) -> bool:
    """Whether this is a file that begins as GGUF files do."""
    place = as_path(path)
    if not place.is_file():
        return False
    with open_file(place) as file:
        return file.read(4) == MAGIC


def read_gguf(path: str | os.PathLike) -> GGUF:
    """Facts and tensors of a file, the latter as they lie in it.

    Raises FileError, which names the file and what is wrong with it. The file must not change while its tensors are used.
    """
    with reading(path) as file:
        size = os.fstat(file.fileno()).st_size
        data = np.memmap(file, np.uint8, "c") if size else np.empty(0, np.uint8)
    cursor = _Cursor(data, path)
    if cursor.take(4) != MAGIC:
        raise cursor.broken(tr("it begins with {!r}, a GGUF file with {!r}", bytes(data[:4]), MAGIC))
    version = cursor.number("<I")
    if version not in VERSIONS:
        turned = int.from_bytes(version.to_bytes(4, "little"), "big")
        what = tr("is written for big-endian CPUs") if turned in VERSIONS else tr("has version {}", version)
        raise FileError(tr("{}: {}; badak reads versions 2 and 3, little-endian", path, what), "convert it with llama.cpp")
    count, facts = cursor.count(tr("tensors"), 24), cursor.count(tr("facts"), 13)
    said = cursor.facts(facts)
    entries = [cursor.entry() for _ in range(count)]
    return GGUF(said, _tensors(cursor, entries, _alignment(said, cursor)))


class _Cursor:
    """Where the reader is in a file, and what it may take from there."""

    def __init__(self, data: np.ndarray, path: Any) -> None:
        self.data, self.path, self.at = data, path, 0

    def broken(self, what: str, fix: str = "copy or download it again") -> FileError:
        return FileError(tr("{}: damaged, or not a GGUF file: {}", self.path, what), fix)

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise self.broken(tr("{:,} bytes are to follow byte {:,}, and there are {:,}", size, self.at, len(self.data) - self.at))
        self.at += size
        return self.data[self.at - size : self.at].tobytes()

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def count(self, what: str, least: int) -> int:
        """How many `what` follow, each of which takes `least` bytes or more."""
        count = self.number("<Q")
        if count * least > len(self.data) - self.at:
            raise self.broken(tr("it announces {:,} {}, more than its {:,} bytes hold", count, what, len(self.data)))
        return count

    def text(self) -> str:
        raw = self.take(self.count(tr("letters of a text"), 1))
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.broken(tr("a text at byte {:,} is no UTF-8 ({})", self.at - len(raw), shown(raw))) from None

    def facts(self, count: int) -> dict[str, Any]:
        said: dict[str, Any] = {}
        for _ in range(count):
            name = self.text()
            if name in said:
                raise self.broken(tr("it says '{}' twice", line(name)))
            said[name] = self.value(self.number("<I"), name)
        return said

    def value(self, code: int, name: str) -> Any:
        if code == _STRING:
            return self.text()
        if code == _ARRAY:
            return self.array(name)
        if code not in LEAST:
            raise self.broken(tr("'{}' is of type {}, and there are 0 to {}", line(name), code, len(_NUMBERS) - 1))
        return self.number("<B") != 0 if code == _BOOL else self.number(_NUMBERS[code])

    def array(self, name: str) -> Any:
        code = self.number("<I")
        if code not in LEAST or code == _ARRAY:
            raise self.broken(tr("'{}' is a list of type {}", line(name), code))
        count = self.count(tr("values of '{}'", line(name)), LEAST[code])
        if code == _STRING:
            return [self.text() for _ in range(count)]
        return np.frombuffer(self.take(count * LEAST[code]), np.dtype("?" if code == _BOOL else _NUMBERS[code]))

    def entry(self) -> tuple[str, tuple[int, ...], int, int]:
        """(name, sizes as NumPy counts them, type, where its bytes begin) of a tensor."""
        name, count = self.text(), self.number("<I")
        if not 1 <= count <= MOST_SIZES:
            raise self.broken(tr("tensor '{}' has {} sizes, 1 to {} can be", line(name), count, MOST_SIZES))
        sizes = struct.unpack(f"<{count}Q", self.take(8 * count))
        return name, sizes[::-1], self.number("<I"), self.number("<Q")


def _alignment(said: Mapping[str, Any], cursor: _Cursor) -> int:
    alignment = said.get(FACT, ALIGNMENT)
    if type(alignment) is not int or not 1 <= alignment <= 1 << 20 or alignment & (alignment - 1):
        raise cursor.broken(tr("{} is {}, which is no power of two", FACT, shown(alignment)))
    return alignment


def _tensors(cursor: _Cursor, entries: list, alignment: int) -> dict[str, Stored]:
    """The checked tensors, each with its bytes."""
    start = -(-cursor.at // alignment) * alignment
    held, tensors, ends = max(len(cursor.data) - start, 0), {}, []
    for name, shape, code, offset in entries:
        tensor = tr("tensor '{}'", line(name))
        if name in tensors:
            raise cursor.broken(tr("{} is there twice", tensor))
        if code not in KINDS:
            known = ", ".join(kind.upper() for kind, _, _ in KINDS.values())
            cause = tr("{}: {} is of type {}; badak reads {}", cursor.path, tensor, OTHERS.get(code, code), known)
            raise FileError(cause, "a file of these types alone, which llama-quantize can make")
        kind, size, width = KINDS[code]
        if shape[-1] % size or 0 in shape:
            raise cursor.broken(tr("{} {} is not in blocks of {} numbers", tensor, shape, size))
        bytes_of_row, rows = shape[-1] // size * width, math.prod(shape[:-1])
        if offset % alignment or offset > held or rows * bytes_of_row > held - offset:
            cause = tr("{} {} of {} begins at byte {:,} of {:,} and does not fit there", tensor, shape, kind.upper(), offset, held)
            raise cursor.broken(cause)
        first = start + offset
        tensors[name] = Stored(kind, shape, cursor.data[first : first + rows * bytes_of_row].reshape(rows, bytes_of_row))
        ends.append((offset, offset + rows * bytes_of_row, name))
    ends.sort()
    for (_, end, before), (begin, _, name) in zip(ends, ends[1:]):
        if begin < end:
            raise cursor.broken(tr("tensors '{}' and '{}' overlap", line(before), line(name)))
    return tensors


# writing


def write_gguf(path: str | os.PathLike, facts: Mapping[str, Any], tensors: Mapping[str, Stored]) -> None:
    """Write a file of these facts (texts, integers, floats, truth values, and lists of them) and tensors, at once or not at all.

    Raises ArgumentError for a fact that the format has no type for, FileError where the file cannot be written.
    """
    head = bytearray(MAGIC + struct.pack("<IQQ", 3, len(tensors), len(facts)))
    for name, value in facts.items():
        head += _text(name) + _fact(name, value)
    offset, numbers = 0, {kind: code for code, (kind, _, _) in KINDS.items()}
    for name, (kind, shape, rows) in tensors.items():
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape[::-1], numbers[kind], offset)
        offset += -(-rows.nbytes // ALIGNMENT) * ALIGNMENT
    head += bytes(-len(head) % ALIGNMENT)

    def fill(file: BinaryIO) -> None:
        file.write(head)
        for _, _, rows in tensors.values():
            file.write(np.ascontiguousarray(rows).reshape(-1).view(np.uint8).data)
            file.write(bytes(-rows.nbytes % ALIGNMENT))

    write_file(path, fill)


def _text(text: str) -> bytes:
    raw = text.encode("utf-8", "surrogatepass")
    return struct.pack("<Q", len(raw)) + raw


def _fact(name: str, value: Any) -> bytes:
    """The type of a fact and its value."""
    if isinstance(value, list):
        code = _code_of(name, value[0]) if value else _INT32
        code = _INT32 if code == _UINT32 else code
        return struct.pack("<IIQ", _ARRAY, code, len(value)) + b"".join(_one(code, one) for one in value)
    code = _code_of(name, value)
    return struct.pack("<I", code) + _one(code, value)


def _one(code: int, value: Any) -> bytes:
    return _text(value) if code == _STRING else struct.pack(_NUMBERS[code], value)


def _code_of(name: str, value: Any) -> int:
    for kind, code in ((bool, _BOOL), (int, _UINT32), (float, _FLOAT32), (str, _STRING)):
        if isinstance(value, kind):
            return code
    raise ArgumentError(tr("write_gguf: {} is {}", name, shown(value)), "a text, a number, a truth value, or a list of them")
