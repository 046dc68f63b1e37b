"""Softmax and its logarithm along any axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.memory_format import row_major
from badak.ops._check import axis_of, not_floating
from badak.ops.operation import operation


def _along(kernel: Callable, dim: int, *arrays: Any) -> Any:
    """A kernel of the last axis, applied along `dim`."""
    ndim = arrays[0].ndim
    dim = axis_of(dim, ndim)
    if dim == ndim - 1:
        return kernel(*arrays)
    if ndim == 0:
        return kernel(*[x.reshape(1) for x in arrays]).reshape(())
    y = kernel(*[x.swapaxes(dim, -1) for x in arrays])
    return row_major(y.swapaxes(dim, -1))


def _floats(name: str, x: np.ndarray) -> np.ndarray:
    if x.dtype.kind in "iub":
        raise not_floating(name, x)
    return x


Softmax = operation(
    "Softmax", "y = exp(x) / sum exp(x) along `dim`;   dx = y (dy - sum(dy y)).",
    lambda x, dim=-1: _along(kernels.of(x).softmax, dim, _floats("softmax", x)),
    lambda dy, dim, y: _along(kernels.of(dy).softmax_backward, dim, dy, y),
    capturable=True, supports_bf16=True,
)  # fmt: skip
LogSoftmax = operation(
    "LogSoftmax", "y = x - log sum exp(x) along `dim`;   dx = dy - exp(y) sum(dy).",
    lambda x, dim=-1: _along(kernels.of(x).log_softmax, dim, _floats("log_softmax", x)),
    lambda dy, dim, y: _along(kernels.of(dy).log_softmax_backward, dim, dy, y),
    capturable=True, supports_bf16=True,
)  # fmt: skip
