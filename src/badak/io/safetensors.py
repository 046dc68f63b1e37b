"""Named tensors in one file, in the safetensors format, which the file's reader need not trust.

A file is 8 bytes (the header's length, little-endian), a JSON header, and the raw bytes of the tensors, each C-contiguous
and little-endian:

    {"__metadata__": {"any": "text"}, "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}

Reading checks every statement of the header before a byte of a tensor is used, then asks the `safetensors` wheel, the
format's own library, for its opinion too. Writing is done here: the wheel writes the metadata in a random order (two files
of the same tensors differ) and takes an array's memory as it lies (a transposed array is written wrongly, without an error).

Source: the format's description, https://github.com/huggingface/safetensors.
"""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import safetensors as library

from badak.core.errors import ArgumentError, DTypeError, FileError, tr
from badak.io.atomic import reading, write_file
from badak.io.errors import line, looks_like, reason, shown
from badak.tensor import Tensor
from badak.tensor.dtypes import ALL, check_device, of_numpy
from badak.tensor.dtypes import dtype as DType  # noqa: N812

HEADER_LIMIT = 100_000_000  # bytes, the library's own limit
MAX_DIMS = 64  # NumPy's

# In the order in which the library lays tensors out: the last first.
CODES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "F8_E5M2": "float8_e5m2",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E8M0": "float8_e8m0fnu",
    "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "C64": "complex64",
    "F64": "float64",
    "I64": "int64",
    "U64": "uint64",
}
_code_of = {name: code for code, name in CODES.items()}
_rank = {code: rank for rank, code in enumerate(CODES)}
_named = {one.name: one for one in ALL}
_OTHERS = {b"PK\x03\x04": "a zip archive, as PyTorch's .pt files are", b"\x80": "a pickle", b"\x93NUMPY": "a NumPy .npy file"}
TIED = "badak.tied"  # metadata: JSON {name left out: name under which its bytes are stored}


class Entry(NamedTuple):
    """What a header says of one tensor; start and stop count from the end of the header."""

    dtype: DType
    shape: tuple[int, ...]
    start: int
    stop: int


def save_file(tensors: Mapping[str, Any], filename: str | os.PathLike, metadata: Mapping[str, str] | None = None) -> None:
    """Write named tensors (Tensors or NumPy arrays) to `filename`: to a temporary name first, then renamed.

    Names that share the very same memory (tied weights) are stored once; the metadata says which name stands for which.
    The same tensors give the same bytes. Raises ArgumentError for names and metadata that are no strings, DTypeError for
    a dtype that the format does not have, FileError where the file cannot be written.
    """
    header, arrays = _plan(tensors, metadata)
    write_file(filename, lambda file: _write(file, header, arrays))


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """As `save_file`, into bytes."""
    file = BytesIO()
    write(file, tensors, metadata)
    return file.getvalue()


