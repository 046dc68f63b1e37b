# Written by tools/stubs.py from core/public_api/public.py; a test keeps it true.
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Callable, Sequence
from typing import Any

from badak.tensor import dtypes
from badak.tensor.tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Tensor]]
def axes_of(dim: Any, ndim: _int) -> Any:
    """None for all axes, else the tuple of axes counted from 0."""
def reduced(op: Any, input: Tensor, dim: Any, keepdim: _bool, axis: Any, out: Tensor | None, **attributes: Any) -> Tensor:
    """The operation over these dims."""
def counting(input: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    """input in dtype; without one, integers and booleans as int64, so that their sums do not overflow."""
def not_empty(name: str, input: Tensor, dim: Any) -> None:
    """Raise where there is no value that could be the largest."""
def sum(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
    """y = sum x;   dx = dy for every summand."""
def mean(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
    """y = sum x / n;   dx = dy / n."""
def prod(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, dtype: dtypes.dtype | None = None, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
    """y = prod x;   dx = dy y / x, written as the product of the others where x = 0."""
def amax(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
    """y = max x;   dx = dy shared evenly by those that are equal to y."""
def amin(input: Tensor, dim: _int | Sequence[_int] | None = None, keepdim: _bool = False, *, axis: _int | Sequence[_int] | None = None, out: Tensor | None = None) -> Tensor:
    """y = min x;   dx = dy shared evenly by those that are equal to y."""
