"""Our own product of matrices: every stride and remainder, one bit pattern whatever the tile, every width of register."""

import subprocess
import sys

import numpy as np
import pytest

from badak import kernels
from badak.kernels.fast.matmul import product, tiles
from badak.kernels.fast.threads.parallel import parallel
from badak.kernels.fast.threads.team import team
from badak.kernels.fast.vectors.gemm import gemm

SIZES = [(1, 1, 1), (3, 5, 2), (8, 48, 16), (9, 49, 17), (28, 8, 28), (7, 33, 257), (65, 130, 300), (16, 15, 0)]


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
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
        assert (around[0] == 7).all() and (around[-1] == 7).all(), "rows beside the result were written"
        assert (around[:, 0] == 7).all() and (around[:, -2:] == 7).all(), "columns beside the result were written"


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
    made, cuts = [], set()
    for threads in (1, 3, 64):
        monkeypatch.setattr(team, "size", threads)
        made.append(product(np.empty((700, 500), np.float32), a, b))
        cuts.add(tiles(700, 500, 300))
    assert len(cuts) > 1
    np.testing.assert_array_equal(made[0], made[1])
    np.testing.assert_array_equal(made[0], made[2])


def test_infinities_and_nans_stay_in_their_rows_and_columns():
    a, b = np.ones((20, 70), np.float32), np.ones((70, 90), np.float32)
    a[3, 5], b[7, 60] = np.nan, np.inf
    y = kernels.of(a).matmul(a, b)
    assert np.isnan(y[3]).all() and (y[np.arange(20) != 3, 60] == np.inf).all()
    assert (np.delete(np.delete(y, 3, axis=0), 60, axis=1) == 70).all()


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (1, 1, 1), (160, 768, 256), (2048, 384, 1536), (1, 50257, 768), (4096, 8, 8)])
def test_tiles_cover_a_product(m, n, k):
    rows, columns = tiles(m, n, k)
    assert rows >= 1 and columns >= 1
    assert rows <= max(m, 1) + 8 and columns <= max(n, 1) + 48


OTHER_WIDTH = """
import sys
import llvmlite.binding as llvm
ask = llvm.get_host_cpu_features
def without():
    features = ask()
    features.update({name: False for name in features if name.startswith(sys.argv[1])})
    return features
llvm.get_host_cpu_features = without
import numpy as np
from badak.kernels.fast import matmul
from badak.kernels.fast.compiler import registers
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64):
    for m, n, k in [(1, 1, 1), (9, 49, 17), (33, 26, 300)]:
        a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((n, k)).astype(dtype).T
        np.testing.assert_allclose(matmul(a, b), a.astype("f8") @ b.astype("f8"), atol=1e-4)
        np.testing.assert_allclose(matmul(a, b.copy()), a.astype("f8") @ b.astype("f8"), atol=1e-4)
print(registers.REGISTER)
"""


@pytest.mark.slow
@pytest.mark.parametrize("without, register", [("avx512", 32), ("avx", 16)])
def test_products_hold_on_narrower_registers(without, register, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", OTHER_WIDTH, without], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) <= register
