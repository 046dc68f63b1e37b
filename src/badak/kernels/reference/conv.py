"""Convolutions of an array with the weight's windows, and their gradients, as products with the windows of the input.

x (N, C, *S), w (M, C/G, *K) with G groups of channels -> y (N, M, *O). `at` = (stride, padding, dilation). With cols (N, G, J, L)
the windows of x, one column of J = C/G prod(K) numbers for each of L = prod(O) places, and W the weight as (G, M/G, J): y = W cols.
"""

import math
from typing import Any

from badak.kernels.reference import matmul, windows
from badak.kernels.reference._arrays import Array

Sizes = tuple[int, ...]


def conv(x: Array, w: Array, at: tuple[Sizes, Sizes, Sizes], groups: int, out: Sizes) -> Array:
    """y (N, M, *O) = W cols."""
    y = matmul.matmul(_weight(w, groups), _columns(windows, x, w.shape, at, groups, out))
    return y.reshape(x.shape[0], w.shape[0], *out)


def conv_dx(dy: Array, w: Array, at: tuple[Sizes, Sizes, Sizes], groups: int, size: Sizes) -> Array:
    """dx (N, C, *size): W^T dy, each number added where the windows came from: the adjoint of `conv` in x."""
    cols = matmul.matmul(_weight(w, groups).swapaxes(1, 2), grouped(dy, groups))  # (N, G, J, L)
    return windows.fold(cols.reshape(dy.shape[0], groups * w.shape[1], *w.shape[2:], *dy.shape[2:]), size, *at)


def conv_dw(dy: Array, x: Array, shape: Sizes, at: tuple[Sizes, Sizes, Sizes], groups: int) -> Array:
    """dw (*shape) = sum_n dy cols^T."""
    return _products(matmul.matmul, dy, _columns(windows, x, shape, at, groups, dy.shape[2:]), groups).reshape(shape)


def _columns(of: Any, x: Any, shape: Sizes, at: tuple[Sizes, Sizes, Sizes], groups: int, out: Sizes) -> Any:
    """The windows of x by of.unfold, (N, G, J, L)."""
    return of.unfold(x, shape[2:], *at, out).reshape(x.shape[0], groups, math.prod(shape[1:]), math.prod(out))


def _products(multiply: Any, dy: Any, cols: Any, groups: int) -> Any:
    """sum_n dy cols^T as one product for each group: (G, M/G, N L) (G, N L, J)"""
    left, right = (each.transpose(1, 2, 0, 3) for each in (grouped(dy, groups), cols))
    left, right = (each.reshape(*each.shape[:2], each.shape[2] * each.shape[3]) for each in (left, right))
    return multiply(left, right.swapaxes(1, 2))


def _weight(w: Array, groups: int) -> Array:
    """(G, M/G, J)"""
    return w.reshape(groups, w.shape[0] // groups, math.prod(w.shape[1:]))


def grouped(y: Any, groups: int) -> Any:
    """(N, M, *O) as (N, G, M/G, L)"""
    return y.reshape(y.shape[0], groups, y.shape[1] // groups, math.prod(y.shape[2:]))
