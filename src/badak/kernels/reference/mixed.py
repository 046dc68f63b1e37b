"""Float32 and bfloat16 side by side."""

import numpy as np

from badak.kernels.half import BFLOAT16
from badak.kernels.reference._arrays import Array, elementwise


@elementwise
def add_mixed(a: Array, b: Array) -> Array:
    """y = a + b in float32, of one in float32 and one in bfloat16, both of one shape."""
    return a.astype(np.float32) + b if a.dtype == BFLOAT16 else a + b.astype(np.float32)
