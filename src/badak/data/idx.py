"""IDX files, the format of MNIST, gzipped or not: untrusted bytes in, one array out.

    2 bytes 0, 1 byte element type, 1 byte number of axes, 4 bytes big-endian per size, then the elements, big-endian

A header that promises more than the file has costs no memory, and a packed file may not grow without bound: what is read
is at most `at_most` bytes, and beyond 64 MB at most 300 bytes for each byte of the file (MNIST's pictures need 5).

Source: Y. LeCun, C. Cortes, C. Burges, "The MNIST database", section on file formats.
"""

import gzip
import math
import os
import zlib
from pathlib import Path
from typing import IO

import numpy as np

from badak.core.errors import FileError, tr
from badak.io.atomic import as_path, open_file, unreadable
from badak.io.errors import reason, shown

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_LARGEST = 1 << 30  # bytes: a header that promises more is damaged, or an attack
_FREE, _GROWTH = 1 << 26, 300  # bytes that any file may unpack to, and beyond these: bytes for each byte packed
_CHUNK = 1 << 20
_AGAIN = tr("download the file again")


def read_idx(path: str | os.PathLike, at_most: int = _LARGEST) -> np.ndarray:
    """The array that the file holds, in the machine's byte order; at_most: bytes of values, the limit.

    Raises FileError with the file and the damage: absent, not gzip though named so, broken gzip, wrong magic number, unknown
    element type, sizes beyond the limit, truncated, trailing bytes.
    """
    path = as_path(path)
    try:
        with open_file(path) as file:
            start = file.read(2)
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if start == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as unpacked:
                    return _parse(unpacked, path, min(at_most, max(_FREE, _GROWTH * size)))
            if path.suffix == ".gz":
                cause = tr("{}: is named .gz but is not gzip (it starts with {})", path, start.hex(" ") or "nothing")
                raise FileError(cause, _AGAIN)
            return _parse(file, path, at_most)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(tr("{}: the gzip data is damaged ({})", path, reason(error)), _AGAIN) from error
    except OSError as error:
        raise unreadable(path, error) from error


def _parse(file: IO[bytes] | gzip.GzipFile, path: Path, limit: int) -> np.ndarray:
    magic = file.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0":
        cause = tr("{}: not an IDX file: expected magic number 00 00 TT NN; got {}", path, magic.hex(" ") or "nothing")
        raise FileError(cause, _AGAIN)
    if magic[2] not in _TYPES:
        known = ", ".join(f"{code:02x}" for code in _TYPES)
        raise FileError(tr("{}: unknown IDX element type {:02x}; known are {}", path, magic[2], known), _AGAIN)
    dtype, axes = np.dtype(_TYPES[magic[2]]), magic[3]
    header = file.read(4 * axes)
    if len(header) < 4 * axes:
        raise FileError(tr("{}: truncated: the header says {} axes and ends after {}", path, axes, len(header) // 4), _AGAIN)
    shape = tuple(int(size) for size in np.frombuffer(header, ">u4"))
    expected = math.prod(shape) * dtype.itemsize
    if axes > 32 or math.prod(size or 1 for size in shape) * dtype.itemsize > limit:  # NumPy counts so too where a size is 0
        cause = tr("{}: the header says sizes {}, {} bytes; the limit is {:,}", path, shown(shape), shown(expected), limit)
        raise FileError(cause, _AGAIN)
    values = bytearray()
    while piece := file.read(min(_CHUNK, expected + 1 - len(values))):
        values += piece
    if len(values) < expected:
        cause = tr("{}: truncated: sizes {} need {:,} bytes of values, {:,} are there", path, shape, expected, len(values))
        raise FileError(cause, _AGAIN)
    if len(values) > expected:
        raise FileError(tr("{}: trailing bytes after the {:,} that sizes {} need", path, expected, shape), _AGAIN)
    array = np.frombuffer(values, dtype, math.prod(shape)).reshape(shape)
    return (array if array.dtype.isnative else array.byteswap(inplace=True)).view(dtype.newbyteorder("="))
