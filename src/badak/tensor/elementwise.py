"""Choices between elements, and functions of one number that are more than a row of `ops/pointwise.py`."""

from typing import Any

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.ops import activation, select
from badak.ops import elementwise as ops
from badak.ops import softmax as _softmax
from badak.ops._broadcast import stretched
from badak.ops._check import expect_floats, expect_real, in_order
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.casting import in_half
from badak.tensor.complex import view_as_complex, view_as_real
from badak.tensor.convert import cast
from badak.tensor.data import fit
from badak.tensor.once_more import once_more
from badak.tensor.pointwise import sgn
from badak.tensor.promote import binary, floating, into, not_a_tensor, number, operand, result_type, same, tensor_of
from badak.tensor.tensor import Tensor


def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """The nearest number with `decimals` digits; halves go to the even neighbour.   dx = 0."""
    in_order("round", input)
    expect_floats("round_decimals" if decimals else "round", input, also="" if decimals else "iu")
    return into(out, input.clone() if input._array.dtype.kind in "iub" else apply(ops.Round, input, decimals=decimals), exact=True)


def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1.   dx = 0."""
    in_order("sign", input)
    if input._array.dtype.kind == "b":
        return into(out, input.clone(), exact=True)
    return once_more(sgn)(input, out=out)


def relu(input: Tensor) -> Tensor:
    """max(x, 0).   dx = dy where y > 0, else 0."""
    kind = input._array.dtype.kind
    if kind in "fV":
        return apply(activation.ReLU, input)
    if kind == "b":
        raise DTypeError("Boolean inputs not supported for relu", "x.float()")
    return clamp(input, min=0)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """y = x where x > 0, else weight x; weight has one number, or one for each channel (dim 1)."""
    for each in (input, weight):
        if not isinstance(each, Tensor):
            raise not_a_tensor("prelu", each)
    expect_floats("prelu", input)
    x, weight = in_half(input), in_half(weight)
    if weight.dtype is not x.dtype:
        cause = tr("prelu: Type promoting not supported. Got {} and {}", x.dtype.word, weight.dtype.word)
        raise DTypeError(cause, "weight.to(x.dtype)")
    if weight.numel() != 1:
        channels = x.shape[1] if x.dim() > 1 else 1
        if weight.dim() != 1 or weight.numel() != channels:
            raise ShapeError(
                tr("prelu: expected weight of 1 or {} numbers; got weight={}, x={}", channels, tuple(weight.shape), tuple(x.shape)),
                "num_parameters = the size of dim 1",
            )
        weight = weight.reshape(channels, *(1,) * (x.dim() - 2))
    elif not x.dim():
        weight = weight.reshape(())
    return binary(activation.PReLU, x, weight)


def hardshrink(input: Tensor, lambd: complex = 0.5) -> Tensor:
    """y = x where |x| > lambd, else 0."""
    expect_floats("hardshrink", input)
    return where((input > lambd) | (input < -lambd), input, where(input.isnan(), input.detach(), 0.0))


def softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, _stacklevel: int = 3) -> Tensor:
    """exp(x) / sum exp(x) along `dim`, in `dtype` if given.   dx = y (dy - sum(dy y)).

    Args:
        input: any shape
        dim: the axis whose values sum to 1
        dtype: what the input is converted to first
        out: where the result is written

    Returns: tensor of input's shape

    Derivation: docs/explanation/derivations/softmax.md

    Example:
        >>> badak.zeros(4).softmax(-1).tolist()
        [0.25, 0.25, 0.25, 0.25]
    """
    return _along("softmax", _softmax.Softmax, input, dim, dtype)


def log_softmax(input: Tensor, dim: int | None = None, dtype: Any = None, *, _stacklevel: int = 3) -> Tensor:
    """x - ln sum exp(x) along `dim`, in `dtype` if given.   dx = dy - exp(y) sum(dy)."""
    return _along("log_softmax", _softmax.LogSoftmax, input, dim, dtype)


def _along(name: str, op, input, dim, dtype) -> Tensor:
    x = input if dtype is None else cast(input, dtypes.to_dtype(dtype))
    if dim is None:
        raise ArgumentError(tr("{}: expected dim, along which the values sum to 1", name), "dim=-1 for the last")
    expect_real(name, x)
    return apply(op, x, dim=dim)


def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """ln(exp(input) + exp(other)).   dinput = dy exp(input - y), dother = dy exp(other - y)."""
    if input.is_complex() or other.is_complex():
        raise DTypeError("logaddexp: expected real numbers; got complex ones", "(a.exp() + b.exp()).log()")
    return into(out, binary(ops.Logaddexp, *(floating(x, "logaddexp") for x in same(input, other))))


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """min(max(x, min), max) for numbers or tensors; None is no bound.   dx = dy where min <= x <= max, else 0.

    Args:
        input: any shape
        min, max: numbers or tensors; None for no bound
        out: where the result is written

    Returns: tensor of input's shape

    Example:
        >>> badak.tensor([-2.0, 0.5, 2.0]).clamp(-1, 1).tolist()
        [-1.0, 0.5, 1.0]
    """
    if min is None and max is None:
        raise ArgumentError("torch.clamp: At least one of 'min' or 'max' must not be None", "clamp(min=0)")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        bounds = [None if b is None else operand(b, "clamp") for b in (min, max)]
        wanted = result_type(input, *[b for b in bounds if b is not None])
        if wanted.is_complex:
            raise DTypeError("clamp is not supported for complex types", "clamp the real and the imaginary part")
        bounds = [b if b is None else cast(b, wanted) if isinstance(b, Tensor) else tensor_of(b, wanted, "clamp") for b in bounds]
        y = apply(select.ClampBetween, cast(input, wanted), *bounds)
    else:
        x = input
        for bound in (min, max):
            if bound is not None:
                x, _ = number(x, operand(bound, "clamp"))
        if x._array.dtype.kind == "c":
            raise DTypeError("clamp is not supported for complex types", "clamp the real and the imaginary part")
        lo, hi = (None if b is None else number(x, fit(operand(b, "clamp"), x._array.dtype, "clamp"))[1] for b in (min, max))
        y = apply(select.Clamp, x, lo=lo, hi=hi)
    return into(out, y, exact=True)


clip = clamp


def clamp_min(input: Tensor, min: Tensor | complex) -> Tensor:
    """max(x, min).   dx = dy where x >= min."""
    return clamp(input, min=min)


def clamp_max(input: Tensor, max: Tensor | complex) -> Tensor:
    """min(x, max).   dx = dy where x <= max."""
    return clamp(input, max=max)


def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of the two; NaN where either is NaN.   dy goes to the larger, half to each where they are equal."""
    in_order("maximum", input, other)
    return into(out, binary(select.Maximum, input, other))


