"""Products of 8-bit integers: every way, every number of rows and threads gives the bits of the plain kernel."""

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from badak.kernels import reference
from tests.tiers import thinned

fast = pytest.importorskip("badak.kernels.numba", reason="the Numba kernels are an extra")
from badak.kernels.numba import int8  # noqa: E402

RANDOM = np.random.default_rng(0)
SIZES = [
    (1, 4, 4), (1, 64, 16), (1, 768, 50), (2, 130, 9), (3, 28, 37), (4, 384, 65), (5, 384, 65), (9, 27, 65), (16, 64, 16),
    (17, 100, 33), (40, 384, 130), (64, 30, 7), (300, 200, 96), (33, 1, 1), (5, 3, 2), (6, 2, 1),
]  # fmt: skip


ALL = [way.name for way in int8.WAYS.ways]


@cache
def here():
    """The ways that work on this machine, which compiles each: not while tests are collected, when every worker would wait."""
    return [name for name in ALL if not int8.WAYS.why_not(name)]


def drawn(m, k, n):
    x = (RANDOM.standard_normal((m, k)) * RANDOM.uniform(0.1, 10, (m, 1))).astype(np.float32)
    w, scale = reference.quantize_rows(RANDOM.standard_normal((n, k)).astype(np.float32))
    return x, w, scale, RANDOM.standard_normal(n).astype(np.float32)


def same(found, expected):
    """The same bits, whatever the bits of a NaN are."""
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(found[known].view(np.int32), expected[known].view(np.int32))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("way", ALL)
def test_every_way_gives_the_bits_of_the_meaning(way, size):
    if why := int8.WAYS.why_not(way):
        pytest.skip(why)
    x, w, scale, b = drawn(*size)
    with int8.WAYS.use(way):
        for rows in (x, x[::-1], x[:1]):
            same(int8.linear_int8(rows, w, scale, b), reference.linear_int8(rows, w, scale, b))
        same(int8.linear_int8(x, w, scale, None), reference.linear_int8(x, w, scale, None))


@pytest.mark.parametrize("m", [3, 40])
def test_rows_that_cannot_be_rounded(m):
    """An infinity or a NaN makes its own row NaN, and no other; a row of tiny numbers counts as zeros."""
    x, w, scale, b = drawn(m, 70, 33)
    x[0, 3], x[1, 69], x[2] = np.inf, np.nan, 1e-40
    for way in here():
        with int8.WAYS.use(way):
            y = int8.linear_int8(x, w, scale, b)
        same(y, reference.linear_int8(x, w, scale, b))
        assert np.isnan(y[:2]).all() and (y[2] == b).all() and np.isfinite(y[2:]).all()


def test_a_row_is_rounded_to_the_nearest_whole_number_ties_to_even():
    x = np.array([[127, 0.5, 1.5, -2.5, 126.49, -127], [0] * 6], np.float32)
    numbers, scale = reference.quantize_rows(x)
    assert numbers.tolist() == [[127, 0, 2, -2, 126, -127], [0] * 6] and scale.tolist() == [1, 0]


def test_the_largest_sums_do_not_overflow():
    k = 131_072
    w, scale = np.full((5, k), 127, np.int8), np.ones(5, np.float32)
    for way in here():
        for rows in (1, 20):
            with int8.WAYS.use(way):
                y = int8.linear_int8(np.full((rows, k), -1, np.float32), w, scale, None)
            assert (y == np.float32(-127.0 * k)).all()


@pytest.mark.parametrize("rows", [1, 3, 70])
def test_the_bits_do_not_depend_on_threads_or_company(rows, threads):
    x, w, scale, b = drawn(rows, 300, 1000)
    with threads(1):
        one = int8.linear_int8(x, w, scale, b)
    for count in (2, 4):
        with threads(count):
            assert int8.linear_int8(x, w, scale, b).tobytes() == one.tobytes()
    assert np.concatenate([int8.linear_int8(x[i : i + 1], w, scale, b) for i in range(rows)]).tobytes() == one.tobytes()


@pytest.mark.slow
def test_older_cpus_give_the_same_bits():
    """The kernels as they are compiled for CPUs without these instructions, in processes of their own."""
    x, w, scale, b = drawn(20, 100, 40)
    program = (
        "import sys, numpy as np; from badak.kernels import active; from badak.kernels.numba import int8\n"
        "x, w, s, b = (np.frombuffer(bytes.fromhex(t), k).reshape(z) for t, k, z in eval(sys.stdin.read()))\n"
        "print((int8.linear_int8(x, w, s, b).tobytes() + int8.linear_int8(x[:3], w, s, b).tobytes()).hex(), int8.WAYS.chosen())"
    )
    given = repr([(a.tobytes().hex(), a.dtype.name, a.shape) for a in (x, w, scale, b)])
    expected = reference.linear_int8(x, w, scale, b).tobytes() + reference.linear_int8(x[:3], w, scale, b).tobytes()
    for cpu in thinned(("avx2", "sse2", "avx512"), 1):
        made = subprocess.run(
            [sys.executable, "-c", program],
            input=given,
            capture_output=True,
            text=True,
            env={**os.environ, "BADAK_CPU": cpu},
        )
        assert made.returncode == 0, made.stderr
        bits, way = made.stdout.split()
        assert (bytes.fromhex(bits), way) == (expected, "widened"), cpu
