# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['conv1d_input', 'conv1d_weight', 'conv2d_input', 'conv2d_weight', 'conv3d_input', 'conv3d_weight']
def conv1d_input(input_size: Sequence[_int], weight: Tensor, grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv1d in its input:"""
def conv2d_input(input_size: Sequence[_int], weight: Tensor, grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv2d in its input:"""
def conv3d_input(input_size: Sequence[_int], weight: Tensor, grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv3d in its input:"""
def conv1d_weight(input: Tensor, weight_size: Sequence[_int], grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv1d in its weight:"""
def conv2d_weight(input: Tensor, weight_size: Sequence[_int], grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv2d in its weight:"""
def conv3d_weight(input: Tensor, weight_size: Sequence[_int], grad_output: Tensor, stride: _int = 1, padding: _int = 0, dilation: _int = 1, groups: _int = 1) -> Tensor:
    """The gradient of conv3d in its weight:"""
