"""What broadcasting does to shapes, and its reverse for gradients."""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from numpy import ndarray

from badak import kernels
from badak.core.errors import ShapeError, tr
from badak.core.modes import anywhere, modes
from badak.kernels import LARGE, half
from badak.kernels.memory_format import laid
from badak.kernels.reference._arrays import at_places
from badak.kernels.reference._arrays import by_rows as by_rows
from badak.kernels.reference._arrays import elementwise as elementwise
from badak.kernels.reference._arrays import (
    quiet as quiet,  # PyTorch, too, computes through overflow, 0/0 and log(0) in silence
)

_NUMBERS = {float, int, bool, complex}


def each(ufunc: Callable, a: Any, b: Any) -> np.ndarray:
    """ufunc(a, b), of which one may be a number, in memory as `kernels/memory_format.py` says.

    By kernels where it is large, or is recorded, as only they are replayed without Python.
    """
    one, other = type(a), type(b)
    if one is not ndarray and one not in _NUMBERS or other is not ndarray and other not in _NUMBERS:
        return ufunc(a, b)
    x = a if one is ndarray else b
    if x.size >= LARGE or (other is ndarray and b.size >= LARGE) or (anywhere.has_observers and modes.observer is not None):
        return kernels.of(x).arithmetic(ufunc, a, b)
    if one is not other and x.itemsize == 2:  # NumPy would round the number to bfloat16 first
        return kernels.reference.arithmetic(ufunc, a, b)
    y = ufunc(a, b)
    # one number seen as many, as the gradient of a sum is, says nothing of an order
    if (not x.flags.c_contiguous and any(x.strides)) or (other is ndarray and not b.flags.c_contiguous and any(b.strides)):
        return laid(y, a, b)
    return y


def summing(backward: Callable) -> Callable:
    """A backward that adds numbers up: 16-bit ones in float32, rounded once."""

    @wraps(backward)
    def wide(saved: Any, dy: Any) -> Any:
        if not half.is_half(dy):
            return backward(saved, dy)
        dxs = backward(saved, dy.astype(np.float32))
        return tuple(dx if dx is None else dx.astype(dy.dtype) for dx in dxs) if type(dxs) is tuple else dxs.astype(dy.dtype)

    return wide


def expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of `shape` can be stretched to the shape `to`."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(reversed(shape), reversed(to)))


def unbroadcast(dy: np.ndarray, shape: tuple) -> np.ndarray:
    """Sum dy down to `shape`: the gradient of stretching an array of `shape` to dy's shape."""
    if dy.shape == shape:
        return dy
    extra = dy.ndim - len(shape)
    if dy.shape[extra:] == shape and dy.flags.c_contiguous and dy.size and (dy.dtype.char in "fd" or dy.dtype == half.BFLOAT16):
        size = math.prod(shape)
        return kernels.of(dy).column_sum(dy.reshape(dy.size // size, size)).reshape(shape)
    axes = tuple(range(extra)) + tuple(extra + i for i, n in enumerate(shape) if n == 1 and dy.shape[extra + i] != 1)
    if half.is_half(dy):
        return dy.sum(axis=axes, keepdims=True, dtype=np.float32).astype(dy.dtype).reshape(shape)
    return dy.sum(axis=axes, keepdims=True, dtype=dy.dtype).reshape(shape)


def stretched(*shapes: Any) -> tuple[int, ...]:
    """The common shape of `shapes`, or ShapeError with the axis at which they clash."""
    ndim = max(map(len, shapes))
    result = [1] * ndim
    for shape in shapes:
        for i, n in enumerate(shape, ndim - len(shape)):
            if result[i] == 1:
                result[i] = n
            elif n not in (1, result[i]):
                cause = tr("The size of tensor a ({}) must match the size of tensor b ({}) "
                           "at non-singleton dimension {}; the shapes are {}", result[i], n, i,
                           " and ".join(map(str, map(tuple, shapes))))  # fmt: skip
                fix = tr("sizes are aligned from the right and must be equal or 1: add axes with unsqueeze, or reshape one")
                raise ShapeError(cause, fix)
    return tuple(result)


def summed(dy: Any, size: tuple) -> Any:
    """dy summed down to what was stretched to its shape, in operations."""
    axes = tuple(a for a, n in enumerate((1,) * (dy.ndim - len(size)) + tuple(size)) if n == 1 != dy.shape[a])
    return (dy.sum(axis=axes, keepdims=True) if axes else dy).reshape(size)


def reshaped_as(dy: np.ndarray, shape: tuple) -> np.ndarray:
    """dy in another shape: a view, or where none shows it a copy by a kernel."""
    if type(dy) is not ndarray or dy.flags.c_contiguous:
        return dy.reshape(shape)
    try:
        return dy.reshape(shape, copy=False)
    except ValueError:
        return kernels.of(dy).contiguous(dy).reshape(shape)


def zeros(shape: Any, like: Any) -> Any:
    """Zeros of like's dtype: a constant where that records what is done to it."""
    return np.zeros_like(like, shape=shape)


def add_rows(shape: tuple[int, ...], dim: Any, index: Any, dy: Any) -> np.ndarray:
    """Zeros of `shape` with dy's k-th slice along `dim` added to slice index[k]."""
    if dy.dtype.kind == "f" and dy.dtype.itemsize >= 4 and dy.size:
        rows = np.moveaxis(dy, dim, 0).reshape(index.size, -1)
        dx = kernels.of(dy).embedding_backward(rows, index, shape[dim])
        return np.moveaxis(dx.reshape(shape[dim], *shape[:dim], *shape[dim + 1 :]), 0, dim)
    dx = np.zeros(shape, dy.dtype)
    at_places(np.add, dx, (slice(None),) * dim + (index,), dy)
    return dx
