"""What every op must hold, row by row of the table in tests/sample_rows: values, gradients, sizes, layouts, bits."""

import functools

import numpy as np
import pytest

from badak import kernels
from tests.compare import allowed
from tests.compare import assert_close as close
from tests.kernels.twin import strided
from tests.samples import DIFFERENTIABLE, Call, Sample, all_ops, rows
from tests.tiers import looped

ROWS = rows()
SETS = ["reference", "numba"]
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row))
each_dtype = looped(dtype=[np.float32, np.float64])


def each_set(test):
    """In every backend."""

    @functools.wraps(test)
    def on(*args, kernel_set, **kwargs):
        with kernels.use(kernel_set):
            test(*args, **kwargs)

    return looped(kernel_set=SETS)(on)


def assert_close(found, expected, call: Call, what: str, size: float | None = None) -> None:
    """As tests/compare.py has it, with the terms of this call; no gradient is a gradient of zero."""
    if found is None or expected is None:
        rest = found if expected is None else expected
        assert rest is None or not np.any(rest), f"{what}: None against {rest}"
        return
    close(found, expected, units=call.units(), size=size, what=what)


def compare(call: Call, dtype: type, backward: bool = True, ones: bool = False, size: float | None = None) -> None:
    with np.errstate(all="ignore"):
        ys, dxs = call.both(dtype, ones)
    expected_ys, expected_dxs = call.twin(dtype, ones)
    assert len(ys) == len(expected_ys), f"{call}: {len(ys)} outputs, the twin has {len(expected_ys)}"
    for number, (y, expected) in enumerate(zip(ys, expected_ys)):
        assert_close(y, expected, call, f"{call} output {number}", size)
    if backward and dxs is not None and expected_dxs is not None:
        for number, (dx, expected) in enumerate(zip(dxs, expected_dxs, strict=True)):
            assert_close(dx, expected, call, f"{call} gradient of input {number}", size)


@each_row
@each_dtype
@each_set
def test_op_and_its_gradient_agree_with_pytorch(row: Sample, dtype):
    for call in row.cases():
        compare(call, dtype)


@each_row
@each_dtype
@each_set
def test_op_agrees_with_pytorch_at_extreme_values(row: Sample, dtype):
    for call in row.extremes():
        compare(call, dtype, backward=row.extremes_backward, ones=True, size=row.extremes_size)


