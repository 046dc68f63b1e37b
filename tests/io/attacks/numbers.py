"""IDX files that lie, packed and plain."""

import gzip
import struct


def idx(kind: int, *sizes: int, data: bytes = b"") -> bytes:
    """A file of this element type and these sizes, whatever the data."""
    return bytes([0, 0, kind, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + data


GOOD = idx(8, 2, 3, data=bytes(6))
LAST = 2**32 - 1
LIES = {
    "nothing": (b"", "not an IDX file"),
    "another magic number": (b"\1\0" + GOOD[2:], "not an IDX file"),
    "unknown elements": (idx(7, 2, data=bytes(2)), "unknown IDX element type 07"),
    "fewer sizes than said": (GOOD[:7], "the header says 2 axes and ends after 0"),
    "gigabytes": (idx(8, LAST), "the limit is"),
    "all that numbers can say": (idx(14, *[LAST] * 255), "the limit is"),
    "nothing, many times": (idx(8, 0, LAST, LAST, LAST), "the limit is"),
    "too many axes": (idx(8, *[1] * 33, data=b"\0"), "the limit is"),
    "one byte too few": (GOOD[:-1], "truncated: sizes (2, 3) need 6 bytes of values, 5 are there"),
    "one byte too many": (GOOD + b"\0", "trailing bytes after the 6"),
    "a gigabyte that is not there": (idx(8, 1 << 30), "truncated"),
}
IDX = LIES


def bomb() -> bytes:
    return gzip.compress(bytes(80_000_000), mtime=0)  # 78 KB


IDX_GZIP = {
    **{name: (gzip.compress(data, mtime=0), says) for name, (data, says) in LIES.items() if name != "a gigabyte that is not there"},
    "not packed": (GOOD, "is named .gz but is not gzip"),
    "no end": (gzip.compress(GOOD, mtime=0)[:-9], "the gzip data is damaged"),
    "another checksum": (gzip.compress(GOOD, mtime=0)[:-8] + bytes(8), "the gzip data is damaged"),
    "packed twice": (gzip.compress(gzip.compress(GOOD)), "not an IDX file"),
    "zeros that fill the memory": (
        lambda: gzip.compress(idx(8, 80_000_000, data=bytes(80_000_000)), mtime=0),
        "the limit is 67,108,864",
    ),
    "zeros after the end": (lambda: gzip.compress(GOOD, mtime=0) + bomb(), "trailing bytes"),
    "a gigabyte that is not there": (gzip.compress(idx(8, 1 << 30), mtime=0), "the limit is 67,108,864"),
}
