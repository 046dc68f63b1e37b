"""Arrays that lie nowhere: shape, dtype and strides over memory that is never touched, and so never given by the system."""

import math
import mmap
import sys
import threading

import numpy as np

_FIRST = 1 << 36  # bytes of addresses, not of memory
_regions: list[np.ndarray] = []


class _Unfilled(threading.local):
    """Whether memory is being made that will be taken away again, so that nothing need be drawn into it."""

    on = False


unfilled = _Unfilled()


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


def _region(size: int) -> np.ndarray:
    """At least so many bytes, zeros as far as anybody looks; all arrays share them."""
    if not _regions or _regions[-1].size < size:
        wanted = max(_FIRST, 1 << size.bit_length())
        try:
            if sys.platform == "win32":
                raise OSError
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
            _regions.append(np.frombuffer(mmap.mmap(-1, wanted, flags, mmap.PROT_READ), np.uint8))
        except (OSError, ValueError, OverflowError):
            zeros = np.zeros(max(size, 1 << 20), np.uint8)
            zeros.flags.writeable = False
            _regions.append(zeros)
    return _regions[-1]
