"""Arrays that lie nowhere: shape, dtype and strides over memory that is never touched, and so never given by the system."""

import math
import mmap
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_FIRST = 1 << 36  # bytes of addresses, not of memory
_regions: list[np.ndarray] = []


class _Unfilled(threading.local):
    """Whether memory is being made that will be taken away again, so that nothing need be drawn into it."""

    on = False


unfilled = _Unfilled()


filled: list[Callable[[], bool]] = []  # whether new memory is filled, so that who reads it finds the same each time


def new_memory(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """np.empty, or NaN, or the largest integer, or True, where use_deterministic_algorithms asks for it."""
    made = np.empty(shape, dtype)
    if filled[0]():
        kind = made.dtype.kind
        made.fill(np.iinfo(dtype).max if kind in "iu" else True if kind == "b" else np.nan)
    return made


def description(shape: tuple, dtype: np.dtype, strides: tuple | None = None) -> np.ndarray:
    """An array of this shape, dtype and strides (in bytes; those of row-major order by default) that cannot be written to."""
    shape = tuple(shape)
    if 0 in shape:
        return np.empty(shape, dtype)
    steps = strides or ()
    reach = sum((n - 1) * step for n, step in zip(shape, steps)) + dtype.itemsize if steps else 0
    region = _region(max(reach, dtype.itemsize * math.prod(shape) if not steps else 0))
    return np.ndarray(shape, dtype, region, 0, strides)


def like(array: np.ndarray) -> np.ndarray:
    """The description of an array."""
    return description(array.shape, array.dtype, array.strides)


def untouched(shape: tuple, dtype: np.dtype, order: tuple[int, ...]) -> np.ndarray:
    """New memory that the system gives when it is written to; `order`: the axes from the slowest to the fastest."""
    size, steps = dtype.itemsize, {}
    for axis in reversed(order):
        steps[axis], size = size, size * max(shape[axis], 1)
    strides = tuple(steps[axis] for axis in range(len(shape)))
    try:
        return np.ndarray(shape, dtype, mmap.mmap(-1, size, _flags()), 0, strides)
    except (OSError, ValueError, OverflowError):
        return description(shape, dtype, strides)


def _flags() -> int:
    if sys.platform == "win32":
        raise OSError
    return mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


def _region(size: int) -> np.ndarray:
    """At least so many bytes, zeros as far as anybody looks; all arrays share them."""
    if not _regions or _regions[-1].size < size:
        wanted = max(_FIRST, 1 << size.bit_length())
        try:
            _regions.append(np.frombuffer(mmap.mmap(-1, wanted, _flags(), mmap.PROT_READ), np.uint8))
        except (OSError, ValueError, OverflowError):
            zeros = np.zeros(max(size, 1 << 20), np.uint8)
            zeros.flags.writeable = False
            _regions.append(zeros)
    return _regions[-1]
