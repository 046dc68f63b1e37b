"""`torch.masked`: reductions and softmaxes of the entries that a mask is True at; the others count as what changes nothing."""

import math
import sys
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, NotSupportedError, tr
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.nn import functional as F
from badak.tensor import Tensor, float32, full, iinfo, int64, maximum, ones, where
from badak.tensor import amax as _amax
from badak.tensor import amin as _amin
from badak.tensor import argmax as _argmax
from badak.tensor import argmin as _argmin
from badak.tensor import bool as _bool
from badak.tensor import cumprod as _cumprod
from badak.tensor import cumsum as _cumsum
from badak.tensor import logaddexp as _logaddexp
from badak.tensor import logsumexp as _logsumexp
from badak.tensor import nanmedian as _nanmedian
from badak.tensor import sum as _sum
from badak.tensor.layouts import strided
from badak.tensor.linalg import vector_norm as _vector_norm

__getattr__, __dir__ = _door("badak.masked")


def sum(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The sum; 0 where nothing is left.

    Args:
        input: the numbers
        dim: one dim, several, or None for all
        keepdim: whether these dims stay, with size 1
        dtype: of the result; None: of the input, and int64 of small ints
        mask: bools that broadcast to input; None takes all

    Returns: tensor

    Raises:
        NotSupportedError: for sparse tensors

    Example:
        >>> from badak.compat.torch import masked
        >>> masked.sum(badak.ones(3), mask=badak.tensor([True, False, True])).item()
        2.0
    """
    return _sum(_filled("sum", input, mask, 0), _dims(dim, input.ndim), keepdim, dtype=_summed(input, dtype))


def prod(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The product; 1 where nothing is left. As `sum`."""
    made = _filled("prod", input, mask, 1).to(_summed(input, dtype))
    for each in reversed(_dims(dim, input.ndim)):
        made = made.prod(each, keepdim) if made.ndim else made.prod()
    return made


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The sums up to each entry."""
    return _cumsum(_filled("cumsum", input, mask, 0), _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """The products up to each entry."""
    return _cumprod(_filled("cumprod", input, mask, 1), _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def amax(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The largest; the least number of the dtype where nothing is left. As `sum`."""
    made = _amax(_filled("amax", input, mask, _end("amax", input, -1)), _dims(dim, input.ndim), keepdim)
    return made.to(dtype or input.dtype)


def amin(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The least; the largest number of the dtype where nothing is left. As `sum`."""
    made = _amin(_filled("amin", input, mask, _end("amin", input, 1)), _dims(dim, input.ndim), keepdim)
    return made.to(dtype or input.dtype)


def argmax(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The place of the largest, in the dtype of the input unless dtype is given, as PyTorch's."""
    return _argmax(_filled("argmax", input, mask, _end("argmax", input, -1)), dim, keepdim).to(dtype or input.dtype)


def argmin(input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The place of the least, in the dtype of the input unless dtype is given, as PyTorch's."""
    return _argmin(_filled("argmin", input, mask, _end("argmin", input, 1)), dim, keepdim).to(dtype or input.dtype)


def mean(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The mean; NaN where nothing is left. As `sum`."""
    kind = dtype or input.dtype
    if not (kind.is_floating_point or kind.is_complex):
        cause = tr("mean(): Could not infer output dtype. {} dtype must be either a floating point or complex dtype. Got: {}",
                   "Optional" if dtype else "Input", kind)  # fmt: skip
        raise DTypeError(cause, "dtype=torch.float32")
    return sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask) / _count(input, dim, keepdim, mask)


def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """The lower of the middle values along dim; NaN where nothing is left, which for ints raises ArgumentError."""
    real = input if input.is_floating_point() else input.to(float32)
    made = _nanmedian(_filled("median", real, mask, math.nan), _dims(dim, input.ndim)[0], keepdim).values
    if real is input:
        return made
    if made.isnan().any():
        raise ArgumentError("masked median expects no fully masked out rows if dtype is not floating point", "x.float()")
    return made.to(dtype or input.dtype)


def logsumexp(input: Tensor, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Tensor:
    """ln of the sum of exp; -inf where nothing is left. As `sum`."""
    least = -math.inf if input.is_complex() else _end("logsumexp", input, -1)
    return _logsumexp(_filled("logsumexp", input, mask, least), _dims(dim, input.ndim), keepdim).to(dtype or input.dtype)


def logaddexp(input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Tensor:
    """ln(exp(input) + exp(other)), each by its own mask."""
    pairs = (input, input_mask), (other, other_mask)
    return _logaddexp(*(_filled("logaddexp", x, mask, _end("logaddexp", x, -1)) for x, mask in pairs)).to(dtype or input.dtype)


def norm(
    input: Tensor, ord: float | None = 2.0, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None
) -> Tensor:
    """The norm of that order; 0 where nothing is left, inf for ord=-inf. As `sum`."""
    filled = _filled("norm", input, mask, math.inf if ord == -math.inf else 0)
    return _vector_norm(filled, 2.0 if ord is None else ord, _dims(dim, input.ndim), keepdim, dtype=dtype or input.dtype)


def var(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The variance, its sum over n - correction. As `sum`."""
    if unbiased is not None and correction is not None:
        raise ArgumentError("Only one of unbiased and correction may be given", "correction=1")
    less = float(correction) if correction is not None else 0.0 if unbiased is False else 1.0
    real = input.is_floating_point() or input.is_complex()
    kind = dtype or (input.dtype if real else float32)
    wide = kind if kind.is_floating_point or kind.is_complex else float32
    count = _count(input, dim, True, mask)
    centred = input - sum(input, dim, keepdim=True, dtype=kind, mask=mask) / count
    total = sum(centred * centred.conj(), dim, keepdim=keepdim, dtype=wide, mask=mask)
    count = count.reshape(total.shape)
    if less:
        count = (count - less).clamp(min=0).to(total.real.dtype)
    return (total / count).to(kind)


def std(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Any = None,
) -> Tensor:
    """The root of `var`."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """exp(x) over its sum along dim, 0 where the mask is False; NaN where nothing is left."""
    return F.softmax(
        _filled("softmax", input, mask, _end("amax", input, -1)), _dims(dim, input.ndim)[0], dtype=dtype or input.dtype
    )


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """ln of `softmax`."""
    filled = _filled("log_softmax", input, mask, _end("amax", input, -1))
    return F.log_softmax(filled, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Any = None) -> Tensor:
    """`softmax` of -input."""
    filled = _filled("softmin", input, mask, _end("amin", input, 1))
    return F.softmin(filled, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Tensor:
    """input over its norm along dim, or over eps where that is larger; 0 where the mask is False."""
    length = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _filled("normalize", input, mask, 0) / maximum(length, full((), eps, dtype=length.dtype))


def is_masked_tensor(obj: Any, /) -> bool:
    """Whether it is a MaskedTensor."""
    found = sys.modules.get("badak.compat.torch.masked_tensor")
    return found is not None and isinstance(obj, found.MaskedTensor)


def _filled(where_: str, x: Tensor, mask: Any, value: Any) -> Tensor:
    """x, and `value` where the mask is False."""
    if x.layout is not strided:
        raise NotSupportedError(tr("masked.{} does not know sparse tensors", where_), "x.to_dense()")
    return x if mask is None else where(_broadcast(mask, x), x, full((), value, dtype=x.dtype))


def _broadcast(mask: Tensor, x: Tensor) -> Tensor:
    if mask.layout is not strided:
        mask = mask.to_dense()  # what is not stored is False
    if mask.ndim > x.ndim:
        cause = tr("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
        raise IndexOutOfRangeError(cause, tr("a mask of shape {}", tuple(x.shape)))
    return mask.broadcast_to(x.shape).to(_bool)


def _count(x: Tensor, dim: Any, keepdim: bool, mask: Any) -> Tensor:
    seen = ones(x.shape, dtype=int64) if mask is None else _broadcast(mask, x)
    return _sum(seen, _dims(dim, x.ndim), keepdim)


def _end(where_: str, x: Tensor, sign: int) -> Any:
    """The least number of x's dtype, or the largest."""
    if x.is_floating_point():
        return sign * math.inf
    if x.is_complex() or x.dtype is _bool:
        raise DTypeError(tr("identity of {} on {} input", where_, x.dtype), "real numbers")
    return iinfo(x.dtype).max if sign > 0 else iinfo(x.dtype).min


def _summed(x: Tensor, dtype: Any) -> Any:
    small = not (x.is_floating_point() or x.is_complex()) and x.dtype is not int64
    return dtype or (int64 if small else x.dtype)


def _dims(dim: Any, ndim: int) -> tuple[int, ...]:
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    for each in (dim,) if isinstance(dim, int) else dim:
        if not -max(ndim, 1) <= each < max(ndim, 1):
            most = max(ndim, 1)
            cause = tr("Dimension out of range (expected to be in range of [{}, {}], but got {})", -most, most - 1, each)
            raise IndexOutOfRangeError(cause, None)
        found.append(each % max(ndim, 1))
    return tuple(sorted(found))


_guard_names(globals(), "badak.masked")
