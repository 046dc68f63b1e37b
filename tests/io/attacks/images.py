"""Pictures that fill the memory, or that ask for decoders which badak does not use."""

import io
import struct
import zlib

from PIL import Image

NONE = "not a picture that can be read (of none of the kinds below)"


def chunk(kind: bytes, body: bytes, length: int | None = None) -> bytes:
    """A piece of a PNG file."""
    return struct.pack(">I", len(body) if length is None else length) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, depth: int = 1, colour: int = 0, data: bytes = b"", *more: bytes) -> bytes:
    """A PNG file of these sizes."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(more) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")


def of_kind(kind: str) -> bytes:
    """A small picture of another kind."""
    file = io.BytesIO()
    Image.new("RGB", (64, 64), "white").save(file, kind)
    return file.getvalue()


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 64\n%%EndComments\n(touch badak_test_harm) run\n%%EOF\n"
PICTURES = {
    "nothing": (b"", NONE),
    "a text": (b"a picture of a seven", NONE),
    "EPS, which starts a program": (EPS, NONE),
    **{f"{kind}": (of_kind(kind), NONE) for kind in ("TIFF", "ICO", "DDS", "PPM", "TGA")},
    "a hundred million pixels in 12 KB": (
        lambda: png(10_000, 10_000, data=bytes(1251 * 10_000)),
        "has 10,000 x 10,000 pixels; the limit is",
    ),
    "four billion pixels": (png(65_000, 65_000), "not a picture that can be read"),
    "all pixels that there can be": (png(2**31 - 1, 2**31 - 1), "not a picture that can be read"),
    "no pixels": (png(0, 0), "not a picture that can be read"),
    "fewer rows than said": (png(1000, 1000, data=bytes(1000)), "not a picture that can be read"),
    "a chunk longer than the file": (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 9, 8, 2, 0, 0, 0)) + chunk(b"IDAT", b"xx", 2**31 - 1),
        "not a picture that can be read",
    ),
    "a comment that grows": (
        lambda: png(28, 28, 8, 0, bytes(29 * 28), chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(200_000_000)))),
        "not a picture that can be read",
    ),
    "a wide GIF": (
        b"GIF89a" + struct.pack("<HH", 8000, 8000) + of_kind("GIF")[10:],
        "has 8,000 x 8,000 pixels; the limit is",
    ),
    "a BMP of billions": (
        b"BM" + struct.pack("<IHHIIiiHHIIiiII", 100, 0, 0, 54, 40, 2**31 - 1, 2**31 - 1, 1, 24, 0, 0, 0, 0, 0, 0),
        "a picture",
    ),
    "one colour": (png(30, 30, data=bytes(5 * 30)), "the picture is of one colour"),
}
