"""The plain kernels for 16-bit floats: computed in float32, results rounded to the 16-bit type once.

Statistics that a forward hands to its backward stay float32.
"""

from functools import wraps
from typing import Any

import numpy as np

from badak.kernels import plain

_COMPUTED = (
    "dropout gelu gelu_backward layer_norm layer_norm_backward linear linear_backward matmul relu relu_backward rms_norm "
    "rms_norm_backward sigmoid sigmoid_backward silu silu_backward tanh tanh_backward"
).split()


def is_half(array: Any) -> bool:
    """Whether this is a NumPy array of float16 or bfloat16."""
    return isinstance(array, np.ndarray) and array.dtype.itemsize == 2 and array.dtype.kind in "fV"


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
