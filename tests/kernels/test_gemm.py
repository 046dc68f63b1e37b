"""Our own matrix product: every stride and remainder, one bit pattern whatever the tile, every width of register."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

from badak import kernels
from badak.kernels.numba.codegen.caches import _second_cache
from badak.kernels.numba.gemm import product, tiles
from badak.kernels.numba.simd.gemm import gemm
from badak.kernels.numba.threadpool.parallel import parallel
from badak.kernels.numba.threadpool.pool import team
from tests.tiers import looped

SIZES = [(1, 1, 1), (3, 5, 2), (8, 48, 16), (9, 49, 17), (28, 8, 28), (7, 33, 257), (65, 130, 300), (16, 15, 0)]
SIZES += [(31, 217, 771), (520, 9, 400), (13, 150, 1024)]  # a packed for many columns; deeper than a panel; rows of a page
SIZES += [(41, 32, 500), (25, 16, 390), (50, 64, 70), (1024, 60, 20)]  # b that is a panel already; 4 registers; columns of a page
ODD = (1, 7, 8, 9, 31, 33)


@parallel("X2 V2 V2 V2 f")
def multiply_add(task, c, a, b, base, alpha):
    """c = alpha a b + base, on the caller's strides."""
    gemm(alpha, a, b, base, c)


def laid_out(shape, order, dtype, rng):
    """Random numbers of this shape: rows contiguous, columns contiguous, neither, or turned round."""
    rows, columns = shape
    if order == "columns":
        return rng.standard_normal((columns, rows)).astype(dtype).T
    if order == "neither":
        return rng.standard_normal((2 * rows, 3 * columns)).astype(dtype)[::2, ::3]
    x = rng.standard_normal(shape).astype(dtype)
    return x[::-1, ::-1] if order == "reversed" else x


@looped(dtype=[np.float32, np.float64])
@pytest.mark.parametrize("order_b", ["rows", "columns", "neither", "reversed"])
@pytest.mark.parametrize("order_a", ["rows", "columns", "neither", "reversed"])
def test_a_product_of_any_strides_is_the_sum_of_its_terms(order_a, order_b, dtype):
    rng = np.random.default_rng(0)
    for m, n, k in SIZES:
        a, b = laid_out((m, k), order_a, dtype, rng), laid_out((k, n), order_b, dtype, rng)
        base = rng.standard_normal((m, n)).astype(dtype)
        around = np.full((m + 2, n + 3), 7, dtype)
        multiply_add(1, 0, around[1:-1, 1:-2], a, b, base, dtype(0.5))
        exact = 0.5 * (a.astype(np.longdouble) @ b.astype(np.longdouble)) + base
        bound = (k + 2) * np.finfo(dtype).eps * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) + np.abs(base))
        assert (np.abs(around[1:-1, 1:-2] - exact) <= bound).all(), (m, n, k)
        assert (around[0] == 7).all() and (around[-1] == 7).all(), "rows next to the result were written"
        assert (around[:, 0] == 7).all() and (around[:, -2:] == 7).all(), "columns next to the result were written"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_has_the_same_bits_in_any_tile_and_any_batch(dtype):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((301, 600)).astype(dtype), rng.standard_normal((600, 203)).astype(dtype)
    bias = rng.standard_normal(203).astype(dtype)
    whole = product(np.empty((301, 203), dtype), a, b, bias)
    for rows, columns in [(slice(0, 1), slice(0, 1)), (slice(5, 18), slice(100, 203)), (slice(299, 301), slice(1, 64))]:
        part = np.ascontiguousarray(whole[rows, columns])
        alone = product(np.empty_like(part), a[rows], b[:, columns], np.ascontiguousarray(bias[columns]))
        np.testing.assert_array_equal(alone, part)


