"""Numbers as the record has them: rounded to four digits, finite or None; attention as fixed point in base64."""

import base64
from typing import Any

import numpy as np

FIRST = 6  # numbers of a row that are shown


def short(x: Any) -> Any:
    """A number, or nested lists of them: four significant digits, None for what is not finite."""
    if isinstance(x, list | tuple):
        return [short(each) for each in x]
    if isinstance(x, np.ndarray) and x.ndim:
        return [short(each) for each in x]
    value = float(x)
    if not np.isfinite(value):
        return None
    value = float(f"{value:.4g}")
    return int(value) if value == int(value) and abs(value) < 1e6 else value


def first(x: Any) -> list:
    """The first numbers of an array, flat."""
    return short(np.asarray(x).reshape(-1)[:FIRST].astype(np.float64))


def squares(x: np.ndarray) -> float:
    """The sum of the squares of all numbers, in float64, piece by piece: a table of words is not held twice."""
    flat = x.reshape(-1)
    return sum(float(np.square(flat[i : i + 65536].astype(np.float64)).sum()) for i in range(0, flat.size, 65536))


def floats(x: np.ndarray) -> np.ndarray:
    """The same in float64, whatever kind of number it was."""
    return x.astype(np.float64)


def fixed_point(weights: np.ndarray, code: str, lower: bool) -> str:
    """A matrix of shares in 0..1 as base64: "linear16" is p = q / 65535, "root8" p = (q / 255)^2.

    lower: of row i the first i + 1 + S - T only, the others are 0.
    """
    T, S = weights.shape
    values = weights[np.tri(T, S, S - T, dtype=bool)] if lower else weights.reshape(-1)
    values = np.clip(floats(values), 0, 1)
    if code == "linear16":
        return base64.b64encode(np.round(values * 65535).astype("<u2").tobytes()).decode()
    return base64.b64encode(np.round(np.sqrt(values) * 255).astype(np.uint8).tobytes()).decode()


def from_fixed_point(data: str, code: str, lower: bool, T: int, S: int) -> np.ndarray:
    """The matrix that `fixed_point` wrote, to its precision: half a step."""
    raw = base64.b64decode(data)
    values = np.frombuffer(raw, "<u2") / 65535 if code == "linear16" else np.square(np.frombuffer(raw, np.uint8) / 255)
    if not lower:
        return values.reshape(T, S)
    weights = np.zeros((T, S))
    weights[np.tri(T, S, S - T, dtype=bool)] = values
    return weights
