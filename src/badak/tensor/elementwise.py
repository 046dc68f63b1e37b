"""Functions of one number, applied to each element; and choices between elements."""

from collections.abc import Callable

from badak.core.errors import ArgumentError, DTypeError, NotSupportedError
from badak.ops import activation, select, trigonometry
from badak.ops import elementwise as ops
from badak.ops import softmax as _softmax
from badak.ops._broadcast import stretched
from badak.ops._check import in_order
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.arithmetic import tensors
from badak.tensor.convert import cast
from badak.tensor.data import fit
from badak.tensor.promote import binary, floating, into, not_a_tensor, number, operand, result_type, same, tensor_of
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32


def float_function(name: str, op) -> Callable[..., Tensor]:
    """The public function of an op whose result is a float: integers come in as the default float dtype."""

    def function(input, *, out=None) -> Tensor:
        x = floating(input, name)
        y = apply(op, x)
        return y if out is None else into(out, y)

    return _named(function, name, f"{op.__doc__} An integer input gives the default float dtype.")


def _same_kind_function(name: str, op) -> Callable[..., Tensor]:
    """The public function of an op that keeps integers integers."""

    def function(input, *, out=None) -> Tensor:
        try:
            kind = input._array.dtype.kind
        except AttributeError:
            raise not_a_tensor(name, input) from None
        if kind == "b":
            raise NotSupportedError(f"{name}: not defined for booleans", "x.int() or x.float() first")
        y = apply(op, input)
        return y if out is None else into(out, y)

    return _named(function, name, op.__doc__)


def _named(function, name: str, doc: str):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


exp = float_function("exp", ops.Exp)
exp2 = float_function("exp2", ops.Exp2)
expm1 = float_function("expm1", ops.Expm1)
log = float_function("log", ops.Log)
log1p = float_function("log1p", ops.Log1p)
log2 = float_function("log2", ops.Log2)
log10 = float_function("log10", ops.Log10)
sqrt = float_function("sqrt", ops.Sqrt)
rsqrt = float_function("rsqrt", ops.Rsqrt)
reciprocal = float_function("reciprocal", ops.Reciprocal)
erf = float_function("erf", ops.Erf)
sin = float_function("sin", trigonometry.Sin)
cos = float_function("cos", trigonometry.Cos)
tan = float_function("tan", trigonometry.Tan)
asin = arcsin = float_function("asin", trigonometry.Asin)
acos = arccos = float_function("acos", trigonometry.Acos)
atan = arctan = float_function("atan", trigonometry.Atan)
sinh = float_function("sinh", trigonometry.Sinh)
cosh = float_function("cosh", trigonometry.Cosh)
asinh = arcsinh = float_function("asinh", trigonometry.Asinh)
acosh = arccosh = float_function("acosh", trigonometry.Acosh)
atanh = arctanh = float_function("atanh", trigonometry.Atanh)
tanh = float_function("tanh", activation.Tanh)
sigmoid = float_function("sigmoid", activation.Sigmoid)
square = _same_kind_function("square", ops.Square)
abs = absolute = _same_kind_function("abs", ops.Abs)
sgn = _same_kind_function("sgn", ops.Sign)
frac = _same_kind_function("frac", ops.Frac)


def _rounding(name: str, op) -> Callable[..., Tensor]:
    def function(input, *, out=None) -> Tensor:
        y = input.clone() if input._array.dtype.kind in "iub" else apply(op, input)
        return y if out is None else into(out, y)

    return _named(function, name, f"{op.__doc__} Integers stay as they are.")


floor = _rounding("floor", ops.Floor)
ceil = _rounding("ceil", ops.Ceil)
trunc = fix = _rounding("trunc", ops.Trunc)


def round(input, *, decimals: int = 0, out=None) -> Tensor:
    """The nearest number with `decimals` digits; halves go to the even neighbour.   dx = 0."""
    in_order("round", input)
    y = input.clone() if input._array.dtype.kind in "iub" else apply(ops.Round, input, decimals=decimals)
    return y if out is None else into(out, y)


def sign(input, *, out=None) -> Tensor:
    """-1, 0 or 1.   dx = 0."""
    in_order("sign", input)
    return sgn(input, out=out)


def relu(input) -> Tensor:
    """max(x, 0).   dx = dy where y > 0, else 0."""
    kind = input._array.dtype.kind
    if kind in "fV":
        return apply(activation.ReLU, input)
    if kind == "b":
        raise DTypeError("Boolean inputs not supported for relu", "x.float()")
    return clamp(input, min=0)


def softmax(input, dim: int | None = None, dtype=None, *, _stacklevel=3) -> Tensor:
    """exp(x) / sum exp(x) along `dim`, in `dtype` if given.   dx = y (dy - sum(dy y))."""
    return _along("softmax", _softmax.Softmax, input, dim, dtype)


def log_softmax(input, dim: int | None = None, dtype=None, *, _stacklevel=3) -> Tensor:
    """x - ln sum exp(x) along `dim`, in `dtype` if given.   dx = dy - exp(y) sum(dy)."""
    return _along("log_softmax", _softmax.LogSoftmax, input, dim, dtype)


