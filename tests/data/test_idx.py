"""IDX files: every element type, and every damage by its name."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from badak.core.errors import FileError
from badak.data.idx import read_idx

CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def idx_bytes(array: np.ndarray) -> bytes:
    header = struct.pack(f">BBBB{array.ndim}I", 0, 0, CODES[array.dtype.str[1:]], array.ndim, *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


GOOD = idx_bytes(np.arange(24, dtype="u1").reshape(2, 3, 4))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3, 4)])
def test_every_type_is_read_packed_or_not(tmp_path, shape, kind, packed):
    array = (np.arange(int(np.prod(shape))) * 3).astype(kind).reshape(shape)
    file = tmp_path / ("x.gz" if packed else "x")
    file.write_bytes(gzip.compress(idx_bytes(array)) if packed else idx_bytes(array))
    read = read_idx(file)
    assert read.dtype == array.dtype and read.dtype.isnative and np.array_equal(read, array) and read.shape == shape


def test_gzip_is_seen_by_its_content(tmp_path):
    file = tmp_path / "without-suffix"
    file.write_bytes(gzip.compress(GOOD))
    assert read_idx(str(file)).shape == (2, 3, 4)


@pytest.mark.parametrize(
    "name, content, cause",
    [
        ("x", b"", "not an IDX file: expected magic number 00 00 TT NN; got nothing"),
        ("x", b"\0\0", "not an IDX file"),
        ("x", b"PK\3\4" + GOOD, "got 50 4b 03 04"),
        ("x", b"\0\0\x07\x01" + GOOD[4:], "unknown IDX element type 07"),
        ("x", GOOD[:9], "the header says 3 axes and ends after 1"),
        ("x", b"\0\0\x08\x03" + b"\xff" * 12, "the limit is"),
        ("x", b"\0\0\x08\xff" + b"\0\0\0\1" * 255 + b"a", "the limit is"),
        ("x", GOOD[:-1], r"truncated: sizes \(2, 3, 4\) need 24 bytes of values, 23 are there"),
        ("x", GOOD[:16], "truncated"),
        ("x", GOOD + b"a", "trailing bytes after the 24"),
        ("x.gz", GOOD, "is named .gz but is not gzip"),
        ("x.gz", b"", "is named .gz but is not gzip"),
        ("x.gz", gzip.compress(GOOD)[:-9], "gzip data is damaged"),
        ("x.gz", gzip.compress(GOOD)[:-8] + b"\0" * 8, "gzip data is damaged"),
        ("x.gz", b"\x1f\x8b" + b"\0" * 30, "gzip data is damaged"),
        ("x.gz", gzip.compress(GOOD + b"a"), "trailing bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_damage_is_named_with_the_file(tmp_path, name, content, cause):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(FileError, match=cause) as caught:
        read_idx(file)
    assert str(file) in caught.value.cause and caught.value.fix


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(FileError, match="nothing-here: no such file"):
        read_idx(tmp_path / "nothing-here")
    with pytest.raises(FileError, match="cannot be read"):
        read_idx(tmp_path)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 255), st.booleans())
def test_no_single_changed_byte_leads_to_anything_but_an_array_or_a_file_error(tmp_path_factory, at, byte, packed):
    content = bytearray(gzip.compress(GOOD, mtime=0) if packed else GOOD)
    content[at % len(content)] = byte
    file = tmp_path_factory.mktemp("idx") / "x"
    file.write_bytes(content)
    try:
        assert isinstance(read_idx(file), np.ndarray)
    except FileError as error:
        assert str(file) in error.cause
