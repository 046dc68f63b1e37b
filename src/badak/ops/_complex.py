"""Gradients of complex numbers: dx is the conjugate of what the chain rule of analytic functions gives, as in PyTorch."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def conj(x: np.ndarray) -> np.ndarray:
    """The complex conjugate, which for real numbers is the array itself."""
    return x.conj() if x.dtype.kind == "c" else x


def analytic(backward: Callable) -> Callable:
    """A backward written for real numbers, as that of an analytic function f of complex ones: dx = (f' dy*)*."""

    @wraps(backward)
    def of_both(saved: Any, *dys: Any) -> Any:
        if all(dy is None or dy.dtype.kind != "c" for dy in dys):
            return backward(saved, *dys)
        found = backward(saved, *(None if dy is None else dy.conj() for dy in dys))
        if type(found) is tuple:
            return tuple(None if dx is None else dx.conj() for dx in found)
        return found.conj()

    return of_both
