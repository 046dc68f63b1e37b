# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['adaptive_avg_pool1d', 'adaptive_avg_pool2d', 'adaptive_avg_pool3d', 'adaptive_max_pool1d', 'adaptive_max_pool2d', 'adaptive_max_pool3d', 'adaptive_max_pool1d_with_indices', 'adaptive_max_pool2d_with_indices', 'adaptive_max_pool3d_with_indices', 'avg_pool1d', 'avg_pool2d', 'avg_pool3d', 'max_pool1d', 'max_pool2d', 'max_pool3d', 'max_pool1d_with_indices', 'max_pool2d_with_indices', 'max_pool3d_with_indices']
def max_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor:
    """The largest number of each window of x; dx = dy there."""
def max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor:
    """The largest number of each window of x; dx = dy there."""
def max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Tensor:
    """The largest number of each window of x; dx = dy there."""
def max_pool1d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Any:
    """As max_pool1d, with the places."""
def max_pool2d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Any:
    """As max_pool2d, with the places."""
def max_pool3d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, dilation: _int | Sequence[_int] = 1, ceil_mode: _bool = False, return_indices: _bool = False) -> Any:
    """As max_pool3d, with the places."""
def avg_pool1d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True) -> Tensor:
    """The mean of each window of x (N, C, L) or (C, L); dx = dy / count. count_include_pad: zeros of the padding count too."""
def avg_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of x; dx = dy / count."""
def avg_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, ceil_mode: _bool = False, count_include_pad: _bool = True, divisor_override: _int | None = None) -> Tensor:
    """The mean of each window of x; dx = dy / count."""
def adaptive_avg_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """The means of O windows that cover x (N, C, L) or (C, L): window o is floor(o L/O) to ceil((o+1) L/O)."""
def adaptive_avg_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """As adaptive_avg_pool1d on x (N, C, H, W) or (C, H, W). An output size of None keeps that axis."""
def adaptive_avg_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None) -> Tensor:
    """As adaptive_avg_pool1d on x (N, C, D, H, W) or (C, D, H, W). An output size of None keeps that axis."""
def counts_of(size, kernel, stride, padding, out, include_pad: _bool, divisor=None) -> Any:
    """By what each sum is divided, (*O), or the divisor that is given instead."""
def adaptive_mean(input: Any, output_size: Any, axes: _int, where: str) -> Tensor:
    """The means of windows, one axis after the other: the mean of a box is the mean of means of its slices."""
def adaptive_max_pool1d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """The maxima of the windows of adaptive_avg_pool1d. return_indices: also where they were, counted in L."""
def adaptive_max_pool2d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """The maxima of the windows of adaptive_avg_pool2d. return_indices: also where they were, counted in H, W."""
def adaptive_max_pool3d(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> Any:
    """The maxima of the windows of adaptive_avg_pool3d. return_indices: also where they were, counted in D, H, W."""
def adaptive_max_pool1d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> tuple:
    """As adaptive_max_pool1d, with the places."""
def adaptive_max_pool2d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> tuple:
    """As adaptive_max_pool2d, with the places."""
def adaptive_max_pool3d_with_indices(input: Tensor, output_size: _int | Sequence[_int | None] | None, return_indices: _bool = False) -> tuple:
    """As adaptive_max_pool3d, with the places."""
