"""Arrays with entries around them."""

from typing import Any

import numpy as np

from badak.kernels.memory_format import joined
from badak.ops._broadcast import zeros
from badak.ops.along import IndexAdd
from badak.ops.batching import adapted
from badak.ops.op import Op
from badak.ops.operation import MOVES, operation


def _windows(shape: tuple[int, ...], pads: tuple) -> tuple:
    """Where the input and its padded output overlap: (slices of the input, slices of the output)."""
    inside, outside = [], []
    for n, (before, after) in zip(shape, pads):
        inside.append(slice(max(0, -before), max(0, n - max(0, -after))))
        outside.append(slice(max(0, before), max(0, n + before + min(0, after))))
    return tuple(inside), tuple(outside)


def _padded(x: np.ndarray, pads: tuple, value: float = 0.0) -> np.ndarray:
    inside, outside = _windows(x.shape, pads)
    y = joined(tuple([n + before + after for n, (before, after) in zip(x.shape, pads)]), x.dtype, x)
    y.fill(value)
    y[outside] = x[inside]
    return y


def _inside(dy: np.ndarray, x_shape: tuple[int, ...], pads: tuple) -> np.ndarray:
    inside, outside = _windows(x_shape, pads)
    dx = np.zeros(x_shape, dy.dtype)
    dx[inside] = dy[outside]
    return dx


Pad: type[Op] = operation(
    "Pad", "y = x with pads[a] = (before, after) entries of `value` along each axis, negative ones cut off;   dx = dy inside.",
    _padded, _inside, twice=(lambda dy, pads: Pad.of(dy, pads=tuple((-before, -after) for before, after in pads)),),
    batching=adapted(pads=lambda pads, x: ((0, 0), *pads)), **MOVES,
)  # fmt: skip


class PadBy(Op):
    """y = x with entries of its own around it: for each (axis, rows) of `takes`, y[i] = x[rows[i]] along that axis.

    dx[rows[i]] += dy[i]. `rows` mirror, repeat or wrap around the edge.
    """

    batching = staticmethod(adapted(takes=lambda takes, x: [(axis + 1, rows) for axis, rows in takes]))

    @staticmethod
    def forward(save: Any, x: np.ndarray, takes: tuple) -> np.ndarray:
        save.takes, save.shapes = takes, []
        for axis, rows in takes:
            save.shapes.append(x.shape)
            x = x.take(rows, axis)
        return x

    @staticmethod
    def backward(saved: Any, dy: Any) -> Any:
        for (axis, rows), size in zip(reversed(saved.takes), reversed(saved.shapes)):
            dy = IndexAdd.of(zeros(size, dy), rows, dy, dim=axis)
        return dy