def write(file: BinaryIO, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """As `save_file`, into an open file."""
    _write(file, *_plan(tensors, metadata))


def load_file(filename: str | os.PathLike, device: Any = "cpu") -> dict[str, Tensor]:
    """Read every tensor of `filename`, by name; tied names give the same Tensor.

    Raises FileError, which names the file and what is wrong with it, for anything but a whole and truthful file.
    """
    check_device(device)
    with reading(filename) as file:
        size = os.fstat(file.fileno()).st_size
        found, _ = _read(file, size, lambda: library.safe_open(filename, framework="np"), filename)
    return found


def load(data: bytes, where: str = "safetensors data") -> dict[str, Tensor]:
    """As `load_file`, from bytes; `where` stands for the file's name in messages."""
    return load_with_metadata(data, where)[0]


def load_with_metadata(data: bytes, where: str = "safetensors data") -> tuple[dict[str, Tensor], dict[str, str]]:
    """As `load`, with the texts that the bytes carry next to the tensors."""
    return _read(BytesIO(data), len(data), lambda: library.deserialize(bytes(data)), where)


def read_metadata(filename: str | os.PathLike) -> dict[str, str]:
    """The texts that a file carries next to its tensors; nothing else is read. Raises FileError as `load_file` does."""
    with reading(filename) as file:
        header = _read_header(file, os.fstat(file.fileno()).st_size, filename)
    return header[1]


# writing


def _plan(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None) -> tuple[bytes, list[np.ndarray]]:
    """The header, padded to a multiple of 8 bytes, and the arrays in the order in which they follow it."""
    kept, ties = _untie({name: _array_of(name, value) for name, value in tensors.items()})
    texts = dict(metadata or {})
    if not all(isinstance(text, str) for pair in texts.items() for text in pair):
        cause = tr("save_file: expected metadata of strings; got {!r}", texts)
        raise ArgumentError(cause, "write numbers as str(n), structures as json.dumps(x)")
    if ties:
        texts[TIED] = json.dumps(ties, sort_keys=True)
    header: dict[str, Any] = {"__metadata__": dict(sorted(texts.items()))} if texts else {}
    order = sorted(kept, key=lambda name: (-_rank[_code_of[of_numpy(kept[name].dtype).name]], name))
    offset = 0
    for name in order:
        array = kept[name]
        code = _code_of[of_numpy(array.dtype).name]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    return text + b" " * (-len(text) % 8), [kept[name] for name in order]


def _array_of(name: str, value: Any) -> np.ndarray:
    array = value._array if isinstance(value, Tensor) else value
    if not isinstance(name, str) or name == "__metadata__":
        raise ArgumentError(tr("save_file: expected names that are strings, and not '__metadata__'; got {!r}", name), "rename it")
    if not isinstance(array, np.ndarray):
        cause = tr("save_file: expected tensors or NumPy arrays; '{}' is a {}", name, type(value).__name__)
        raise ArgumentError(cause, "save other values as JSON, or as metadata texts")
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    if of_numpy(array.dtype).name not in _code_of:
        cause = tr("save_file: '{}' is {}, which the safetensors format does not have", name, array.dtype)
        raise DTypeError(cause, "convert it, or store its real and imaginary parts")
    return array


def _untie(arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """The arrays without repetitions of the same memory, and {left-out name: kept name}."""
    kept: dict[str, np.ndarray] = {}
    ties: dict[str, str] = {}
    seen: dict[tuple, str] = {}
    for name, array in arrays.items():
        place = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype)
        if array.size and place in seen:
            ties[name] = seen[place]
        else:
            seen[place] = name
            kept[name] = array
    return kept, ties


def _write(file: BinaryIO, header: bytes, arrays: list[np.ndarray]) -> None:
    file.write(len(header).to_bytes(8, "little"))
    file.write(header)
    for array in arrays:
        # C order whatever the strides were; as uint8 because bfloat16 has no buffer of its own
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


# reading


def _read(file: BinaryIO, size: int, second: Callable[[], Any], where) -> tuple[dict[str, Tensor], dict[str, str]]:
    entries, metadata, base = _read_header(file, size, where)
    _second_opinion(second, where)
    found = {name: _read_tensor(file, entry, base, name, where) for name, entry in entries.items()}
    return _restore_ties(found, metadata, where), metadata


def _read_header(file: BinaryIO, size: int, where) -> tuple[dict[str, Entry], dict[str, str], int]:
    """The checked entries and metadata of a file of `size` bytes, and where its tensors begin."""
    first = file.read(8)
    length = int.from_bytes(first, "little")
    if len(first) < 8:
        raise _damaged(where, tr("it has {} bytes, fewer than the 8 that a safetensors file begins with", size))
    if length > HEADER_LIMIT or length > size - 8:
        limit = tr("the limit is {:,}", HEADER_LIMIT) if length > HEADER_LIMIT else tr("only {:,} bytes follow", size - 8)
        fix = tr("its first 8 bytes announce a header of {:,} bytes, but {}{}", length, limit, looks_like(first, _OTHERS))
        raise _damaged(where, fix)
    fields = _parse(file.read(length), where)
    metadata = fields.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise _damaged(where, tr("the header's __metadata__ is not a table of texts"))
    entries = {name: _entry(name, said, where) for name, said in fields.items()}
    _check_layout(entries, size - 8 - length, where)
    return entries, metadata, 8 + length


def _parse(text: bytes, where) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(pairs)
        if len(table) < len(pairs):
            twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
            raise _damaged(where, tr("the header names '{}' twice", line(twice)))
        return table

    try:
        fields = json.loads(text.decode(), object_pairs_hook=once)
    except FileError:
        raise
    except (ValueError, RecursionError) as error:
        raise _damaged(where, tr("the header is not JSON ({})", reason(error))) from error
    if not isinstance(fields, dict):
        raise _damaged(where, tr("the header is a JSON {}, not a table of tensors", type(fields).__name__))
    return fields


def _entry(name: str, said: Any, where) -> Entry:
    """One checked row of the header."""
    tensor = tr("tensor '{}'", line(name))
    if not isinstance(said, dict) or set(said) != {"dtype", "shape", "data_offsets"}:
        raise _damaged(where, tr("{}: expected dtype, shape and data_offsets; got {}", tensor, shown(said)))
    code, shape, offsets = said["dtype"], said["shape"], said["data_offsets"]
    if not isinstance(code, str) or code not in CODES:
        fix = tr("{} has dtype {}; badak reads {}", tensor, shown(code), ", ".join(CODES))
        raise _damaged(where, fix, tr("convert the file to one of these"))
    if not _counts(shape) or len(shape) > MAX_DIMS:
        raise _damaged(where, tr("{} has shape {}, not a list of at most {} sizes", tensor, shown(shape), MAX_DIMS))
    if not _counts(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _damaged(where, tr("{} has data_offsets {}, not [start, stop]", tensor, shown(offsets)))
    dtype = _named[CODES[code]]
    needed, held = math.prod(shape) * dtype.itemsize, offsets[1] - offsets[0]
    if needed != held:
        fix = tr("{}: {} of shape {} needs {:,} bytes, its data_offsets {} hold {:,}", tensor, code, shown(shape), needed, offsets,
                 held)  # fmt: skip
        raise _damaged(where, fix)
    return Entry(dtype, tuple(shape), offsets[0], offsets[1])


def _counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < 1 << 63 for value in values)


def _check_layout(entries: dict[str, Entry], available: int, where) -> None:
    """The tensors must cover the data exactly: no overlap, no gap, nothing after them."""
    end, before = 0, ""
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop)):
        if entry.stop > available:
            fix = tr("tensor '{}' ends at byte {:,} of the data, but there are {:,}: the file is cut short", line(name), entry.stop,
                     available)  # fmt: skip
            raise _damaged(where, fix)
        if entry.start < end:
            raise _damaged(where, tr("tensors '{}' and '{}' overlap", line(before), line(name)))
        if entry.start > end:
            raise _damaged(where, tr("{:,} bytes before tensor '{}' belong to no tensor", entry.start - end, line(name)))
        end, before = entry.stop, name
    if end != available:
        raise _damaged(where, tr("{:,} bytes at its end belong to no tensor", available - end))


