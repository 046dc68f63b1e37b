"""Safetensors files that lie: each is made here, byte by byte, with what the reader must say of it."""

import json
import struct

WHOLE = {"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}


def build(header, data: bytes = b"\0" * 8, length: int | None = None) -> bytes:
    """A file with this header (JSON-able, or raw bytes) and data; `length` lies about the header's length."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


TENSORS = {
    "empty": (b"", "it has 0 bytes, fewer than the 8"),
    "three bytes": (b"abc", "it has 3 bytes"),
    "header cut short": (build(WHOLE)[:30], "announce a header of 61 bytes, but only 22 bytes follow"),
    "header longer than the file": (build(WHOLE, length=10_000), "announce a header of 10,000 bytes"),
    "huge header": (build(WHOLE, length=1 << 62), "but the limit is 100,000,000"),
    "zip archive": (b"PK\x03\x04" + b"\xff" * 60, "it looks like a zip archive, as PyTorch's .pt files are"),
    "pickle": (b"\x80\x02}q\x00(X" + b"\xff" * 60, "it looks like a pickle"),
    "web page": (b"<!DOCTYPE html><html>" + b" " * 60, "it looks like a web page"),
    "git lfs pointer": (b"version https://git-lfs.github.com/spec/v1\n", "it looks like a Git LFS pointer"),
    "header is no json": (build(b"{'w': 1}"), "the header is not JSON"),
    "header is no utf-8": (build(b'{"\xff\xfe": 1}'), "the header is not JSON"),
    "header nests too deep": (build(b"[" * 200_000), "the header is not JSON"),
    "header is a list": (build([1, 2]), "the header is a JSON list"),
    "header is a number": (build(b"17"), "the header is a JSON int"),
    "header with endless number": (build(b'{"w": ' + b"9" * 5000 + b"}"), "the header is not JSON"),
    "name twice": (build(b'{"w":%s,"w":%s}' % ((json.dumps(entry()).encode(),) * 2)), "the header names 'w' twice"),
    "entry is text": (build({"w": "F32"}), "tensor 'w': expected dtype, shape and data_offsets; got 'F32'"),
    "entry lacks shape": (
        build({"w": {"dtype": "F32", "data_offsets": [0, 8]}}),
        "tensor 'w': expected dtype, shape and data_offsets",
    ),
    "entry with more": (build({"w": {**entry(), "code": "rm"}}), "tensor 'w': expected dtype, shape and data_offsets"),
    "unknown dtype": (build({"w": entry("F99")}), "tensor 'w' has dtype 'F99'; badak reads BOOL, U8"),
    "dtype is a number": (build({"w": entry(7)}), "tensor 'w' has dtype 7"),
    "dtype of another size": (
        build({"w": entry("F64")}),
        "F64 of shape [2] needs 16 bytes, its data_offsets [0, 8] hold 8",
    ),
    "negative size": (build({"w": entry("F32", (-2,))}), "tensor 'w' has shape [-2], not a list"),
    "size is true": (build({"w": entry("F32", (True, 2))}), "tensor 'w' has shape [True, 2]"),
    "size is a fraction": (build({"w": entry("F32", (2.0,))}), "tensor 'w' has shape [2.0]"),
    "shape is a number": (build({"w": {**entry(), "shape": 2}}), "tensor 'w' has shape 2"),
    "too many dims": (build({"w": entry("F32", (1,) * 65 + (2,))}), "not a list of at most 64 sizes"),
    "shape overflows": (
        build({"w": entry("F32", (1 << 40, 1 << 40))}),
        "needs 4,835,703,278,458,516,698,824,704 bytes",
    ),
    "impossible empty shape": (
        build({"w": entry("F32", (0, 1 << 62, 1 << 62), (0, 0))}, b""),
        "damaged, or not a safetensors file",
    ),
    "offsets reversed": (build({"w": entry("F32", (2,), (8, 0))}), "has data_offsets [8, 0], not [start, stop]"),
    "one offset": (build({"w": entry("F32", (2,), (8,))}), "has data_offsets [8], not [start, stop]"),
    "data cut short": (
        build(WHOLE, b"\0" * 5),
        "tensor 'w' ends at byte 8 of the data, but there are 5: the file is cut short",
    ),
    "data too long": (build(WHOLE, b"\0" * 9), "1 byte at its end belong to no tensor"),
    "overlap": (build({"a": entry(), "b": entry("F32", (2,), (4, 12))}, b"\0" * 12), "tensors 'a' and 'b' overlap"),
    "same bytes twice": (build({"a": entry(), "b": entry()}), "tensors 'a' and 'b' overlap"),
    "gap": (build({"a": entry(offsets=(4, 12))}, b"\0" * 12), "4 bytes before tensor 'a' belong to no tensor"),
    "metadata is a list": (build({"__metadata__": [1], **WHOLE}), "__metadata__ is not a table of texts"),
    "metadata of numbers": (build({"__metadata__": {"a": 1}, **WHOLE}), "__metadata__ is not a table of texts"),
    "tie to nothing": (
        build({"__metadata__": {"badak.tied": '{"a": "x"}'}, **WHOLE}),
        "the metadata ties 'a' to 'x', which is not there",
    ),
    "tie of what is there": (
        build({"__metadata__": {"badak.tied": '{"w": "w"}'}, **WHOLE}),
        "the metadata ties 'w' to 'w', which is stored too",
    ),
    "tie is no table": (build({"__metadata__": {"badak.tied": "[1]"}, **WHOLE}), "the header is a JSON list"),
    "tie to a list": (build({"__metadata__": {"badak.tied": '{"a": ["w"]}'}, **WHOLE}), "the metadata ties 'a'"),
    "sizes beyond all numbers": (
        build(b'{"w":{"dtype":"F32","shape":[%s,%s],"data_offsets":[0,8]}}' % ((b"9" * 4000,) * 2)),
        "tensor 'w' has shape [a number of",
    ),
    "offsets beyond all numbers": (
        build(b'{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,%s]}}' % (b"9" * 4000)),
        "tensor 'w' has data_offsets [0, a number",
    ),
    "many names, the last twice": (
        build(b"{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b',"99999":1}'),
        "the header names '99999' twice",
    ),
    "name of a megabyte": (build({"w" * 10**6: entry("F99")}), "tensor 'wwww"),
    "name of several lines": (build({"w\nfix: rm -r /\n": entry("F99")}), "tensor 'w\\nfix: rm -r /\\n' has dtype"),
    "lone half of a letter": (build(b'{"\\ud800":1}'), "tensor '\\ud800': expected dtype"),
    "truth of two": (build({"w": entry("BOOL", (8,))}, b"\2" * 8), "'w' of truth values has other bytes than 0 and 1"),
    "metadata nests too deep": (
        build({"__metadata__": {"badak.tied": "[" * 200_000}, **WHOLE}),
        "the header is not JSON",
    ),
}
