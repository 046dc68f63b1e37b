# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

__all__ = ['fft', 'fft2', 'fftfreq', 'fftn', 'fftshift', 'hfft', 'hfft2', 'hfftn', 'ifft', 'ifft2', 'ifftn', 'ifftshift', 'ihfft', 'ihfft2', 'ihfftn', 'irfft', 'irfft2', 'irfftn', 'rfft', 'rfft2', 'rfftfreq', 'rfftn']
def fft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform along one dim, complex."""
def ifft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse transform along one dim, complex."""
def rfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The first n // 2 + 1 entries of fft of a real tensor; the others are their conjugates."""
def irfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The n real numbers of which rfft is input; n = 2 (size - 1) by default."""
def hfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The transform, real, of a signal of which input is the first half and whose other half is its conjugate."""
def ihfft(input: Tensor, n: _int | None = None, dim: _int = -1, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of hfft."""
def fftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft along each of the dims; all of them by default."""
def ifftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ifft along each of the dims; all of them by default."""
def rfftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """rfft along the last of the dims, then fft along the others."""
def irfftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ifft along all but the last of the dims, then irfft along that."""
def hfftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """hfft along the last of the dims, fft along the others."""
def ihfftn(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = None, norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The inverse of hfftn."""
def fft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fftn along two dims."""
def ifft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ifftn along two dims."""
def rfft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """rfftn along two dims."""
def irfft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """irfftn along two dims."""
def hfft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """hfftn along two dims."""
def ihfft2(input: Tensor, s: _int | Sequence[_int] | None = None, dim: _int | Sequence[_int] | None = (-2, -1), norm: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """ihfftn along two dims."""
def fftfreq(n: _int, d: _float = 1.0, *, out: Tensor | None = None, dtype: dtypes.dtype | None = None, layout: Any = None, device: dtypes.device | str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """The frequencies of fft's entries, (n,): 0, 1, ..., -2, -1 over n d, where d is the time between two samples."""
def rfftfreq(n: _int, d: _float = 1.0, *, out: Tensor | None = None, dtype: dtypes.dtype | None = None, layout: Any = None, device: dtypes.device | str | _int | None = None, requires_grad: _bool = False) -> Tensor:
    """The frequencies of rfft's entries, (n // 2 + 1,): 0, 1, ... over n d."""
def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """Frequency 0 in the middle of each dim (of all by default)."""
def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The inverse of fftshift."""
