"""Floats of 16 and 8 bits: what they are, and how numbers become such floats. `tensor/apply.py` computes in float32 for them."""

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT32 = np.dtype(np.float32)
_NO_INFINITY, _POWERS = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e8m0fnu)


def is_half(array: Any) -> bool:
    """Whether this is a NumPy array of floats of 16 or 8 bits."""
    return isinstance(array, np.ndarray) and array.dtype.itemsize <= 2 and array.dtype.kind in "fV"


def value_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which kernels compute with arrays of this one, and give statistics of them."""
    return FLOAT32 if dtype is not FLOAT32 and dtype == BFLOAT16 else dtype


def sortable(x: np.ndarray) -> np.ndarray:
    """x as NumPy sorts it: bfloat16, for whose NaN it finds no place, as float32; a bool that may be any byte as True or False."""
    if x.dtype.kind == "b":
        return x.view(np.uint8) != 0
    return x.astype(np.float32) if x.dtype.kind == "V" else x


def converted(x: np.ndarray, kind: np.dtype) -> np.ndarray:
    """x in another dtype, as PyTorch rounds: float8_e4m3fn has no infinity and takes its largest number for what is too
    large, float8_e8m0fnu has no sign and no zero. A copy, unless x has the dtype already.
    """
    if x.dtype == kind:
        return x
    if kind == _NO_INFINITY:
        wide = x.astype(np.float32)
        return np.clip(wide, -448, 448, out=wide).astype(kind)
    if kind == _POWERS:
        return np.maximum(np.abs(x.astype(np.float32)), np.float32(2.0**-127)).astype(kind)
    with np.errstate(over="ignore"):  # too large a number is infinite, as in PyTorch
        return x.astype(kind)
