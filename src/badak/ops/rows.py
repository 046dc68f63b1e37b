"""A gradient that names the rows of a table that it has something for: what a sparse embedding sends to its leaf.

Whoever does not know it gets it as an array: NumPy turns it dense.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np


class Rows:
    """values[i] for row ids[i] of an array of this shape, sums where a row is named twice; 0 elsewhere."""

    as_tensor: ClassVar[Callable[["Rows"], Any]]  # makes the sparse tensor: `tensor/sparse/` puts it here

    def __init__(self, ids: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> None:
        self.ids, self.values, self.shape, self.dtype = ids, values, shape, values.dtype

    def __array__(self, dtype: np.dtype = None, copy: Any = None) -> np.ndarray:
        dense = np.zeros(self.shape, dtype or self.dtype)
        np.add.at(dense, self.ids, self.values)
        return dense

    def __add__(self, other: Any) -> Any:
        """Of two of them all rows of both; with an array an array."""
        if isinstance(other, Rows):
            return Rows(np.concatenate([self.ids, other.ids]), np.concatenate([self.values, other.values]), self.shape)
        return np.asarray(self) + other
