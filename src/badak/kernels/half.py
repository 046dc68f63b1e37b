"""The plain kernels for floats of 16 and 8 bits: computed in float32, results rounded to the small type once.

Statistics that a forward hands to its backward stay float32.
"""

from functools import wraps
from typing import Any

import ml_dtypes
import numpy as np

from badak.kernels import plain

_NO_INFINITY, _POWERS = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e8m0fnu)
_COMPUTED = (
    "dropout gelu gelu_backward layer_norm layer_norm_backward linear linear_backward matmul relu relu_backward rms_norm "
    "rms_norm_backward sigmoid sigmoid_backward silu silu_backward tanh tanh_backward"
).split()


def is_half(array: Any) -> bool:
    """Whether this is a NumPy array of floats of 16 or 8 bits."""
    return isinstance(array, np.ndarray) and array.dtype.itemsize <= 2 and array.dtype.kind in "fV"


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
    return x.astype(kind)


def _rounded(kernel):
    every = kernel.__name__.endswith("_backward")  # all results are gradients

    @wraps(kernel)
    def half(*arguments):
        kind = next(a.dtype for a in arguments if is_half(a))
        found = kernel(*[a.astype(np.float32) if is_half(a) else a for a in arguments])
        if type(found) is not tuple:
            return found.astype(kind)
        return tuple(y.astype(kind) if y is not None and (every or not i) else y for i, y in enumerate(found))

    return half


globals().update({name: value for name, value in vars(plain).items() if not name.startswith("_")})
globals().update({name: _rounded(getattr(plain, name)) for name in _COMPUTED})
