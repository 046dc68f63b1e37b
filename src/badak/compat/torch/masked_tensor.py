"""`torch.masked.MaskedTensor`: a tensor with a mask that goes along; what the mask is False at counts in nothing.

Functions of one or two such tensors work on the data and keep the mask, which has to be the same on both sides; views are those of
data and mask; reductions are those of `torch.masked`. Others are refused.
"""

from collections.abc import Callable
from typing import Any

from badak.autograd.function import Function
from badak.compat.torch import masked
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr, warn_once
from badak.core.public_api import overriding
from badak.tensor import Tensor, full, where, zeros_like
from badak.tensor import all as _all
from badak.tensor import bool as _bool
from badak.tensor import softmax as _softmax

_REDUCTIONS = frozenset("sum mean amin amax argmin argmax prod all norm var std".split())
_VIEWS = frozenset(
    """select transpose split t slice index expand view _unsafe_view _reshape_alias cat unsqueeze unfold im2col col2im stack
    slice_backward select_backward unfold_backward""".split()
)
_OF_ONE = frozenset(
    """abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil clamp clip
    conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 logit i0 isnan
    nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc sinh sqrt square tan tanh
    trunc detach clone contiguous _to_copy ones_like zeros_like""".split()
)
_OF_TWO = frozenset(
    """add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide floor_divide fmod
    logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge greater greater_equal gt less_equal
    lt less maximum minimum fmax fmin not_equal""".split()
)


