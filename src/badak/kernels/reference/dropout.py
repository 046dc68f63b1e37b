"""Inverted dropout. Source: Srivastava et al., "Dropout" (2014), section 10."""

import numpy as np

from badak.kernels.half import value_dtype
from badak.kernels.reference._arrays import Array, elementwise


@elementwise
def dropout(x: Array, keep: Array, p: float) -> Array:
    """y = x keep / (1 - p): the mean of y over the masks is x.    keep bool of x's shape, p the share that is
    dropped.

    The factor is 1 / (1 - p) in the type of x, as PyTorch rounds it; p = 1 gives zeros. A dropped number is multiplied by 0, so
    that NaN and infinity are seen where they were. Linear in x, so dx = dropout(dy, keep, p).
    """
    one = np.ones((), value_dtype(x.dtype))
    factor = (one / (one * (1 - p)) if p < 1 else one * 0).astype(x.dtype)
    with np.errstate(invalid="ignore"):
        return x * (keep * factor)
