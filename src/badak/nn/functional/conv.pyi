# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['conv1d', 'conv2d', 'conv3d', 'conv_tbc', 'conv_transpose1d', 'conv_transpose2d', 'conv_transpose3d']
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: str | _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """y[n, m, o] = b[m] + sum_{c, k} w[m, c, k] x[n, c, o stride - padding + k dilation]; o and k have 1 numbers."""
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: str | _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """y[n, m, o] = b[m] + sum_{c, k} w[m, c, k] x[n, c, o stride - padding + k dilation]; o and k have 2 numbers."""
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: str | _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, groups: _int = 1) -> Tensor:
    """y[n, m, o] = b[m] + sum_{c, k} w[m, c, k] x[n, c, o stride - padding + k dilation]; o and k have 3 numbers."""
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: _int = 0) -> Tensor:
    """conv1d of texts with time first: x (T, B, C), w (K, C, M), b (M,) -> (O, B, M)."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The gradient of conv1d in its input, as a layer: x (N, M, O), w (M, C/groups, K) -> (N, C, L),"""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The gradient of conv2d in its input, as a layer: x (N, M, O1, O2), w (M, C/groups, K1, K2) -> (N, C, H, W),"""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: _int | Sequence[_int] = 1, padding: _int | Sequence[_int] = 0, output_padding: _int | Sequence[_int] = 0, groups: _int = 1, dilation: _int | Sequence[_int] = 1) -> Tensor:
    """The gradient of conv3d in its input, as a layer: x (N, M, O1, O2, O3), w (M, C/groups, K1, K2, K3) -> (N, C, D, H, W),"""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Sequence[_int], padding: Sequence[_int], dilation: Sequence[_int], transposed: _bool, output_padding: Sequence[_int], groups: _int) -> Tensor:
    """conv1d to conv3d, or conv_transpose1d to conv_transpose3d, by the axes of input (N, C, *S) and by `transposed`."""
