"""Zip archives that lie, built field by field."""

import struct
import zlib
from typing import NamedTuple

from tests.io.attacks.pickles import archive, whole

NOTHING = whole(b"N")


class Record(NamedTuple):
    """One record; what is None is as it should be."""

    name: bytes
    data: bytes
    local_name: bytes | None = None
    size: int | None = None  # in the table
    packed: int | None = None
    crc: int | None = None
    offset: int | None = None
    flags: int = 0
    method: int = 0
    extra: bytes = b""


def built(*records: Record, size: int | None = None, start: int | None = None, comment: bytes = b"") -> bytes:
    """An archive of these records; size and start of the table can lie."""
    body, table = b"", b""
    for one in records:
        crc = zlib.crc32(one.data) if one.crc is None else one.crc
        name = one.name if one.local_name is None else one.local_name
        offset = len(body) if one.offset is None else one.offset
        length = len(one.data) if one.size is None else one.size
        packed = length if one.packed is None else one.packed
        body += struct.pack(
            "<4s5H3I2H", b"PK\x03\x04", 20, one.flags, one.method, 0, 0, crc, len(one.data), len(one.data), len(name), 0
        )
        body += name + one.data
        table += (
            struct.pack(
                "<4s6H3I5H2I",
                b"PK\x01\x02",
                20,
                20,
                one.flags,
                one.method,
                0,
                0,
                crc,
                packed,
                length,
                len(one.name),
                len(one.extra),
                0,
                0,
                0,
                0,
                offset,
            )
            + one.name
            + one.extra
        )
    end = struct.pack(
        "<4s4H2IH",
        b"PK\x05\x06",
        0,
        0,
        len(records),
        len(records),
        len(table) if size is None else size,
        len(body) if start is None else start,
        len(comment),
    )
    return body + table + end + comment


def one(**said) -> bytes:
    """An archive of one pickle about whose record something is said."""
    return built(Record(b"a/data.pkl", NOTHING, **said))


CUT = "cannot be read; failed finding central directory"
ZIPS = {
    "a record of another name where it lies": (one(local_name=b"a/data.txt"), "has another name where it lies"),
    "a name beyond the file": (one(local_name=b"a" * 10), "has another name"),
    "more bytes than there are": (one(size=1 << 30), "ends after the file does"),
    "two sizes": (one(size=5, packed=4), "is compressed"),
    "a method that there is not": (one(method=77), "is compressed"),
    "an encrypted record": (one(flags=1), "is encrypted"),
    "an offset beyond the file": (one(offset=1 << 30), "lies outside the file"),
    "an offset into the table": (one(offset=50), "is not where the archive says"),
    "another checksum": (one(crc=5), "(their CRC differs)"),
    "a table that is not there": (
        built(Record(b"a/data.pkl", NOTHING), start=1 << 30),
        "shares bytes with another one",
    ),
    "a table of another length": (built(Record(b"a/data.pkl", NOTHING), size=1 << 30), CUT),
    "a field of sizes that is empty": (one(size=0xFFFFFFFF, packed=0xFFFFFFFF, extra=b"\x01\x00\x00\x00"), CUT),
    "a field of sizes that is cut": (one(size=0xFFFFFFFF, packed=0xFFFFFFFF, extra=b"\x01\x00\x08\x00\x01"), CUT),
    "sizes of 64 bits": (
        one(size=0xFFFFFFFF, packed=0xFFFFFFFF, extra=b"\x01\x00\x10\x00" + b"\xff" * 16),
        "ends after the file does",
    ),
    "a name above": (built(Record(b"a/data.pkl", NOTHING), Record(b"../a", b"x")), "is named outside the archive"),
    "a name above, in Windows": (
        built(Record(b"a/data.pkl", NOTHING), Record(b"..\\a", b"x")),
        "is named outside the archive",
    ),
    "an absolute name": (
        built(Record(b"a/data.pkl", NOTHING), Record(b"/etc/passwd", b"x")),
        "is named outside the archive",
    ),
    "a name of several lines": (built(Record(b"a\n\n/b/data.pkl", NOTHING)), "has 0 records"),
    "two pickles": (
        built(Record(b"a/data.pkl", NOTHING), Record(b"b/data.pkl", NOTHING)),
        "has 2 records 'NAME/data.pkl'",
    ),
    "a name twice": (built(Record(b"a/data.pkl", NOTHING), Record(b"a/data.pkl", NOTHING)), "names a record twice"),
    "two names for one record": (
        built(Record(b"a/data.pkl", NOTHING), Record(b"a/data.pk2", NOTHING, offset=0)),
        "shares bytes with another one",
    ),
    "a record within another": (
        built(
            Record(b"a/data.pkl", NOTHING),
            Record(b"a/data/0", built(Record(b"a/x", b"yy")), offset=None),
            Record(b"a/x", b"yy", offset=30 + 10 + len(NOTHING) + 30 + 8),
        ),
        "shares bytes with another one",
    ),
    "an archive in an archive": (
        archive(b"", {"data.zip": archive(NOTHING)}).replace(b"data.pkl", b"data.txt"),
        "has 0 records",
    ),
    "an archive of many names": (lambda: built(*[Record(b"a/%d" % n, b"") for n in range(20_000)]), "has 0 records"),
}
