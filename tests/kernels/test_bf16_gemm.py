"""Products of bfloat16, each way by itself, against exact products of the rounded numbers."""

import itertools

import numpy as np
import pytest

from badak.kernels import numba
from badak.kernels.half import BFLOAT16
from badak.kernels.numba import bf16_gemm, cpu_dispatch

WAYS = bf16_gemm.WAYS
SHAPES = [
    (1, 1, 1),
    (0, 4, 5),
    (4, 0, 5),
    (16, 16, 32),
    (32, 32, 64),
    (33, 35, 37),
    (5, 100, 0),
    (100, 7, 1100),
    (64, 300, 2100),
    (31, 17, 3),
]
KINDS = list(itertools.product((BFLOAT16, np.dtype(np.float32)), repeat=3))[:-1]


@pytest.fixture(params=[way.name for way in WAYS.ways])
def way(request):
    """Each way that can be gone here."""
    reason = WAYS.why_not(request.param)
    if reason:
        pytest.skip(f"{request.param}: {reason}")
    with WAYS.use(request.param):
        yield request.param


def matrix(rng, rows, columns, kind, layout):
    """Normal numbers, rounded to the dtype, by rows, by columns, or with gaps."""
    if layout == "columns":
        return rng.standard_normal((columns, rows)).astype(kind).T
    if layout == "gaps":
        return rng.standard_normal((2 * rows, 3 * columns)).astype(kind)[::2, ::3]
    return rng.standard_normal((rows, columns)).astype(kind)


def exact(a, b, base, kind):
    """(the product in float64, how far the sums of float32 and the rounding of the result may be from it)."""
    x, y = (each.astype(BFLOAT16).astype(np.float64) for each in (a, b))
    made, size = x @ y + base, np.abs(x) @ np.abs(y) + np.abs(base)
    narrow = 2.0**-8 if kind == BFLOAT16 else 2.0**-24
    return made, size * (a.shape[-1] + 2) * 2.0**-24 * (1 + narrow) + np.abs(made) * narrow + 1e-35


@pytest.mark.parametrize(("m", "n", "k"), SHAPES)
@pytest.mark.parametrize("layout", ["rows", "columns", "gaps"])
def test_every_kind_of_arrays(way, m, n, k, layout):
    rng = np.random.default_rng(m + n + k)
    for kind, of_a, of_b in KINDS:
        a, b = matrix(rng, m, k, of_a, layout), matrix(rng, k, n, of_b, layout)
        bias = rng.standard_normal(n).astype(np.float32) if n % 2 else None
        around = np.full((m, n + 3), 7, kind)
        made = bf16_gemm.product(around[:, :n], a, b, bias)
        wanted, most = exact(a, b, 0 if bias is None else bias, kind)
        assert (np.abs(made.astype(np.float64) - wanted) <= most).all(), (kind, of_a, of_b)
        assert (around[:, n:] == 7).all()


def test_batches_repeat(way):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 1, 40, 50)).astype(BFLOAT16), rng.standard_normal((1, 3, 50, 35)).astype(BFLOAT16)
    made = bf16_gemm.product(np.empty((2, 3, 40, 35), BFLOAT16), a, b)
    wanted, most = exact(a, b, 0, BFLOAT16)
    assert (np.abs(made.astype(np.float64) - wanted) <= most).all()