def _along(name: str, op, input, dim, dtype) -> Tensor:
    x = input if dtype is None else cast(input, dtypes.to_dtype(dtype))
    if dim is None:
        raise ArgumentError(f"{name}: expected dim, along which the values sum to 1", "dim=-1 for the last")
    return apply(op, x, dim=dim)


def atan2(input, other, *, out=None) -> Tensor:
    """The angle of the point (other, input), in (-pi, pi]."""
    a, b = tensors("atan2", input, other)
    y = binary(trigonometry.Atan2, floating(a, "atan2"), floating(b, "atan2"))
    return y if out is None else into(out, y)


def logaddexp(input, other, *, out=None) -> Tensor:
    """ln(exp(input) + exp(other)).   dinput = dy exp(input - y), dother = dy exp(other - y)."""
    if input.is_complex() or other.is_complex():
        raise DTypeError("logaddexp: expected real numbers; got complex ones", "(a.exp() + b.exp()).log()")
    y = binary(ops.Logaddexp, *(floating(x, "logaddexp") for x in same(input, other)))
    return y if out is None else into(out, y)


def clamp(input, min=None, max=None, *, out=None) -> Tensor:
    """min(max(x, min), max) for numbers or tensors; None is no bound.   dx = dy where min <= x <= max, else 0."""
    if min is None and max is None:
        raise ArgumentError("torch.clamp: At least one of 'min' or 'max' must not be None", "clamp(min=0)")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        bounds = [None if b is None else operand(b, "clamp") for b in (min, max)]
        wanted = result_type(input, *[b for b in bounds if b is not None])
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
    return y if out is None else into(out, y)


clip = clamp


def clamp_min(input, min) -> Tensor:
    """max(x, min).   dx = dy where x >= min."""
    return clamp(input, min=min)


def clamp_max(input, max) -> Tensor:
    """min(x, max).   dx = dy where x <= max."""
    return clamp(input, max=max)


def maximum(input, other, *, out=None) -> Tensor:
    """The larger of the two; NaN where either is NaN.   dy goes to the larger, half to each where they are equal."""
    in_order("maximum", input, other)
    y = binary(select.Maximum, input, other)
    return y if out is None else into(out, y)


def minimum(input, other, *, out=None) -> Tensor:
    """The smaller of the two; NaN where either is NaN.   dy goes to the smaller, half to each where they are equal."""
    in_order("minimum", input, other)
    y = binary(select.Minimum, input, other)
    return y if out is None else into(out, y)


def where(condition, input=None, other=None, *, out=None):
    """input where condition, else other; with the condition alone, the indices of its True entries, one tensor per dim.

    dinput = dy where condition, else 0;   dother = 0 where condition, else dy.
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    kind = condition._array.dtype.kind
    if kind != "b":
        if condition._array.dtype != "uint8":
            raise DTypeError(
                f"where expected condition to be a boolean tensor, but got a tensor with dtype {condition.dtype}",
                "condition.bool()",
            )
        condition = cast(condition, dtypes.bool_)
    a, b = operand(input, "where"), operand(other, "where")
    wanted = result_type(a, b)
    a, b = (cast(x, wanted) if isinstance(x, Tensor) else tensor_of(x, wanted, "where") for x in (a, b))
    try:
        y = apply(select.Where, condition, a, b)
    except ValueError:
        stretched(condition._array.shape, a._array.shape, b._array.shape)
        raise
    return y if out is None else into(out, y)


def where_method(input, condition, other) -> Tensor:
    """input where condition, else other."""
    return where(condition, input, other)


def masked_fill(input, mask, value) -> Tensor:
    """value where mask, else input (in input's dtype).   dinput = 0 where mask, else dy.   mask: bool, True = replace."""
    check_mask("masked_fill_", mask)
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise ArgumentError(
                f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value._array.ndim} dimension(s).",
                "badak.where(mask, value, x)",
            )
        if value.requires_grad:
            return where(mask, cast(value, input.dtype), input)
        value = value.item()
    try:
        value = fit(operand(value, "masked_fill"), input._array.dtype, "masked_fill")
        return apply(select.MaskedFill, input, mask, c=value)
    except ValueError:
        stretched(input._array.shape, mask._array.shape)
        raise


def check_mask(name: str, mask) -> None:
    if mask._array.dtype.kind != "b":
        raise DTypeError(
            f"{name} only supports boolean masks, but got mask with dtype {mask.dtype}",
            "mask.bool(); True = the chosen",
        )


def nan_to_num(input, nan: float = 0.0, posinf=None, neginf=None) -> Tensor:
    """x with NaN, +inf and -inf replaced (by 0 and the dtype's largest and smallest numbers).   dx = dy elsewhere."""
    if input._array.dtype.kind in "iub":
        return input.clone()
    limits = dtypes.finfo(input.dtype.to_real())
    x = where(input.isnan(), nan, input)
    x = where(input.isposinf(), limits.max if posinf is None else posinf, x)
    return where(input.isneginf(), limits.min if neginf is None else neginf, x)


@in_float32
def hypot(input, other) -> Tensor:
    """sqrt(input^2 + other^2)."""
    in_order("hypot", input, other)
    a, b = same(input, other)
    return sqrt(square(a) + square(b))