def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of the two; NaN where either is NaN.   dy goes to the smaller, half to each where they are equal."""
    in_order("minimum", input, other)
    return into(out, binary(select.Minimum, input, other))


def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Tensor | None = None) -> Tensor:
    """input where condition, else other; with the condition alone, the indices of its True entries, one tensor per dim.

    dinput = dy where condition, else 0;   dother = 0 where condition, else dy.

    Args:
        condition: bool
        input, other: tensors or numbers; the three broadcast
        out: where the result is written

    Returns: tensor of the common shape; or a tuple of index tensors

    Example:
        >>> badak.where(badak.tensor([True, False]), 1.0, 2.0).tolist()
        [1.0, 2.0]
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    kind = condition._array.dtype.kind
    if kind != "b":
        if condition._array.dtype != "uint8":
            cause = tr("where expected condition to be a boolean tensor, but got a tensor with dtype {}", condition.dtype)
            raise DTypeError(cause, "condition.bool()")
        condition = cast(condition, dtypes.bool_)
    a, b = operand(input, "where"), operand(other, "where")
    wanted = result_type(a, b)
    at_first = dtypes.float32 if wanted.itemsize == 2 and wanted.is_floating_point else wanted  # -1e9 is -inf in float16
    a, b = (cast(x if isinstance(x, Tensor) else tensor_of(x, at_first, "where"), wanted) for x in (a, b))
    try:
        y = apply(select.Where, condition, a, b)
    except ValueError:
        stretched(condition._array.shape, a._array.shape, b._array.shape)
        raise
    return into(out, y, exact=True)


def where_method(input: Tensor, condition: Tensor, other: Tensor | float) -> Tensor:
    """input where condition, else other."""
    return where(condition, input, other)


def masked_fill(input: Any, mask: Tensor, value: Any) -> Tensor:
    """value where mask, else input (in input's dtype).   dinput = 0 where mask, else dy.   mask: bool, True = replace.

    Args:
        mask: bool, broadcasts to input; True = replace
        value: a number or a tensor of one value

    Returns: tensor of the common shape

    Example:
        >>> badak.zeros(2).masked_fill(badak.tensor([True, False]), 9.0).tolist()
        [9.0, 0.0]
    """
    check_mask("masked_fill_", mask)
    if isinstance(value, Tensor):
        if value._array.ndim:
            cause = tr(
                "masked_fill only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).", value._array.ndim
            )
            raise ArgumentError(cause, "badak.where(mask, value, x)")
        if value.requires_grad or (value.is_floating_point() and input.is_floating_point()):
            return where(mask, cast(value, input.dtype), input)
        value = value.item()
    try:
        value = fit(operand(value, "masked_fill"), input._array.dtype, "masked_fill")
        return apply(select.MaskedFill, input, mask, c=value)
    except ValueError:
        stretched(input._array.shape, mask._array.shape)
        raise


def check_mask(name: str, mask: Any) -> None:
    if mask._array.dtype.kind != "b":
        cause = tr("{} only supports boolean masks, but got mask with dtype {}", name, mask.dtype)
        raise DTypeError(cause, "mask.bool(); True = the chosen")


def nan_to_num(input: Tensor, nan: float | None = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with NaN, +inf and -inf replaced (by 0 and the dtype's largest and smallest numbers).   dx = dy elsewhere."""
    if input._array.dtype.kind in "iub":
        return input.clone()
    if input._array.dtype.kind == "c":
        return view_as_complex(nan_to_num(view_as_real(input), nan, posinf, neginf))
    limits = dtypes.finfo(input.dtype)
    x = where(input.isnan(), 0.0 if nan is None else nan, input)
    x = where(input.isposinf(), limits.max if posinf is None else posinf, x)
    return where(input.isneginf(), limits.min if neginf is None else neginf, x)
