"""From one dtype to another."""

from typing import Any

from badak.kernels.half import converted
from badak.kernels.reference._arrays import Array, elementwise


@elementwise
def cast(x: Array, dtype: Any) -> Array:
    """x in another dtype, as x lies in memory; x itself where it has the dtype."""
    return converted(x, dtype)
