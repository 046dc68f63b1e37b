"""Weights in blocks of 4 and 8 bits: the bytes and numbers of ggml, and every way, row and thread gives the bits of the meaning."""

import os
import subprocess
import sys

import gguf
import numpy as np
import pytest
from gguf.quants import dequantize, quantize

from badak.core.errors import IndexOutOfRangeError
from badak.kernels import reference
from badak.kernels.block_formats import FORMATS
from badak.kernels.half import BFLOAT16
from tests.kernels.test_int8 import same
from tests.tiers import thinned

fast = pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")
from badak.kernels.numba import blocks  # noqa: E402

RANDOM = np.random.default_rng(0)
SIZES = [
    (1, 32, 16), (1, 1, 1), (1, 1024, 100), (2, 544, 17), (3, 80, 7), (4, 1536, 50), (5, 384, 65), (9, 27, 65), (16, 768, 16),
    (37, 100, 50), (40, 512, 33),
]  # fmt: skip
WAYS = [way.name for way in blocks.WAYS.ways]
TYPES = {name: gguf.GGMLQuantizationType[name.upper()] for name in FORMATS}


def drawn(form, n, k):
    """Rows of blocks."""
    known = FORMATS[form]
    if known.written:
        return reference.quantize_blocks(RANDOM.standard_normal((n, k)).astype(np.float32), form)
    rows = RANDOM.integers(0, 256, (n, known.row(k))).astype(np.uint8)
    heads = rows.reshape(n, -1, known.width)[..., :4]
    heads[...] = RANDOM.standard_normal((*heads.shape[:2], 2)).astype(np.float16).view(np.uint8)
    return rows


@pytest.mark.parametrize("form", [name for name, one in FORMATS.items() if one.written])
def test_blocks_are_the_bytes_of_ggml(form):
    x = (RANDOM.standard_normal((40, 512)) * RANDOM.uniform(1e-6, 100, (40, 1))).astype(np.float32)
    x[3, :64], x[4, 5], x[5], x[6, :32] = 0, 1e-30, np.round(x[5]), -7.5
    made = reference.quantize_blocks(x, form)
    assert made.tobytes() == quantize(x, TYPES[form]).tobytes()


@pytest.mark.parametrize("form", list(FORMATS))
def test_blocks_have_the_numbers_of_ggml(form):
    w = drawn(form, 9, 1536)
    expected = dequantize(w, TYPES[form])
    ids = np.array([[8, 0], [3, 3]])
    for kernels in (reference, fast):
        np.testing.assert_array_equal(kernels.dequantize_blocks(w, form, 1536), expected)
        np.testing.assert_array_equal(kernels.embedding_blocks(w, ids, form, 1500), expected[ids][..., :1500])
    with pytest.raises(IndexOutOfRangeError, match=r"embedding: expected ids in 0 \.\. 8; got ids from 0 to 9\nfix: "):
        fast.embedding_blocks(w, np.array([0, 9]), form, 1536)


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_way_gives_the_bits_of_the_meaning(form, size):
    m, k, n = size
    x, w = (RANDOM.standard_normal((m, k)) * RANDOM.uniform(0.1, 10, (m, 1))).astype(np.float32), drawn(form, n, k)
    b = RANDOM.standard_normal(n).astype(np.float32)
    expected, bare = reference.linear_blocks(x, w, b, form), reference.linear_blocks(x, w, None, form)
    for way in WAYS:
        if not blocks.WAYS.why_not(way):
            with blocks.WAYS.use(way):
                same(blocks.linear_blocks(x, w, b, form), expected)
                same(blocks.linear_blocks(x, w, None, form), bare)
                same(blocks.linear_blocks(x[:1], w, b, form), expected[:1])


@pytest.mark.parametrize("form", list(FORMATS))
def test_products_are_near_those_of_the_numbers(form):
    """Inputs are rounded to 1/254 of the largest of 32: independent errors of 32 n products."""
    x, w = RANDOM.standard_normal((6, 1024)).astype(np.float32), drawn(form, 50, 1024)
    expected = x.astype(np.float64) @ dequantize(w, TYPES[form]).astype(np.float64).T
    assert np.abs(reference.linear_blocks(x, w, None, form) - expected).max() < 0.04 * expected.std()


