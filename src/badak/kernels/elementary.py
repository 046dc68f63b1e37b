"""exp, log, functions like them and the matrix product, for operations: NumPy's, or the bits that BADAK_PORTABLE=1 promises.

NumPy's float32 functions differ between x86 and AArch64, and BLAS between all CPUs. Portable ones are those of float64, rounded
once, and badak's own products.
"""

from functools import wraps
from typing import Any

import numpy as np

from badak import kernels
from badak.core.portable import PORTABLE

__all__ = ["cosh", "exp", "log", "log1p", "portable", "product", "sinh"]


def _rounded_once(function: Any) -> Any:
    """The function of float32 arrays, computed in float64."""

    @wraps(function)
    def rounded(*arrays: Any) -> Any:
        if all(isinstance(x, np.ndarray | np.generic) and x.dtype == np.float32 for x in arrays):
            return function(*arrays, dtype=np.float64).astype(np.float32)
        return function(*arrays)

    return rounded


def portable(function: Any) -> Any:
    """The function of NumPy, or where its float32 bits depend on the CPU and must not, that of float64, rounded once."""
    return _rounded_once(function) if PORTABLE and isinstance(function, np.ufunc) and function in _VARYING else function


def product(a: Any, b: Any) -> Any:
    """a b of two matrices of one dtype."""
    return kernels.of(a).matmul(a, b) if PORTABLE else a @ b


_VARYING = {
    np.exp, np.log, np.expm1, np.log1p, np.logaddexp, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh,
    np.arcsinh, np.arccosh, np.arctanh,
}  # fmt: skip
exp, log, log1p, sinh, cosh = map(portable, (np.exp, np.log, np.log1p, np.sinh, np.cosh))