def test_many_threads_cut_a_product_finer_and_its_bits_stay(monkeypatch):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((700, 300)).astype(np.float32), rng.standard_normal((300, 500)).astype(np.float32)
    made, counts = [], []
    for threads in (1, 2, 3, 64):
        monkeypatch.setattr(team, "size", threads)
        made.append(product(np.empty((700, 500), np.float32), a, b))
        rows, columns = tiles(700, 500, 300, 1, threads)
        counts.append(-(-700 // rows) * -(-500 // columns))
    assert all(count >= threads for count, threads in zip(counts, (1, 2, 3, 64), strict=True)) and counts[0] < counts[-1]
    for other in made[1:]:
        np.testing.assert_array_equal(made[0], other)


def held_apart(x, lines):
    """x in memory whose rows lie so many elements apart, and whose rows do not begin at a line of cache."""
    wide = np.full((len(x), lines), np.nan, x.dtype)
    view = wide[:, 1 : 1 + x.shape[1]]
    view[...] = x
    return view


@pytest.mark.parametrize("m, n, k", [*itertools.product(ODD, ODD, (1, 33, 385)), (4097, 33, 9), (9, 4097, 31), (33, 9, 4097)])
def test_a_product_does_not_depend_on_how_its_operands_lie(m, n, k):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
    whole = product(np.empty((m, n), np.float32), a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert np.abs(whole - exact).max() <= (k + 2) * np.finfo(np.float32).eps * (np.abs(a) @ np.abs(b)).max()
    apart = -(-(k + 1) // 1024) * 1024
    for left in (np.asfortranarray(a), held_apart(a, apart), held_apart(a, k + 7), a[::-1][::-1]):
        for right in (np.asfortranarray(b), held_apart(b, n + 5)):
            np.testing.assert_array_equal(product(np.empty_like(whole), left, right), whole)


def test_expanded_operands_are_read_where_they_lie():
    rng = np.random.default_rng(4)
    row, column = rng.standard_normal((1, 500)).astype(np.float32), rng.standard_normal((500, 1)).astype(np.float32)
    a, b = np.broadcast_to(row, (70, 500)), np.broadcast_to(column, (500, 300))
    made, alone = product(np.empty((70, 300), np.float32), a, b), product(np.empty((1, 1), np.float32), row, column)
    np.testing.assert_array_equal(made, np.broadcast_to(alone, made.shape))


@pytest.mark.parametrize("m, n, k", [(700, 500, 900), (96, 32, 1792), (1792, 96, 32), (64, 1500, 40), (1, 3000, 770)])
def test_a_product_and_its_gradients_have_the_same_bits_on_1_2_and_3_threads(m, n, k, monkeypatch):
    rng = np.random.default_rng(5)
    x, w, dy = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (n, k), (m, n)))
    made = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(team, "size", threads)
        kernel = kernels.of(x)
        made.append((kernel.linear(x, w, None), *kernel.linear_backward(dy, x, w, (True,) * 3)))
    for other in made[1:]:
        for one, two in zip(made[0], other):
            np.testing.assert_array_equal(one, two)


def test_infinities_and_nans_stay_in_their_rows_and_columns():
    a, b = np.ones((20, 70), np.float32), np.ones((70, 90), np.float32)
    a[3, 5], b[7, 60] = np.nan, np.inf
    y = kernels.of(a).matmul(a, b)
    assert np.isnan(y[3]).all() and (y[np.arange(20) != 3, 60] == np.inf).all()
    assert (np.delete(np.delete(y, 3, axis=0), 60, axis=1) == 70).all()


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (1, 1, 1), (160, 768, 256), (2048, 384, 1536), (1, 50257, 768), (4096, 8, 8)])
def test_tiles_cover_a_product(m, n, k):
    for batch, threads in [(1, 1), (1, 2), (7, 2), (1, 3), (2, 64), (1000, 64)]:
        rows, columns = tiles(m, n, k, batch, threads)
        assert 1 <= rows <= max(m, 1) and 1 <= columns <= max(n, 1)


@pytest.mark.parametrize("m, n, k", [(2048, 384, 1536), (384, 1536, 2048), (256, 3072, 768), (1024, 1024, 2048)])
def test_large_products_are_cut_alike_for_each_thread_and_reuse_what_they_read(m, n, k):
    for threads in (1, 2, 4):
        rows, columns = tiles(m, n, k, 1, threads)
        count = -(-m // rows) * -(-n // columns)
        assert count % threads == 0 or count > 8 * threads
        assert 1 / rows + 1 / columns < 1 / 64 + threads / 256


@pytest.mark.parametrize(
    "size, sharing, found",
    [("2048K", "0", 2 << 20), ("1M", "0-1", 1 << 20), ("4096K", "0-3", 2 << 20), ("4M", "0,8,16,24", 2 << 20),
     ("", "0", 1 << 20), ("12Q", "0", 1 << 20), ("1M", "zero", 1 << 20)],
)  # fmt: skip
def test_the_second_cache_is_read_where_the_system_tells(size, sharing, found, tmp_path):
    (tmp_path / "size").write_text(size + "\n")
    (tmp_path / "shared_cpu_list").write_text(sharing + "\n")
    assert _second_cache(tmp_path) == found
    assert _second_cache(tmp_path / "nowhere") == 1 << 20


OTHER_WIDTH = """
import numpy as np
from badak.kernels.numba import matmul
from badak.kernels.numba.codegen import registers
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    for m, n, k in [(1, 1, 1), (9, 49, 17), (33, 26, 300), (37, 170, 400), (12, 200, 1024)]:
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((n, k)).astype(dtype).T
        np.testing.assert_allclose(matmul(a, b), a.astype("f8") @ b.astype("f8"), atol=1e-4)
        np.testing.assert_allclose(matmul(np.asfortranarray(a), b.copy()), a.astype("f8") @ b.astype("f8"), atol=1e-4)
print(registers.REGISTER)
"""


@pytest.mark.thin(1)
@pytest.mark.slow
@pytest.mark.parametrize("most, register", [("avx2", 32), ("sse2", 16)])
def test_products_hold_on_narrower_registers(most, register, monkeypatch):
    monkeypatch.setenv("BADAK_CPU", most)
    done = subprocess.run([sys.executable, "-c", OTHER_WIDTH], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= register
