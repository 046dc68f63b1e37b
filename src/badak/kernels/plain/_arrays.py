"""What every plain kernel needs: the array's own namespace, IEEE arithmetic without warnings, rows."""

import math
import sys
from typing import Any

import numpy as np

Array = Any  # an ndarray, or an array of a library that follows NumPy's names

# Infinities and NaN are results here (masks are -inf, a diverged model is NaN), not accidents to warn about.
quiet = np.errstate(all="ignore")


def array_namespace(x: Array) -> Any:
    """The module whose functions work on `x`: NumPy, or the library that `x` comes from."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    return sys.modules[type(x).__module__.partition(".")[0]]


def rows(x: Array) -> Array:
    """x (..., C) as (N, C); also where an axis has size 0."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