@each_row
def test_a_zero_in_the_place_of_any_number_is_seen(row: Sample):
    """No element hides behind a larger one: only what is below its own rounding may be lost."""
    calls = [(call, None, False) for call in row.cases()] + [(call, row.extremes_size, True) for call in row.extremes()]
    for call, size, ones in calls:
        for expected in call.twin(np.float32, ones)[0]:
            if expected.dtype.kind not in DIFFERENTIABLE:
                continue
            limit = np.zeros(expected.shape)
            finite = np.isfinite(expected)
            limit[finite] = allowed(expected[finite], size=size, units=call.units())
            places = np.argwhere(finite & (np.abs(expected) > limit))
            for place in map(tuple, places[:: max(1, len(places) // 40)]):
                damaged = expected.copy()
                damaged[place] = 0
                with pytest.raises(AssertionError, match="off by"):
                    assert_close(damaged, expected, call, "", size)


@pytest.mark.slow
def test_hardly_a_number_of_the_table_is_below_its_own_rounding():
    lost = total = 0
    for row in ROWS:
        for call in row.extremes():
            for expected in call.twin(np.float32, True)[0]:
                if expected.dtype.kind in DIFFERENTIABLE:
                    numbers = expected[np.isfinite(expected) & (expected != 0)]
                    lost += int((np.abs(numbers) <= allowed(numbers, size=row.extremes_size, units=call.units())).sum())
                    total += numbers.size
    assert lost * 100 < total, f"{lost} of {total} could be 0"


@each_row
@each_set
def test_gradient_is_the_derivative_of_the_forward(row: Sample):
    for call in row.cases():
        arrays = call.arrays(np.float64)
        saved, ys = call.forward(arrays)
        sizes = (
            [y.size for y in ys if y.dtype.kind in DIFFERENTIABLE],
            [a.size for a, n in zip(arrays, saved.needs) if n],
        )
        if not sizes[0] or not sizes[1]:
            continue
        real = all(a is None or a.dtype.kind != "c" for a in (*arrays, *ys))
        if real and sum(sizes[0]) * sum(sizes[1]) <= 600:
            check_jacobian(call, arrays)
        else:
            check_projection(call, arrays)


def central(call: Call, arrays, number: int, direction: np.ndarray, h: float = 1e-5):
    """(f(x + h u) - f(x - h u)) / 2h for each float output."""
    ends = []
    for sign in (1.0, -1.0):
        moved = [a if i != number else np.asarray(a + sign * h * direction) for i, a in enumerate(arrays)]
        ends.append([y.copy() if y.dtype.kind in DIFFERENTIABLE else None for y in call.forward(moved)[1]])
    return [None if up is None else (up - down) / (2 * h) for up, down in zip(*ends)]


def close_derivative(numeric: float, analytic: float, scale: float) -> bool:
    """Central differences with h = 1e-5: truncation h^2 f''' / 6 and cancellation eps f / h, both near 1e-10 of f."""
    return abs(numeric - analytic) <= 2e-7 * max(1.0, scale)


def check_jacobian(call: Call, arrays) -> None:
    """Every entry: the gradient of one output by one input."""
    saved, ys = call.forward(arrays)
    floats = [i for i, y in enumerate(ys) if y.dtype.kind in DIFFERENTIABLE]
    for number, wanted in enumerate(saved.needs):
        if not wanted:
            continue
        size = arrays[number].size
        numeric = {i: np.zeros((ys[i].size, size)) for i in floats}
        for j in range(size):
            unit = np.zeros(size)
            unit[j] = 1.0
            columns = central(call, arrays, number, unit.reshape(arrays[number].shape))
            for i in floats:
                numeric[i][:, j] = columns[i].reshape(-1)
        for i in floats:
            for k in range(ys[i].size):
                dy = np.zeros(ys[i].size)
                dy[k] = 1.0
                dys = [None if n not in floats else np.zeros(y.shape) for n, y in enumerate(ys)]
                dys[i] = dy.reshape(ys[i].shape)
                dx = call.backward(call.forward(arrays)[0], dys)[number]
                row = np.zeros(size) if dx is None else dx.reshape(-1)
                gap = np.abs(row - numeric[i][k]).max(initial=0.0)
                assert close_derivative(gap, 0.0, np.abs(row).max(initial=0.0)), (
                    f"{call}: gradient of output {i}[{k}] by input {number} is {row}, differences give {numeric[i][k]}"
                )


def inner(a, b) -> float:
    """The real inner product, in which a complex number is a pair of reals."""
    return float((np.conj(a) * b).real.sum())


def check_projection(call: Call, arrays) -> None:
    """A random combination of outputs along a random direction of each input: one wrong entry shows."""
    rng = np.random.default_rng(3)
    saved, ys = call.forward(arrays)
    dys = call.cotangents(ys)
    dxs = call.backward(saved, dys)
    for number, wanted in enumerate(saved.needs):
        if wanted:
            direction = rng.standard_normal(arrays[number].shape)
            if arrays[number].dtype.kind == "c":
                direction = direction + 1j * rng.standard_normal(direction.shape)
            slopes = central(call, arrays, number, direction)
            numeric = sum(inner(s, dy) for s, dy in zip(slopes, dys) if dy is not None)
            analytic = 0.0 if dxs[number] is None else inner(dxs[number], direction)
            scale = sum(float(np.abs(s * dy).sum()) for s, dy in zip(slopes, dys) if dy is not None)
            assert close_derivative(numeric, analytic, scale), f"{call}: input {number}: {analytic}, differences {numeric}"


@each_row
@each_dtype
@each_set
def test_op_keeps_the_dtype_and_leaves_its_inputs_alone(row: Sample, dtype):
    for call in row.cases():
        arrays = call.arrays(dtype)
        before = [None if a is None else a.copy() for a in arrays]
        saved, ys = call.forward(arrays)
        dys = call.cotangents(ys)
        dys_before = [None if dy is None else dy.copy() for dy in dys]
        floats = any(a is not None and a.dtype.kind in DIFFERENTIABLE for a in arrays)
        for y in ys:
            assert y.dtype.kind not in DIFFERENTIABLE or y.real.dtype == dtype or not floats, f"{call}: output is {y.dtype}"
        if any(saved.needs) and any(dy is not None for dy in dys):
            for number, dx in enumerate(call.backward(saved, dys)):
                assert dx is None or dx.dtype == arrays[number].dtype, f"{call}: gradient {number} is {dx.dtype}"
                assert dx is None or dx.shape == arrays[number].shape, f"{call}: gradient {number} is {dx.shape}"
        for kept, now in zip(before + dys_before, arrays + dys):
            np.testing.assert_array_equal(now, kept, err_msg=f"{call} changed an input or a dy")


@each_row
@each_set
def test_op_takes_arrays_of_any_layout(row: Sample):
    for call in [] if row.of_memory else row.cases():
        arrays = call.arrays(np.float64)
        ys, dxs = call.both(np.float64)
        saved, other_ys = call.forward([strided(a) for a in arrays])
        for y, other in zip(ys, other_ys):
            assert_close(other, y, call, f"{call} from strided inputs")
        if dxs is not None:
            others = call.backward(saved, [strided(dy) for dy in call.cotangents(ys)])
            for dx, other in zip(dxs, others):
                assert_close(other, dx, call, f"{call} gradients from strided inputs")


@each_row
@each_set
def test_a_gradient_is_the_same_when_it_alone_is_wanted(row: Sample):
    for call in row.cases():
        arrays = call.arrays(np.float64)
        _, dxs = call.both(np.float64)
        wanted = [i for i, n in enumerate(call.needs(arrays)) if n]
        if dxs is None or len(wanted) < 2:
            continue
        for number in wanted:
            saved, ys = call.forward(arrays, tuple(i == number for i in range(len(arrays))))
            alone = call.backward(saved, call.cotangents(ys))[number]
            assert_close(alone, dxs[number], call, f"{call} gradient {number} wanted alone")


@each_row
def test_an_output_that_nothing_depends_on_adds_nothing(row: Sample):
    for call in row.cases():
        arrays = call.arrays(np.float64)
        saved, ys = call.forward(arrays)
        floats = [i for i, y in enumerate(ys) if y.dtype.kind in DIFFERENTIABLE]
        if len(floats) < 2 or not any(saved.needs):
            continue
        for number in floats:
            dys = call.cotangents(ys)
            zeros = [dy if i == number or dy is None else np.zeros_like(dy) for i, dy in enumerate(dys)]
            nones = [dy if i == number else None for i, dy in enumerate(dys)]
            expected = call.backward(call.forward(arrays)[0], zeros)
            for dx, other in zip(call.backward(call.forward(arrays)[0], nones), expected):
                assert_close(dx, other, call, f"{call} with only dy {number}")


@each_row
@each_set
def test_fresh_gradients_share_no_memory(row: Sample):
    """A leaf keeps the gradient of a `fresh` op uncopied: nobody else may hold it."""
    if not row.op.owns_grads:
        return
    for call in row.cases():
        arrays = call.arrays(np.float64)
        saved, ys = call.forward(arrays)
        dys = call.cotangents(ys)
        if not any(saved.needs) or all(dy is None for dy in dys):
            continue
        dxs = [dx for dx in call.backward(saved, dys) if dx is not None and dx.size]
        others = [a for a in (*arrays, *ys, *dys) if a is not None]
        for number, dx in enumerate(dxs):
            for other in (*others, *dxs[:number]):
                assert not np.shares_memory(dx, other), f"{call}: gradient {number} is not its own memory"


@each_row
@each_dtype
def test_fast_kernels_agree_with_the_plain_ones_to_rounding(row: Sample, dtype):
    for call in (*row.cases(), *row.threads()):
        with kernels.use("reference"):
            ys, dxs = call.both(dtype)
        with kernels.use("numba"):
            fast_ys, fast_dxs = call.both(dtype)
        for expected, found in zip((*ys, *(dxs or ())), (*fast_ys, *(fast_dxs or ()))):
            assert_close(found, expected, call, f"{call} fast against plain")


@each_row
def test_bits_do_not_depend_on_the_number_of_threads(row: Sample, threads):
    for call in row.threads():
        bits = []
        for count in (1, 2, 4):
            with kernels.use("numba"), threads(count):
                ys, dxs = call.both(np.float32)
            bits.append([a.tobytes() for a in (*ys, *(dxs or ())) if a is not None])
        assert bits[0] == bits[1] == bits[2], f"{call}: other bits on another number of threads"


def test_every_op_has_a_row_and_a_docstring():
    ops, with_row = all_ops(), {row.op for row in ROWS}
    assert ops, "badak.ops defines no op"
    assert not (missing := sorted(op.__name__ for op in ops - with_row)), f"add a row to tests/sample_rows for {missing}"
    assert not (silent := sorted(op.__name__ for op in ops if not op.__doc__)), f"write both formulas into {silent}"


def test_every_row_covers_an_empty_input_and_a_single_number():
    for op in all_ops():
        sizes = {a.size for row in ROWS if row.op is op for c in row.cases() for a in c.arrays(np.float32) if a is not None}
        one = 2 if op.__name__ == "ViewAsComplex" else 1  # a complex number comes as two
        assert 0 in sizes and one in sizes, f"{op.__name__}: add a case of size 0 and one of size 1; sizes are {sorted(sizes)}"
