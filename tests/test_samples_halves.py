"""Every row of the table in bfloat16: what float32 gives for the same numbers, rounded; the same bits on any number of threads.

Operations either take bfloat16 as it is (`Op.supports_bf16`) or are computed on copies in float32; nobody can tell which.
"""

import ml_dtypes
import numpy as np
import pytest

from badak import kernels
from badak.kernels.memory_format import turn
from badak.ops.complex import ViewAsComplex
from badak.ops.norm import BatchMoments
from badak.ops.select import Dropout
from badak.tensor.apply import apply
from badak.tensor.tensor import Tensor
from tests.compare import allowed
from tests.samples import Call, Sample, all_ops, rows
from tests.tiers import looped

HALF, ROUNDING = np.dtype(ml_dtypes.bfloat16), 2.0**-8  # of bfloat16: a number is off by at most this part of itself
NO_COMPLEX = {ViewAsComplex}  # there are no complex numbers of bfloat16, as in PyTorch
FULL = {BatchMoments}  # its results stay float32: statistics, from which others are computed
FACTORS = {Dropout: 2}  # roundings on the way to a result: PyTorch rounds 1 / (1 - p), too
ROWS = [
    row
    for row in rows()
    if row.op not in NO_COMPLEX
    and any(getattr(a, "dtype", None) == np.float32 for call in row.cases() for a in call.arrays(np.float32))
]
each_row = pytest.mark.parametrize("row", ROWS, ids=repr)
each_set = looped(kernel_set=["reference", "numba"])


def inputs(call: Call, dtype) -> list:
    """The inputs of a call, rounded to bfloat16, in a dtype."""
    arrays = call.arrays(np.float32)
    return [a.astype(HALF).astype(dtype) if a is not None and a.dtype == np.float32 else a for a in arrays]


def run(call: Call, dtype, backward: bool = True):
    """(outputs, gradients) by way of tensors."""
    arrays = inputs(call, dtype)
    leaves = [None if a is None else Tensor._of(a) for a in arrays]
    for x, wanted in zip(leaves, call.needs(call.arrays(np.float32))):
        if wanted:
            x.requires_grad_()
    made = apply(call.row.op, *leaves, **call.attributes)
    ys = made if type(made) is tuple else (made,)
    live = [y for y in ys if y.requires_grad]
    if not live or not backward:
        return [y._array for y in ys], []
    rng = np.random.default_rng(7)
    for y in live:
        dy = rng.standard_normal(y.shape).astype(HALF)
        y.backward(Tensor._of(dy.astype(y._array.dtype)), retain_graph=y is not live[-1])
    return [y._array for y in ys], [None if x is None or x.grad is None else x.grad.to_dense()._array for x in leaves]


def close(found, expected, call: Call, roundings: float, size: float, what: str) -> None:
    """found, bfloat16, is expected, float32, to so many roundings of numbers of at least this size."""
    if expected is None or found is None:
        assert not np.any(expected) and not np.any(found), what
        return
    assert found.shape == expected.shape, what
    if expected.dtype != np.float32:
        np.testing.assert_array_equal(found, expected, err_msg=what)
        return
    full = call.row.op in FULL and "output" in what
    assert found.dtype == (np.float32 if full else HALF), f"{what}: {found.dtype}"
    found, finite = found.astype(np.float32), np.isfinite(expected) & (np.abs(expected) < 3e38)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected), err_msg=what)
    size = min(float(np.abs(expected[finite]).max(initial=0.0)), size)
    limit = roundings * ROUNDING * np.maximum(np.abs(expected[finite]), size) + allowed(expected[finite], units=call.units())
    gap = np.abs(found[finite] - expected[finite])
    assert np.all(gap <= limit + 1e-38), f"{what}: off by {gap.max():.3g}"


@pytest.mark.thin(120)
@each_row
@each_set
def test_an_op_on_bfloat16_is_that_on_float32_rounded(row: Sample, kernel_set):
    with kernels.use(kernel_set), np.errstate(all="ignore"):
        for call in row.cases():
            ys, dxs = run(call, HALF)
            expected_ys, expected_dxs = run(call, np.float32)
            for number, (y, expected) in enumerate(zip(ys, expected_ys, strict=True)):
                close(y, expected, call, FACTORS.get(row.op, 1), 0.0, f"{call} output {number}")
                assert y.size < 2 or turn(y.shape, y) == turn(y.shape, expected), f"{call}: another order in memory"
            for number, (dx, expected) in enumerate(zip(dxs, expected_dxs, strict=True)):  # a saved result is rounded, too
                close(dx, expected, call, 3, 4.0, f"{call} gradient of input {number}")


@pytest.mark.thin(120)
@each_row
def test_bits_in_bfloat16_do_not_depend_on_the_number_of_threads(row: Sample, threads):
    for call in row.threads():
        bits = []
        for count in (1, 3):
            with kernels.use("numba"), threads(count), np.errstate(all="ignore"):
                ys, dxs = run(call, HALF)
            bits.append([a.tobytes() for a in (*ys, *dxs) if a is not None])
        assert bits[0] == bits[1], f"{call}: other bits on another number of threads"


def test_what_takes_bfloat16_as_it_is_has_a_row():
    assert {op for op in all_ops() if op.supports_bf16 and op.__module__ != "badak.ops.mixed"} <= {row.op for row in ROWS}
