# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['lp_pool1d', 'lp_pool2d', 'lp_pool3d', 'max_unpool1d', 'max_unpool2d', 'max_unpool3d']
def lp_pool1d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of x (N, C, L) or (C, L), p = norm_type (inf: the largest |x|)."""
def lp_pool2d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of x (N, C, H, W) or (C, H, W), p = norm_type (inf: the largest |x|)."""
def lp_pool3d(input: Tensor, norm_type: _float, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, ceil_mode: _bool = False) -> Tensor:
    """(sum x^p)^(1/p) of each window of x (N, C, D, H, W) or (C, D, H, W), p = norm_type (inf: the largest |x|)."""
def max_unpool1d(input: Tensor, indices: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int] | None = None) -> Tensor:
    """y (N, C, L) with x (N, C, O) at `indices`, which max_pool1d gave, and 0 elsewhere;   dx = dy there."""
def max_unpool2d(input: Tensor, indices: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int] | None = None) -> Tensor:
    """y (N, C, H, W) with x (N, C, O1, O2) at `indices`, which max_pool2d gave, and 0 elsewhere;   dx = dy there."""
def max_unpool3d(input: Tensor, indices: Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = None, padding: _int | Sequence[_int] = 0, output_size: _int | Sequence[_int] | None = None) -> Tensor:
    """y (N, C, D, H, W) with x (N, C, O1, O2, O3) at `indices`, which max_pool3d gave, and 0 elsewhere;   dx = dy there."""
