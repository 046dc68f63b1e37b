"""Windows that slide over the last axes of an array: cut out, put back, their maximum and their mean.

x (N, C, *S). With D = len(S) spatial axes, a window of size K starts at `stride` o - `padding` for each output position o < O
and takes every `dilation`-th entry. What lies outside x counts as 0 (as -inf for the maximum). The number of windows O is the
caller's choice: they may hang over the end. All of it is a loop over the prod(K) places in a window, each a strided slice of x.
"""

import itertools

import numpy as np

from badak.kernels.reference._arrays import Array, at_places, quiet

Sizes = tuple[int, ...]


@quiet
def unfold(x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out: Sizes) -> Array:
    """cols (N, C, *K, *O): cols[n, c, k, o] = x[n, c, o stride - padding + k dilation]."""
    padded = _padded(x, kernel, stride, padding, dilation, out, 0)
    cols = np.empty((*x.shape[:2], *kernel, *out), x.dtype)
    for k in _places(kernel):
        cols[(..., *k, *_all(out))] = padded[(..., *_slices(k, stride, dilation, out))]
    return cols


@quiet
def fold(cols: Array, size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Array:
    """x (N, C, *size): every entry of cols (N, C, *K, *O) added where `unfold` would have taken it from: its adjoint."""
    axes = len(size)
    kernel, out = cols.shape[2 : 2 + axes], cols.shape[2 + axes :]
    padded: Array = np.zeros((*cols.shape[:2], *_reach(size, kernel, stride, padding, dilation, out)), cols.dtype)
    for k in _places(kernel):
        padded[(..., *_slices(k, stride, dilation, out))] += cols[(..., *k, *_all(out))]
    return padded[(..., *(slice(p, p + n) for p, n in zip(padding, size)))].copy()


@quiet
def max_pool(x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out: Sizes) -> tuple[Array, Array]:
    """y, index (N, C, *O): the largest entry of each window (the first of equals; NaN if there is one) and its place in S."""
    padded = _padded(x, kernel, stride, padding, dilation, out, -np.inf)
    y = np.full((*x.shape[:2], *out), -np.inf, x.dtype)
    index = np.full(y.shape, -1, np.int64)
    for k in _places(kernel):
        value = padded[(..., *_slices(k, stride, dilation, out))]
        place, inside = _place(k, x.shape[2:], stride, padding, dilation, out)
        better = ((value > y) | (value != value) | (index < 0)) & inside
        y, index = np.where(better, value, y), np.where(better, place, index)
    return y, index


@quiet
def max_pool_backward(dy: Array, index: Array, size: Sizes) -> Array:
    """dx (N, C, *size): each dy goes to the entry that was the largest."""
    rows = dy.shape[0] * dy.shape[1]
    items = 1
    for n in size:
        items *= n
    dx = np.zeros((rows, items), dy.dtype)
    if dy.size:
        at_places(np.add, dx, (np.arange(rows)[:, None], index.reshape(rows, -1)), dy.reshape(rows, -1))
    return dx.reshape(*dy.shape[:2], *size)


@quiet
def avg_pool(x: Array, kernel: Sizes, stride: Sizes, padding: Sizes, out: Sizes, counts: Array) -> Array:
    """y (N, C, *O): the sum of each window divided by counts (*O)."""
    ones = (1,) * len(kernel)
    padded = _padded(x, kernel, stride, padding, ones, out, 0)
    y = np.zeros((*x.shape[:2], *out), x.dtype)
    for k in _places(kernel):
        y += padded[(..., *_slices(k, stride, ones, out))]
    return y / counts.astype(x.dtype)


@quiet
def avg_pool_backward(dy: Array, size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, counts: Array) -> Array:
    """dx (N, C, *size): each dy / counts is added to every entry of its window."""
    share = dy / counts.astype(dy.dtype)
    spread = (*dy.shape[:2], *(1,) * len(kernel), *dy.shape[2:])
    cols = np.broadcast_to(share.reshape(spread), (*dy.shape[:2], *kernel, *dy.shape[2:]))
    return fold(cols, size, stride, padding, (1,) * len(kernel))


def _places(kernel: Sizes):
    return itertools.product(*(range(n) for n in kernel))


def _all(out: Sizes) -> tuple[slice, ...]:
    return (slice(None),) * len(out)


def _slices(k: Sizes, stride: Sizes, dilation: Sizes, out: Sizes) -> tuple[slice, ...]:
    """Where, in the padded array, place k of every window lies."""
    return tuple(slice(i * d, i * d + max((o - 1) * s + 1, 0), s) for i, s, d, o in zip(k, stride, dilation, out))


def _reach(size: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, out: Sizes) -> Sizes:
    """Sizes of the padded array: as far as the last window reaches, and x with its padding."""
    return tuple(
        max(n + 2 * p, (o - 1) * s + d * (k - 1) + 1) for n, k, s, p, d, o in zip(size, kernel, stride, padding, dilation, out)
    )


def _padded(x, kernel, stride, padding, dilation, out, value) -> Array:
    reach = _reach(x.shape[2:], kernel, stride, padding, dilation, out)
    if reach == x.shape[2:]:
        return x
    padded: Array = np.full((*x.shape[:2], *reach), value, x.dtype)
    padded[(..., *(slice(p, p + n) for p, n in zip(padding, x.shape[2:])))] = x
    return padded


def _place(k, size, stride, padding, dilation, out) -> tuple[Array, Array]:
    """For place k of every window: its position in S, flattened, and whether it lies inside."""
    place, inside = np.zeros((), np.int64), np.ones((), bool)
    for axis, (i, n, s, p, d, o) in enumerate(zip(k, size, stride, padding, dilation, out)):
        at = (np.arange(o) * s - p + i * d).reshape((-1, *(1,) * (len(out) - 1 - axis)))
        place, inside = place * n + at, inside & (at >= 0) & (at < n)
    return place, inside
