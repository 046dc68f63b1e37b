"""The same numbers in other places of new memory: turned, moved around the end, repeated, copied."""

from typing import Any

import numpy as np

from badak import kernels
from badak.ops._broadcast import by_rows, elementwise, reshaped_as, zeros
from badak.ops.along import IndexAdd
from badak.ops.batching import aligned, along, reshaped
from badak.ops.operation import MOVES, operation

Reshape = operation(
    "Reshape", "y = x in another shape, where no view can show it;   dx = dy in x's shape.",
    lambda x, shape: kernels.of(x).contiguous(x).reshape(shape),
    lambda dy, x_shape: reshaped_as(dy, x_shape),
    owns_grads=False, capturable=True, batching=reshaped, **MOVES,
)  # fmt: skip


Flip = operation(
    "Flip", "y = x with the order along `axes` reversed;   dx = dy with it reversed back.",
    lambda x, axes: np.flip(x, axes).copy("K"),
    lambda dy, axes: np.flip(dy, axes).copy(),
    lies=elementwise, batching=along("axes"), **MOVES,
)  # fmt: skip


def _each_rolled(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    if attributes["axes"] is None:
        return run(op, xs[0].flatten(1), shifts=attributes["shifts"], axes=(1,)).reshape(xs[0].shape)
    return along("axes")(run, op, xs, batched, attributes)


Roll = operation(
    "Roll", "y[i + shift] = x[i], around the end, along each of `axes` (None: as if flat);   dx = dy rolled back.",
    lambda x, shifts, axes: np.roll(x, shifts, axes),
    lambda dy, shifts, axes: np.roll(dy, tuple(-s for s in shifts), axes),
    lies=by_rows, batching=_each_rolled, **MOVES,
)  # fmt: skip


def _summed_copies(dy: Any, times: tuple[int, ...], x_shape: tuple[int, ...]) -> Any:
    lead = (1,) * (len(times) - len(x_shape))
    copies = dy.reshape([n for pair in zip(times, lead + x_shape) for n in pair])  # (times, size, times, size, ...)
    return copies.sum(tuple(range(0, 2 * len(times), 2)), dtype=dy.dtype).reshape(x_shape)


def _each_repeated(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    times = attributes["times"]
    return run(op, aligned(xs[0], len(times)), times=(1, *times))


Repeat = operation(
    "Repeat", "y = x laid out times[a] times along each axis a;   dx = the sum of dy over the copies.",
    lambda x, times: np.tile(x, times), _summed_copies, lies=by_rows, keeps_finite=True, batching=_each_repeated,
)  # fmt: skip


def _interleaved_back(dy: Any, x_shape: tuple[int, ...], times: np.ndarray | int, axis: Any) -> Any:
    if isinstance(times, int):
        apart = dy.reshape(*x_shape[: axis + 1], times, *x_shape[axis + 1 :])
        return apart.sum(axis + 1, dtype=dy.dtype)
    return IndexAdd.of(zeros(x_shape, dy), np.repeat(np.arange(x_shape[axis]), times), dy, dim=axis)


RepeatInterleave = operation(
    "RepeatInterleave",
    "y = each entry of x along `axis`, `times` times in a row (a number, or one for each entry);   dx = sums of dy.",
    lambda x, times, axis: np.repeat(x, times, axis), _interleaved_back,
    sized_by_values=lambda times, axis: not isinstance(times, int), saves_no_tensors=False,
)  # fmt: skip