def _second_opinion(ask, where) -> None:
    """What the format's own library objects to is damage too, whatever was found here."""
    try:
        ask()
    except library.SafetensorError as error:
        raise _damaged(where, reason(error)) from error


def _read_tensor(file: BinaryIO, entry: Entry, base: int, name: str, where) -> Tensor:
    tensor = tr("tensor '{}'", line(name))
    raw = np.empty(entry.stop - entry.start, np.uint8)
    file.seek(base + entry.start)
    if file.readinto(raw.data) != raw.nbytes:  # type: ignore[attr-defined]
        raise _damaged(where, tr("{} is cut short (the file changed while it was read)", tensor))
    if entry.dtype.name == "bool" and raw.size and raw.max() > 1:
        raise _damaged(where, tr("{} of truth values has other bytes than 0 and 1", tensor))
    try:
        return Tensor._of(raw.view(entry.dtype.numpy).reshape(entry.shape))
    except (ValueError, OverflowError) as error:
        raise _damaged(where, tr("{} has a shape that no array can have: {}", tensor, shown(entry.shape))) from error


def _restore_ties(found: dict[str, Tensor], metadata: dict[str, str], where) -> dict[str, Tensor]:
    if TIED in metadata:
        ties = _parse(metadata[TIED].encode(errors="surrogatepass"), where)
        for name, kept in ties.items():
            if name in found or not isinstance(kept, str) or kept not in found:
                raise _damaged(
                    where,
                    tr("the metadata ties '{}' to {}, ", line(name), shown(kept))
                    + ("which is stored too" if name in found else "which is not there"),
                )
        found.update({name: found[kept] for name, kept in ties.items()})
    return found


def _damaged(where, what: str, fix: str = "copy or download it again, or write it again with save_file") -> FileError:
    return FileError(tr("{}: damaged, or not a safetensors file: {}", where, what), fix)
