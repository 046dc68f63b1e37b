"""exp, log and products of matrices where operations take NumPy's, in the bits that BADAK_PORTABLE=1 promises.

NumPy's float32 exp and log differ between x86 and AArch64, and BLAS between all CPUs. Portable ones are those of float64, rounded
once, and badak's own products.
"""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.portable import PORTABLE

__all__ = ["exp", "log", "product"]


def _rounded_once(function: Any) -> Any:
    """The function of float32 arrays, computed in float64."""

    def portable(x: Any) -> Any:
        if isinstance(x, np.ndarray | np.generic) and x.dtype == np.float32:
            return function(x, dtype=np.float64).astype(np.float32)
        return function(x)

    return portable


def product(a: Any, b: Any) -> Any:
    """a b of two matrices of one dtype."""
    return kernels.of(a).matmul(a, b) if PORTABLE else a @ b


exp, log = (_rounded_once(np.exp), _rounded_once(np.log)) if PORTABLE else (np.exp, np.log)