def test_the_same_bits_on_any_number_of_threads_and_in_any_tile(way):
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((700, 1500)).astype(BFLOAT16), rng.standard_normal((650, 1500)).astype(np.float32).T
    before, bits = numba.get_num_threads(), []
    try:
        for threads in (1, 2, 3, 16):
            numba.set_num_threads(threads)
            bits.append(bf16_gemm.product(np.empty((700, 650), np.float32), a, b).tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(set(bits)) == 1
    part = bf16_gemm.product(np.empty((130, 77), np.float32), a[450:580], b[:, 333:410])
    assert part.tobytes() == np.frombuffer(bits[0], np.float32).reshape(700, 650)[450:580, 333:410].tobytes()


def test_what_is_not_finite_shows_where_it_should_and_nowhere_else(way):
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((40, 45)).astype(np.float32), rng.standard_normal((45, 50)).astype(BFLOAT16)
    a[3, 7], a[20, 44], a[39, 0] = np.inf, np.nan, -np.inf
    b[7, 2] = 0  # 0 times infinity
    for kind in (np.float32, BFLOAT16):
        made = bf16_gemm.product(np.empty((40, 50), kind), a, b).astype(np.float32)
        with np.errstate(invalid="ignore"):
            wanted = a @ b.astype(np.float32)
        assert (np.isnan(made) == np.isnan(wanted)).all() and (np.isinf(made) == np.isinf(wanted)).all()
        assert (np.sign(made[3, 3:]) == np.sign(wanted[3, 3:])).all()
    large = np.full((2, 3), 3e38, np.float32)
    assert np.isposinf(bf16_gemm.product(np.empty((2, 2), BFLOAT16), large, large.astype(BFLOAT16).T)).all()


def test_denormal_numbers_are_zero_or_themselves(way):
    """AMX and AVX512_BF16 take them as zero; in float32 they count."""
    tiny = np.full((20, 40), 1e-39, np.float32)
    one = np.ones((40, 20), BFLOAT16)
    made = bf16_gemm.product(np.empty((20, 20), np.float32), tiny, one)
    wanted = 0 if way != "float32" else tiny.astype(BFLOAT16).astype(np.float64)[0, 0] * 40
    assert np.allclose(made, wanted, rtol=1e-6, atol=0)


def test_a_way_that_is_wrong_is_not_gone_and_says_so(capfd, monkeypatch):
    monkeypatch.setattr(cpu_dispatch, "KINDS", {})
    found = cpu_dispatch.Ways(
        "nonsense", bf16_gemm.__file__, cpu_dispatch.Way("broken", (), lambda: False), cpu_dispatch.Way("plain")
    )
    assert found.chosen() == "plain" and found.why_not("broken") == "it is not right on this machine"
    said = "badak: products of nonsense by broken are wrong on this machine; another way is taken"
    assert said in capfd.readouterr().err


def test_a_check_is_paid_once(monkeypatch, tmp_path):
    monkeypatch.setattr(cpu_dispatch, "KINDS", {})
    monkeypatch.setattr(cpu_dispatch, "FOLDER", tmp_path)
    asked = []
    for _ in range(2):
        made = cpu_dispatch.Ways("counted", bf16_gemm.__file__, cpu_dispatch.Way("checked", (), lambda: asked.append(1) is None))
        assert made.chosen() == "checked"
    assert len(asked) == 1


def test_features_that_are_missing_are_named():
    found = cpu_dispatch.Ways(
        "future", bf16_gemm.__file__, cpu_dispatch.Way("far", ("amx-tile", "time-travel")), cpu_dispatch.Way("near")
    )
    try:
        assert found.chosen() == "near" and "time-travel" in found.why_not("far")
    finally:
        del cpu_dispatch.KINDS["future"]


@pytest.mark.parametrize("of_x", [BFLOAT16, np.float32])
@pytest.mark.parametrize("of_w", [BFLOAT16, np.float32])
def test_a_linear_map_and_its_gradients(way, of_x, of_w):
    rng = np.random.default_rng(4)
    x, w, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((3, 50, 40), (70, 40), (70,)))
    x, w, dy = x.astype(of_x), w.astype(of_w), rng.standard_normal((3, 50, 70)).astype(BFLOAT16)
    narrow = of_x == BFLOAT16 or of_w == BFLOAT16
    for kind in (BFLOAT16, np.dtype(np.float32)) if narrow else (BFLOAT16,):  # three times float32 is a product of float32
        y = numba.linear(x, w, b, kind)
        wanted, most = exact(x.reshape(150, 40), w.T, b, kind)
        assert y.dtype == kind and (np.abs(y.reshape(150, 70).astype(np.float64) - wanted) <= most).all()
    dx, dw, db = numba.linear_backward(dy, x, w, (True, True, True))
    rows, columns = dy.reshape(150, 70), dy.reshape(150, 70).T
    for made, a, right, kind in ((dx.reshape(150, 40), rows, w, x.dtype), (dw, columns, x.reshape(150, 40), w.dtype)):
        wanted, most = exact(a, right, 0, kind)
        assert made.dtype == kind and (np.abs(made.astype(np.float64) - wanted) <= most).all()
    ones = np.ones((1, 150), BFLOAT16)
    wanted, most = exact(ones, rows, 0, w.dtype)
    assert db.dtype == w.dtype and (np.abs(db.astype(np.float64) - wanted) <= most).all()


@pytest.mark.parametrize(
    "shapes", [((40, 30), (30, 20)), ((2, 5, 30), (30, 20)), ((2, 3, 8, 30), (3, 30, 9)), ((2, 2, 2, 4, 6), (6, 3))]
)
def test_stacks_of_matrices(way, shapes):
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(shape).astype(BFLOAT16) for shape in shapes)
    wanted, most = exact(a, b, 0, BFLOAT16)
    made = numba.matmul(a, b)
    assert made.dtype == BFLOAT16 and (np.abs(made.astype(np.float64) - wanted) <= most).all()
    made = numba.matmul(a, b.astype(np.float32), np.dtype(np.float32))
    wanted, most = exact(a, b, 0, np.float32)
    assert made.dtype == np.float32 and (np.abs(made.astype(np.float64) - wanted) <= most).all()
