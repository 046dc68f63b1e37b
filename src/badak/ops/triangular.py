"""The triangles of matrices."""

import numpy as np

from badak.ops._broadcast import by_rows
from badak.ops.batching import broadcasting
from badak.ops.operation import MOVES, operation


def _tril(x: np.ndarray, k: int = 0) -> np.ndarray:
    return np.tril(x, k)


def _triu(x: np.ndarray, k: int = 0) -> np.ndarray:
    return np.triu(x, k)


Tril = operation(
    "Tril", "y = x on and below diagonal k of its last two axes, 0 above;   dx = the same of dy.", _tril, _tril,
    lies=by_rows, batching=broadcasting, **MOVES,
)  # fmt: skip
Triu = operation(
    "Triu", "y = x on and above diagonal k of its last two axes, 0 below;   dx = the same of dy.", _triu, _triu,
    lies=by_rows, batching=broadcasting, **MOVES,
)  # fmt: skip
