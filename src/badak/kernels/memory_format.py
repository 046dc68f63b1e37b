"""In which order the values of a result lie in memory. That is part of what an operation means: whether a view of the
result exists depends on it, and so does the order in which a later sum adds, that is, its last bits.

As in PyTorch there are three kinds of results, whatever the kernel set and however many threads compute them:

1. A view lies where the array lies that it shows.
2. The result of an elementwise operation lies as its inputs lie: `like`. Of two axes the one along which the first input
   takes longer steps is the outer one; where that input does not say, because it is constant along one of them, the next
   input decides, and where none does they stay in row-major order. A gap in the input leaves no gap in the result.
3. Every other result is row-major: sums, products, softmax, normalisation, gathered, repeated and padded values.

The gradient of a leaf lies as the leaf does, where that fills its memory: `of_gradient`.

Between 2 and 3 stand joined and padded images, which stay channels-last where all of them are (`joined`), and the result of
attention, which lies as the queries do (`heads_like`). Axes of size 1 have no order, nor has an array of size 0.
"""

from functools import lru_cache
from typing import Any

import numpy as np

Array = Any
Turn = tuple[tuple[int, ...], tuple[int, ...]]  # an order of axes, and the order that leads back


def turn(shape: tuple[int, ...], *xs: Array) -> Turn | None:
    """How to turn the axes of `shape` so that an elementwise result of xs is row-major; None where it is already."""
    for x in xs:
        if not x.flags.c_contiguous:
            return _turn(shape, *[(x.shape, x.strides) for x in xs])
    return None


@lru_cache(4096)
def _turn(shape: tuple[int, ...], *inputs: tuple[tuple[int, ...], tuple[int, ...]]) -> Turn | None:
    """The axes by insertion sort from the narrowest on, as PyTorch's TensorIterator sorts them.

    The result of a sort in which some pairs compare as "neither" depends on the way it goes, so the way is the same.
    """
    steps = []
    for sizes, strides in inputs:
        known = [0 if n == 1 else abs(step) for n, step in zip(sizes, strides)]
        steps.append([0] * (len(shape) - len(sizes)) + known)
    axes = list(range(len(shape)))[::-1]
    for start in range(1, len(axes)):
        at = start
        for other in reversed(range(start)):
            wider = _wider(axes[other], axes[at], steps, shape)
            if wider > 0:
                axes[other], axes[at] = axes[at], axes[other]
                at = other
            elif wider < 0:
                break
    axes = axes[::-1]
    return None if axes == sorted(axes) else (tuple(axes), tuple(np.argsort(axes).tolist()))


def _wider(a: int, b: int, steps: list[list[int]], shape: tuple[int, ...]) -> int:
    """1 where axis a is outside of axis b, -1 where it is inside, 0 where no input says."""
    for step in steps:
        if step[a] and step[b]:
            if step[a] != step[b]:
                return 1 if step[a] > step[b] else -1
            if shape[a] > shape[b]:
                return 1
    return 0


def empty(shape: tuple[int, ...], dtype: Any, turned: Turn | None) -> np.ndarray:
    """An empty array whose axes lie in memory as `turn` says."""
    if turned is None:
        return np.empty(shape, dtype)
    axes, back = turned
    return np.empty([shape[a] for a in axes], dtype).transpose(back)


def laid(y: Array, *inputs: Any) -> Array:
    """y, copied where it does not lie as an elementwise result of the arrays among `inputs` does."""
    for x in inputs:
        if type(x) is np.ndarray and not x.flags.c_contiguous:
            break
    else:
        return row_major(y)
    xs = [x for x in inputs if type(x) is np.ndarray]
    turned = turn(y.shape, *xs)
    if (y if turned is None else y.transpose(turned[0])).flags.c_contiguous:
        return y
    made = empty(y.shape, y.dtype, turned)
    made[...] = y
    return made


def of_gradient(dy: Array, x: Array) -> Array:
    """dy, copied where it does not lie as the gradient of a leaf x does: as x where x fills its memory, else row-major."""
    if dy.flags.c_contiguous and x.flags.c_contiguous:
        return dy
    turned = turn(x.shape, x)
    if turned is None or not x.transpose(turned[0]).flags.c_contiguous:
        return row_major(dy)
    return laid(dy, x)


def copied(x: Array) -> np.ndarray:
    """A copy of x that lies as x does, without its gaps."""
    return laid(x.copy("K"), x)


def row_major(y: Array) -> Array:
    """y, copied where it is not row-major."""
    return y if y.flags.c_contiguous else y.copy()


def channels_innermost(x: Array) -> Array:
    """A copy of the images x (N, C, ...) in whose memory the channels of a pixel lie side by side."""
    return np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1)


def joined(shape: tuple[int, ...], dtype: Any, *xs: Array) -> np.ndarray:
    """An empty array for images side by side or padded: channels-last where every one of xs is, else row-major."""
    if len(shape) in (4, 5) and all(map(channels_last, xs)):
        return np.moveaxis(np.empty((shape[0], *shape[2:], shape[1]), dtype), -1, 1)
    return np.empty(shape, dtype)


def channels_last(x: Array, lines: bool = False) -> bool:
    """Whether x (N, C, H, W) or (N, C, D, H, W) has C inside of all other axes; as in PyTorch, not where C says nothing.

    lines: x may also be (N, C, L), for operations that PyTorch runs as those of images of one row.
    """
    if x.ndim not in ((3, 4, 5) if lines else (4, 5)) or x.strides[1] == 0:
        return False
    least = 0
    for axis in (1, *range(x.ndim - 1, 1, -1), 0):
        if x.shape[axis] == 0 or x.strides[axis] < least or (axis == 0 and least == x.strides[1]):
            return False
        least = x.strides[axis] * x.shape[axis]
    return True


def heads_like(q: Array, width: int, parts: tuple[int, ...] = ()) -> np.ndarray:
    """An empty (*parts, B, H, T, width) for q (B, H, T, D), each part in memory as q is.

    Row-major where q's last axis is not the innermost one, or the width another than D.
    """
    batch, heads, queries, size = q.shape
    per_batch, per_head, per_query, per_number = q.strides
    if width == size and per_batch >= per_query >= per_head >= per_number:  # cut from (B, T, C)
        return np.empty((*parts, batch, queries, heads, width), q.dtype).swapaxes(-3, -2)
    turned = turn(q.shape, q)
    if width != size or turned is None or turned[0][3] != 3:
        return np.empty((*parts, batch, heads, queries, width), q.dtype)
    axes, back = turned
    made = np.empty((*parts, *[q.shape[a] for a in axes]), q.dtype)
    return made.transpose(*range(len(parts)), *[len(parts) + a for a in back])
