# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['channel_shuffle', 'fractional_max_pool2d', 'fractional_max_pool2d_with_indices', 'fractional_max_pool3d', 'fractional_max_pool3d_with_indices', 'local_response_norm', 'native_channel_shuffle', 'upsample_bilinear', 'upsample_nearest']
def local_response_norm(input: Tensor, size: _int, alpha: _float = 0.0001, beta: _float = 0.75, k: _float = 1.0) -> Tensor:
    """y = x / (k + alpha mean(x^2 of `size` channels around))^beta, x (N, C, ...), zeros beyond the first and last channel."""
def channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    'x (N, C, ...) with channel g C/groups + i at i groups + g: groups mixed. Source: Zhang et al. 2018, "ShuffleNet".'
def native_channel_shuffle(input: Tensor, groups: _int) -> Tensor:
    'x (N, C, ...) with channel g C/groups + i at i groups + g: groups mixed. Source: Zhang et al. 2018, "ShuffleNet".'
def upsample_nearest(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None) -> Tensor:
    'As `interpolate` with mode "nearest".'
def upsample_bilinear(input: Tensor, size: _int | Sequence[_int] | None = None, scale_factor: Any = None) -> Tensor:
    'As `interpolate` with mode "bilinear" and align_corners=True.'
def fractional_max_pool2d(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int] | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """The largest number of windows that overlap by chance, x (N, C, H, W) or (C, H, W); dx = dy at that place."""
def fractional_max_pool3d(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int] | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """The largest number of windows that overlap by chance, x (N, C, D, H, W) or (C, D, H, W); dx = dy at that place."""
def fractional_max_pool2d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int] | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """As fractional_max_pool2d, with the places."""
def fractional_max_pool3d_with_indices(input: Tensor, kernel_size: _int | Sequence[_int], output_size: _int | Sequence[_int] | None = None, output_ratio: _float | Sequence[_float] | None = None, return_indices: _bool = False, _random_samples: Tensor | None = None) -> Any:
    """As fractional_max_pool3d, with the places."""
