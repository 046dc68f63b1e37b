"""Other views of the same memory: nothing is copied, the gradient goes back through the same change of shape."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.memory_format import empty, turn
from badak.ops._broadcast import reshaped_as, summing, unbroadcast, zeros
from badak.ops.along import IndexAdd
from badak.ops.batching import adapted, aligned, along, reshaped
from badak.ops.concat import Stack
from badak.ops.copy_slices import WriteView
from badak.ops.op import Op
from badak.ops.operation import operation

_VIEW: dict = {"view": True, "owns_grads": False}
View = operation(
    "View", "y = x in another shape;   dx = dy in x's shape.",
    lambda x, shape: x.reshape(shape),
    lambda dy, x_shape: reshaped_as(dy, x_shape),
    capturable=True, batching=reshaped, **_VIEW,
)  # fmt: skip


Transpose = operation(
    "Transpose", "y = x with axes a and b exchanged;   dx = dy with them exchanged back.",
    lambda x, a, b: x.swapaxes(a, b),
    lambda dy, a, b: dy.swapaxes(a, b),
    batching=along("a", "b"), **_VIEW,
)  # fmt: skip


def _put_back(dy: Any, axes: tuple[int, ...]) -> Any:
    inverse = [0] * len(axes)
    for i, a in enumerate(axes):
        inverse[a] = i
    return dy.transpose(inverse)


Permute = operation(
    "Permute", "y[i] = x's axis axes[i], in the order of `axes`;   dx = dy in the inverse order.",
    lambda x, axes: x.transpose(axes), _put_back,
    batching=adapted(axes=lambda axes, x: (0, *(a % (x.ndim - 1) + 1 for a in axes))), **_VIEW,
)  # fmt: skip


def _expanded(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    before = len(shape) - x.ndim
    if tuple(shape[before:]) == x.shape and math.prod(shape[:before]) == 1:  # nothing is stretched: it can be written to
        return x[(None,) * before + (...,)]
    return np.broadcast_to(x, shape)


def _each_expanded(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    shape = attributes["shape"]
    return run(op, aligned(xs[0], len(shape)), shape=(xs[0].shape[0], *shape))


Expand = operation(
    "Expand", "y = x seen as if repeated along axes of size 1;   dx = dy summed over them.", _expanded,
    lambda dy, x_shape: unbroadcast(dy, x_shape),
    keeps_finite=True, batching=_each_expanded, **_VIEW,
)  # fmt: skip


class Split(Op):
    """y_k = the k-th piece of x along `axis`, of sizes[k];   dx = the dy_k side by side, 0 for missing ones."""

    view = True
    pieces = True
    capturable = True

    @staticmethod
    def forward(save: Any, x: np.ndarray, sizes: tuple[int, ...], axis: int) -> tuple:
        save.shape, save.sizes, save.axis = x.shape, sizes, axis
        return tuple([x[key] for key in _pieces(sizes, axis)])

    @staticmethod
    def backward(saved: Any, *dys: Any) -> Any:
        axis, shape = saved.axis, saved.shape
        side_by_side = _joined(dys, shape, axis)
        if side_by_side is not None:
            return side_by_side
        like = next(dy for dy in dys if dy is not None)
        whole = [zeros((*shape[:axis], n, *shape[axis + 1 :]), like) if dy is None else dy for n, dy in zip(saved.sizes, dys)]
        return kernels.of(like).concatenate(whole, axis)


def _joined(dys: tuple, shape: tuple[int, ...], axis: int) -> Any:
    """The array of which the dys are the pieces along the last axis already, None where they are not.

    Attention leaves the gradients of q, k and v this way. Nobody else holds them: what a
    hook has seen is copied (`autograd/engine.py`).
    """
    first = dys[0]
    if axis != len(shape) - 1 or type(first) is not np.ndarray or first.base is None:
        return None
    base, at = first.base, first.__array_interface__["data"][0]
    if base.size != math.prod(shape) or not base.flags.c_contiguous or at != base.__array_interface__["data"][0]:
        return None
    strides = base.reshape(shape).strides
    for dy in dys:
        if dy is None or dy.base is not base or dy.strides != strides or dy.__array_interface__["data"][0] != at:
            return None
        at += dy.shape[-1] * dy.itemsize
    return base.reshape(shape)


@lru_cache
def _pieces(sizes: tuple[int, ...], axis: int) -> list:
    """The keys of the pieces; kept, as a model makes the same few splits again and again (0.5 us for three pieces)."""
    keys, at, before = [], 0, (slice(None),) * axis
    for n in sizes:
        keys.append((*before, slice(at, at + n)))
        at += n
    return keys


class Unbind(Op):
    """y_k = x[k] along `axis`;   dx = the dy_k stacked, 0 for missing ones.

    dx lies in memory as x does: where x is a turned view of a packed projection, turning dx back copies nothing.
    """

    view = True
    pieces = True

    @staticmethod
    def forward(save: Any, x: Any, axis: Any) -> tuple:
        save.shape, save.turned, save.axis = x.shape, turn(x.shape, x), axis
        before = (slice(None),) * axis
        return tuple([x[(*before, k, ...)] for k in range(x.shape[axis])])

    @staticmethod
    def backward(saved: Any, *dys: Any) -> np.ndarray:
        axis = saved.axis
        dtype = next(dy.dtype for dy in dys if dy is not None)
        dx = empty(saved.shape, dtype, saved.turned)
        before = (slice(None),) * axis
        for k, dy in enumerate(dys):
            dx[(*before, k)] = 0 if dy is None else dy
        return dx

    @staticmethod
    def double_backward(saved: Any, *dys: Any) -> Any:
        axis, like = saved.axis, next(dy for dy in dys if dy is not None)
        rest = (*saved.shape[:axis], *saved.shape[axis + 1 :])
        return Stack.of(*(zeros(rest, like) if dy is None else dy for dy in dys), axis=axis)


def _diagonal(x: np.ndarray, offset: Any, a: int, b: int) -> np.ndarray:
    """As x.diagonal, but one that can be written to."""
    x = np.moveaxis(x, (a, b), (-2, -1))
    x = x[..., offset:] if offset >= 0 else x[..., -offset:, :]
    n = min(x.shape[-2:])
    return np.einsum("...ii->...i", x[..., :n, :n])


def _on_diagonal(dy: Any, x_shape: tuple[int, ...], offset: int, a: int, b: int) -> Any:
    return WriteView.of(zeros(x_shape, dy), dy, steps=((Diagonal, {"offset": offset, "a": a, "b": b}, 0),))


Diagonal = operation(
    "Diagonal", "y[..., k] = x[.., k, .., k + offset, ..] for axes a, b;   dx = dy on that diagonal, 0 elsewhere.",
    _diagonal, _on_diagonal, view=True, batching=along("a", "b"),
)  # fmt: skip


class Unfold(Op):
    """y[.., k, .., j] = x[.., k step + j, ..]: windows along `axis`;   dx = the sum of dy over the windows.

    The windows share memory with x and with one another, so they can only be read.
    """

    data_movement = True
    saves_no_tensors = True

    @staticmethod
    def forward(save: Any, x: np.ndarray, axis: int, size: int, step: int) -> np.ndarray:
        save.shape, save.axis, save.step = x.shape, axis, step
        windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
        return windows[(slice(None),) * axis + (slice(None, None, step),)]

    @staticmethod
    @summing
    def backward(saved: Any, dy: np.ndarray) -> np.ndarray:
        axis, step = saved.axis, saved.step
        dx = np.zeros(saved.shape, dy.dtype)
        before, n = (slice(None),) * axis, dy.shape[axis]
        for j in range(dy.shape[-1]):
            if n:
                dx[(*before, slice(j, j + (n - 1) * step + 1, step))] += dy[..., j]
        return dx

    @staticmethod
    def double_backward(saved: Any, dy: Any) -> Any:
        """dy (.., k, .., j) added at k step + j of the axis."""
        axis, ndim = saved.axis, len(saved.shape)
        places = np.arange(dy.shape[axis])[:, None] * saved.step + np.arange(dy.shape[-1])
        order = [*range(axis + 1), ndim, *range(axis + 1, ndim)]
        side_by_side = dy.transpose(order).reshape(*saved.shape[:axis], places.size, *saved.shape[axis + 1 :])
        return IndexAdd.of(zeros(saved.shape, dy), places.ravel(), side_by_side, dim=axis)