class MaskedTensor(Tensor):
    """Data, and a mask of bools of the same shape: True where the data count."""

    _masked_data: Tensor
    _masked_mask: Tensor

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> "MaskedTensor":
        for name, given in (("data", data), ("mask", mask)):
            if isinstance(given, MaskedTensor) or not isinstance(given, Tensor):
                raise ArgumentTypeError(tr("MaskedTensor: {} must be a Tensor", name), tr("torch.as_tensor({})", name))
        if data.is_sparse or mask.is_sparse:
            raise NotSupportedError("MaskedTensor: badak's have no sparse data", "data.to_dense(), mask.to_dense()")
        warn_once("MaskedTensor", "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future.")
        made: Any = Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype, requires_grad=requires_grad)
        return made

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        if data.shape != mask.shape:
            cause = tr("data.size() must match mask.size(). Got data.size(): {}, mask.size(): {}", data.shape, mask.shape)
            raise ArgumentError(cause, "mask.expand_as(data)")
        if mask.dtype is not _bool:
            raise ArgumentTypeError(tr("mask must have dtype bool. Got {}", mask.dtype), "mask.bool()")
        self._masked_data, self._masked_mask = data.detach().clone(), mask.clone()

    @classmethod
    def __torch_function__(cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in _REDUCTIONS and isinstance(args[0], MaskedTensor):
            return _reduced(name, *args, **kwargs or {})
        return super().__torch_function__(func, types, args, kwargs or {})

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name, kwargs = str(func).removeprefix("aten.").partition(".")[0], kwargs or {}
        first = args[0] if args else None
        if name in _REDUCTIONS:
            return _reduced(name, *args, **kwargs)
        if name == "_local_scalar_dense":
            return func(_data(first)) if first._masked_mask.item() else None  # type: ignore[union-attr]
        if name in ("_softmax", "softmax"):
            dim = args[1]
            filled = first._masked_data.masked_fill(~first._masked_mask, float("-inf"))  # type: ignore[union-attr]
            return MaskedTensor(_softmax(filled, dim), first._masked_mask)  # type: ignore[union-attr]
        if name in ("copy_", "index_put_"):
            func(*_each(args, _data), **kwargs)
            return first
        if name == "where":
            return _chosen(*args)
        if name in _VIEWS:
            return _both(func(*_each(args, _data), **kwargs), func(*_each(args, _mask), **kwargs))
        if name in _OF_ONE or name in _OF_TWO or name.endswith("_backward"):
            return _elementwise(func, args, kwargs)
        cause = tr("{} is not implemented in __torch_dispatch__ for MaskedTensor", name)
        raise ArgumentTypeError(cause, "x.get_data(), or x.to_tensor(0)")

    def get_data(self) -> Tensor:
        """The data, also where the mask is False; gradients of it go on as those of this tensor."""
        return _Data.apply(self)

    def get_mask(self) -> Tensor:
        """The mask."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """The data, and `value` where the mask is False."""
        return self.get_data().masked_fill(~self._masked_mask, value)

    def __repr__(self, **options: Any) -> str:
        data, mask = self._masked_data, self._masked_mask
        if not data.ndim:
            value = data.item()
            told = "--" if not mask.item() else f"{value:8.4f}" if isinstance(value, float) else str(value)
            return f"MaskedTensor({told}, {mask.item()})"
        text = "\n".join(f"  {line}" for line in _shown(data, mask).split("\n"))
        return f"MaskedTensor(\n{text}\n)"


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A new leaf of data and mask."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """The same, through which gradients go back to data."""
    return _Made.apply(data, mask)


MaskedTensor._is_badaks = False  # it is asked, as a class of a program is: a reduction looks at the mask
overriding.add(MaskedTensor)


class _Data(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Tensor:
        ctx.mask = x._masked_mask
        return x._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad if isinstance(grad, MaskedTensor) else MaskedTensor(grad, ctx.mask)


class _Made(Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> MaskedTensor:
        return MaskedTensor(data, mask)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple:
        return _data(grad), None


def _shown(data: Tensor, mask: Tensor) -> str:
    if data.ndim > 1:
        rows = [_shown(each, kept) for each, kept in zip(data, mask)]
        return "[\n" + ",\n".join("\n".join(f"  {line}" for line in row.split("\n")) for row in rows) + "\n]"
    texts = [f"{x:8.4f}" if isinstance(x, float) else str(x) for x in data.tolist()]
    kept = mask.tolist()
    width = max((len(text) if here else 8 for text, here in zip(texts, kept)), default=0)
    return "[" + ", ".join(text if here else "--".rjust(width) for text, here in zip(texts, kept)) + "]"


def _data(x: Any) -> Any:
    return x._masked_data if isinstance(x, MaskedTensor) else x


def _mask(x: Any) -> Any:
    return x._masked_mask if isinstance(x, MaskedTensor) else x


def _each(args: Any, function: Callable) -> Any:
    """`function` of every argument, also within lists."""
    return type(args)(_each(x, function) if isinstance(x, (list, tuple)) else function(x) for x in args)


def _both(data: Any, mask: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return type(data)(_both(x, m) for x, m in zip(data, mask))
    return MaskedTensor(data, mask)


def _elementwise(func: Callable, args: tuple, kwargs: dict) -> MaskedTensor:
    """A function of the data; the masks have to be the same."""
    masks = [x._masked_mask for x in args[:2] if isinstance(x, MaskedTensor)]
    if len(masks) == 2 and (masks[0].shape != masks[1].shape or not bool(_all(masks[0] == masks[1]))):
        raise ArgumentError("Input masks must match.", "MaskedTensor(x.get_data(), mask) of both with one mask")
    made = func(*_each(args, _data), **kwargs)
    return MaskedTensor(made, masks[0].expand_as(made))


def _chosen(condition: Any, a: Any, b: Any) -> MaskedTensor:
    """where(condition, a, b): data and masks are chosen."""
    like = a if isinstance(a, Tensor) else b
    a, b = (x if isinstance(x, Tensor) else full(like.shape, x, dtype=like.dtype) for x in (a, b))
    masks = [x._masked_mask if isinstance(x, MaskedTensor) else zeros_like(_data(x), dtype=_bool) | True for x in (a, b)]
    condition = _data(condition)
    return MaskedTensor(where(condition, _data(a), _data(b)), where(condition, *masks))


def _reduced(name: str, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None, **more: Any) -> MaskedTensor:
    """A reduction of what counts; the result counts where anything did."""
    mask, data = x._masked_mask, x.get_data()
    dim = None if dim in ((), []) else dim
    alone = {"dtype": dtype} if dtype is not None else {}
    if name == "all":
        filled = data.masked_fill(~mask, True)
        made = filled.all() if dim is None else filled.all(dim, keepdim)
    elif name == "norm":
        made = masked.norm(data, more.pop("p", 2), dim, keepdim=keepdim, mask=mask, **alone)
    else:
        made = getattr(masked, name)(data, dim=dim, keepdim=keepdim, mask=mask, **alone, **more)
    left = mask.any() if dim is None else mask
    for each in [] if dim is None else sorted((dim,) if isinstance(dim, int) else dim, reverse=True):
        left = left.any(each, keepdim)
    return as_masked_tensor(made, left)