@pytest.mark.parametrize("m", [3, 40])
@pytest.mark.parametrize("form", list(FORMATS))
def test_rows_that_cannot_be_rounded(form, m):
    """An infinity or a NaN makes its own row NaN, and no other; tiny numbers count as zeros."""
    x, w, b = RANDOM.standard_normal((m, 96)).astype(np.float32), drawn(form, 33, 96), np.ones(33, np.float32)
    x[0, 3], x[1, 95], x[2] = np.inf, np.nan, 1e-40
    for way in WAYS:
        if not blocks.WAYS.why_not(way):
            with blocks.WAYS.use(way):
                y = blocks.linear_blocks(x, w, b, form)
            same(y, reference.linear_blocks(x, w, b, form))
            assert np.isnan(y[:2]).all() and (y[2] == b).all() and np.isfinite(y[2:]).all()


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("rows", [1, 3, 70])
def test_the_bits_do_not_depend_on_threads_or_company(rows, form, threads):
    x, w = RANDOM.standard_normal((rows, 300)).astype(np.float32), drawn(form, 1000, 300)
    with threads(1):
        one = blocks.linear_blocks(x, w, None, form)
    for count in (2, 4):
        with threads(count):
            assert blocks.linear_blocks(x, w, None, form).tobytes() == one.tobytes()
    assert np.concatenate([blocks.linear_blocks(x[i : i + 1], w, None, form) for i in range(rows)]).tobytes() == one.tobytes()


@pytest.mark.parametrize("form", list(FORMATS))
def test_weights_that_end_with_their_memory_are_not_read_beyond(form, tmp_path):
    """A file that ends with a page: one byte further and the process would be gone."""
    k = 512 if form == "q4_k" else 4096 // FORMATS[form].width * FORMATS[form].size // 32 * 32
    w = drawn(form, 3, k)
    path = tmp_path / "weights"
    path.write_bytes(b"\0" * (-w.nbytes % 4096) + w.tobytes())
    mapped = np.memmap(path, np.uint8, "r")[-w.nbytes :].reshape(w.shape)
    x = RANDOM.standard_normal((20, k)).astype(np.float32)
    for rows in (x[:1], x):
        same(blocks.linear_blocks(rows, mapped, None, form), reference.linear_blocks(rows, w, None, form))
    assert fast.dequantize_blocks(mapped, form, k).tobytes() == reference.dequantize_blocks(w, form, k).tobytes()


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("dtype", [np.float32, BFLOAT16])
def test_the_gradient_of_inputs_is_that_of_the_numbers(form, dtype, monkeypatch):
    dy, w = RANDOM.standard_normal((7, 50)).astype(dtype), drawn(form, 50, 512)
    expected = dy.astype(BFLOAT16).astype(np.float64) @ dequantize(w, TYPES[form]).astype(BFLOAT16).astype(np.float64)
    for module in (blocks, sys.modules["badak.kernels.reference.blocks"]):
        monkeypatch.setattr(module, "AT_ONCE", 9000)  # in several parts
    for kernels in (reference, fast):
        dx = kernels.linear_blocks_backward(dy, w, form, 512)
        assert dx.dtype == dtype
        close = 5e-6 if dtype == np.float32 else 4e-3
        np.testing.assert_allclose(dx.astype(np.float64), expected, atol=close * np.abs(expected).max())


@pytest.mark.slow
def test_older_cpus_give_the_same_bits():
    """The kernels as they are compiled for CPUs without these instructions, in processes of their own."""
    cases = [
        (RANDOM.standard_normal((m, 352)).astype(np.float32), drawn(form, 40, 352), form)
        for form in thinned(FORMATS, 1)
        for m in (1, 3, 20)
    ]
    program = (
        "import sys, numpy as np; from badak.kernels import active; from badak.kernels.numba import blocks as b\n"
        "f = lambda t, k, z: np.frombuffer(bytes.fromhex(t), k).reshape(z)\n"
        "print(''.join(b.linear_blocks(f(*x), f(*w), None, form).tobytes().hex() for x, w, form in eval(sys.stdin.read())))"
    )
    given = repr([(*((a.tobytes().hex(), a.dtype.name, a.shape) for a in (x, w)), form) for x, w, form in cases])
    expected = b"".join(reference.linear_blocks(x, w, None, form).tobytes() for x, w, form in cases)
    for cpu in thinned(("avx2", "sse2", "avx512"), 1):
        environment = {**os.environ, "BADAK_CPU": cpu}
        made = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, text=True, env=environment)
        assert made.returncode == 0, made.stderr
        assert bytes.fromhex(made.stdout) == expected, cpu
