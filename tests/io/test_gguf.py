"""GGUF files: what the package gguf writes is read, what badak writes it reads, and what is wrong is said in two lines."""

import struct

import gguf
import numpy as np
import pytest

from badak.core.errors import ArgumentError, FileError
from badak.io.gguf import FACT, KINDS, Stored, is_gguf, read_gguf, write_gguf
from badak.kernels.reference import quantize_blocks
from badak.kernels.reference.blocks import q6_k_numbers

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((6, 256)).astype(np.float32)
FACTS = {"general.architecture": "llama", "n": 5, "big": 2**32 - 1, "f": 1.5, "yes": True, "no": False, "l": ["a", "바닥", ""],
         "i": [1, -2], "d": [0.5], "none": []}  # fmt: skip


def tensors():
    return {
        "f": Stored("f32", (6, 256), X.view(np.uint8)),
        "h": Stored("f16", (6, 256), X.astype(np.float16).view(np.uint8)),
        "b": Stored("bf16", (6, 256), X.view(np.uint8)[:, :512]),
        "q8": Stored("q8_0", (6, 256), quantize_blocks(X, "q8_0")),
        "q4": Stored("q4_0", (2, 3, 256), quantize_blocks(X, "q4_0")),
        "v": Stored("f32", (5,), np.arange(5, dtype=np.float32)[None].view(np.uint8)),
    }


def written(path):
    write_gguf(path, FACTS, tensors())
    return path


def test_what_is_written_is_read_by_us_and_by_the_package(tmp_path):
    path = written(tmp_path / "a.gguf")
    assert is_gguf(path) and not is_gguf(tmp_path)
    file, judge = read_gguf(path), gguf.GGUFReader(path)
    found = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in file.facts.items()}
    assert found == FACTS == {name: judge.fields[name].contents() for name in FACTS}
    by_name = {one.name: one for one in judge.tensors}
    for name, (kind, shape, rows) in tensors().items():
        mine, theirs = file.tensors[name], by_name[name]
        assert (mine.kind, mine.shape) == (kind, shape) and tuple(theirs.shape) == shape[::-1]
        assert theirs.tensor_type.name == kind.upper()
        assert mine.rows.tobytes() == rows.tobytes() == theirs.data.tobytes()


def test_files_of_the_package_are_read(tmp_path):
    path = tmp_path / "theirs.gguf"
    writer = gguf.GGUFWriter(path, "gpt2")
    writer.add_custom_alignment(128)
    writer.add_uint64("long", 2**40)
    writer.add_float64("double", 0.1)
    writer.add_int8("small", -3)
    writer.add_array("nested", ["x", "y"])
    writer.add_tensor("w", X)
    writer.add_tensor("q", quantize_blocks(X, "q4_0"), raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    file = read_gguf(path)
    assert file.facts["long"] == 2**40 and file.facts["double"] == 0.1 and file.facts["small"] == -3
    assert file.facts[FACT] == 128 and file.facts["nested"] == ["x", "y"]
    assert (file.tensors["w"].rows.view(np.float32) == X).all() and file.tensors["q"].shape == (6, 256)


def test_nothing_is_copied(tmp_path):
    file = read_gguf(written(tmp_path / "a.gguf"))
    assert all(isinstance(one.rows.base, np.memmap) or isinstance(one.rows, np.memmap) for one in file.tensors.values())
    before = (tmp_path / "a.gguf").read_bytes()
    file.tensors["f"].rows[...] = 0  # a program may change its weights: the file stays
    assert (tmp_path / "a.gguf").read_bytes() == before


def header(facts=(), entries=(), version=3, counts=None, data=256):
    """A file of these parts, each as its bytes."""
    tensors, pairs = counts or (len(entries), len(facts))
    head = b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + b"".join(facts) + b"".join(entries)
    return head + bytes(-len(head) % 32) + bytes(data)


def text(value):
    raw = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(name="w", sizes=(32,), code=0, offset=0):
    return text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, code, offset)


def number(name, value):
    return text(name) + struct.pack("<II", 4, value)


WRONG = {
    "another kind of file": (b"\x89PNG\r\n\x1a\n" + bytes(30), r"it begins with b'\\x89PNG', a GGUF file with b'GGUF'"),
    "empty": (b"", "4 bytes are to follow byte 0, and there are 0"),
    "cut short": (header()[:20], "8 bytes are to follow byte 16"),
    "version 1": (header(version=1), "has version 1; badak reads versions 2 and 3"),
    "big-endian": (header(version=3 << 24), "is written for big-endian CPUs"),
    "too many tensors": (header(counts=(2**60, 0)), "announces 1,152,921,504,606,846,976 tensors, more than"),
    "too many facts": (header(counts=(0, 2**63)), "announces 9,223,372,036,854,775,808 facts, more than"),
    "a long text": (header([struct.pack("<Q", 2**40) + b"x"], counts=(0, 1)), "1,099,511,627,776 letters of a text, more than"),
    "no text": (header([text(b"\xff\xfe\xfd") + struct.pack("<II", 4, 1)]), "is no UTF-8"),
    "a fact twice": (header([number("a", 1), number("a", 2)]), "it says 'a' twice"),
    "an unknown type of fact": (header([text("a") + struct.pack("<II", 13, 0)]), "'a' is of type 13, and there are 0 to 12"),
    "a list of lists": (header([text("a") + struct.pack("<IIQ", 9, 9, 1)]), "'a' is a list of type 9"),
    "a long list": (header([text("a") + struct.pack("<IIQ", 9, 4, 2**61)]), "values of 'a', more than"),
    "alignment 0": (header([number(FACT, 0)]), "general.alignment is 0, which is no power of two"),
    "alignment 3": (header([number(FACT, 3)]), "general.alignment is 3, which is no power of two"),
    "no sizes": (header(entries=[entry(sizes=())]), "tensor 'w' has 0 sizes"),
    "many sizes": (header(entries=[entry(sizes=(1,) * 5)]), "tensor 'w' has 5 sizes, 1 to 4 can be"),
    "a tensor twice": (header(entries=[entry(), entry(offset=128)]), "tensor 'w' is there twice"),
    "beyond the file": (header(entries=[entry(offset=2**40)]), "begins at byte 1,099,511,627,776 of 256"),
    "beyond the end": (header(entries=[entry(sizes=(65,))]), r"\(65,\) of F32 begins at byte 0 of 256 and does not fit"),
    "not aligned": (header(entries=[entry(offset=3)]), "begins at byte 3 of 256 and does not fit"),
    "sizes that overflow": (header(entries=[entry(sizes=(2**32, 2**32))]), "does not fit there"),
    "a size of 0": (header(entries=[entry(sizes=(0, 2**62))]), "is not in blocks of 1 numbers"),
    "no whole blocks": (header(entries=[entry(sizes=(40,), code=2)]), r"\(40,\) is not in blocks of 32 numbers"),
    "overlapping": (header(entries=[entry("a"), entry("b", offset=32)]), "tensors 'a' and 'b' overlap"),
    "a type that badak has not": (
        header(entries=[entry(code=13)]),
        "'w' is of type Q5_K; badak reads F32, F16, BF16, Q8_0, Q4_0, Q4_K, Q6_K",
    ),
    "a type that nobody has": (header(entries=[entry(code=999)]), "'w' is of type 999; badak reads"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_said(name, tmp_path):
    data, why = WRONG[name]
    path = tmp_path / "wrong.gguf"
    path.write_bytes(data)
    with pytest.raises(FileError, match=why) as caught:
        read_gguf(path)
    cause, fix = str(caught.value).splitlines()
    assert cause.startswith(str(path)) and fix.startswith("fix: ")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match="no such file\nfix: "):
        read_gguf(tmp_path / "none.gguf")
    with pytest.raises(FileError, match="cannot be read"):
        read_gguf(tmp_path)
    assert not is_gguf(tmp_path / "none.gguf")
    with pytest.raises(ArgumentError, match="write_gguf: x is None\nfix: "):
        write_gguf(tmp_path / "a.gguf", {"x": None}, {})
    assert not list(tmp_path.iterdir())


def test_numbers_of_q6_k_are_those_of_the_package():
    """Of any bytes, every scale being finite."""
    rows = np.random.default_rng(1).integers(0, 256, (5, 3, 210), dtype=np.uint8)
    rows[..., 208:] = np.random.default_rng(2).standard_normal((5, 3, 1)).astype(np.float16).view(np.uint8)
    rows = rows.reshape(5, 630)
    expected = gguf.quants.dequantize(rows, gguf.GGMLQuantizationType.Q6_K)
    np.testing.assert_array_equal(q6_k_numbers(rows), expected)


def test_kinds_are_those_of_the_package():
    for code, (name, size, width) in KINDS.items():
        kind = gguf.GGMLQuantizationType(code)
        assert kind.name == name.upper() and gguf.GGML_QUANT_SIZES[kind] == (size, width)
