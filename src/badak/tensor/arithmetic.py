"""Sums, differences, products, quotients, powers. Tensors broadcast; numbers take the tensor's dtype category."""

from typing import Any

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, NotSupportedError, tr
from badak.ops import arithmetic as ops
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.convert import cast
from badak.tensor.data import fit
from badak.tensor.once_more import keep
from badak.tensor.promote import binary, factor, into, not_a_tensor, number, operand, result_type, same, tensor_of
from badak.tensor.tensor import Tensor

_TAKE_NUMBERS = ("add", "sub", "mul", "div", "floor_divide")  # of two numbers they make a tensor too, as in PyTorch


def run(name: str, pair: Any, right: Any, left: Any, a: Any, b: Any) -> Tensor:
    """`pair` on two tensors, `right` on (tensor, number), `left` on (number, tensor)."""
    if isinstance(a, Tensor):
        if isinstance(b, Tensor):
            return binary(pair, a, b)
        kind = type(b)
        if (kind is float or kind is int) and a._array.dtype.kind == "f":
            return apply(right, a, c=b)
    a, b = operand(a, name), operand(b, name)
    if isinstance(a, Tensor):
        if isinstance(b, Tensor):
            return binary(pair, a, b)
        x, c = number(a, b)
        return apply(right, x, c=c)
    if isinstance(b, Tensor):
        x, c = number(b, a)
        return apply(left, x, c=c)
    if name in _TAKE_NUMBERS:
        return run(name, pair, right, left, *_two_numbers(name, a, b))
    raise ArgumentTypeError(tr("{}: expected at least one Tensor; got two numbers", name), None)


def _two_numbers(name: str, a, b) -> tuple[Tensor, Tensor]:
    wanted = result_type(a, b)
    if name == "div" and wanted.kind in ("bool", "int"):
        wanted = dtypes.default_dtype()
    return tensor_of(a, wanted), tensor_of(b, wanted)


def tensors(name: str, a: Any, b: Any) -> tuple:
    """a and b as tensors in their common dtype."""
    a, b = operand(a, name), operand(b, name)
    if name in _TAKE_NUMBERS and not (isinstance(a, Tensor) or isinstance(b, Tensor)):
        return _two_numbers("", a, b)
    if not isinstance(a, Tensor):
        a, b = tensor_of(a, result_type(a, b)), b
    elif not isinstance(b, Tensor):
        b = tensor_of(b, result_type(a, b))
    return same(a, b)


def add(input: Tensor | complex, other: Any, *, alpha: complex | None = 1, out: Tensor | None = None) -> Tensor:
    """input + alpha other.   dinput = dy, dother = alpha dy."""
    if alpha is True or isinstance(alpha, Tensor) or alpha != 1:  # a tensor is not asked: a compiled step could not be replayed
        other = _scaled(input, other, alpha)
    y = run("add", ops.Add, ops.Shift, ops.Shift, input, other)
    return y if out is None else into(out, y)


def sub(input: Any, other: Any, *, alpha: complex | None = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha other.   dinput = dy, dother = -alpha dy.   Booleans cannot be subtracted, as in PyTorch."""
    no_bool("Subtraction", input, other)
    if alpha is True or isinstance(alpha, Tensor) or alpha != 1:  # a tensor is not asked: a compiled step could not be replayed
        other = _scaled(input, other, alpha)
    if type(other) is float or type(other) is int:
        y = run("sub", ops.Add, ops.Shift, ops.Shift, input, -other)
    else:
        other = operand(other, "sub")
        if isinstance(other, Tensor):
            y = run("sub", ops.Sub, ops.Shift, ops.SubFrom, input, other)
        else:
            y = run("sub", ops.Add, ops.Shift, ops.Shift, input, -other)
    return y if out is None else into(out, y)


def rsub(input: Tensor, other: Tensor | complex, *, alpha: complex = 1) -> Tensor:
    """other - alpha input."""
    return sub(other, input, alpha=alpha)


def _scaled(input, other, alpha):
    """alpha other. A tensor alpha is one number, through which no gradient goes, as in PyTorch."""
    result, kind = result_type(input, other), type(alpha).__name__
    if isinstance(alpha, Tensor):
        if alpha.dim() or alpha.requires_grad:
            what = tr("one that requires grad") if alpha.requires_grad else tr("shape {}", tuple(alpha.shape))
            cause = tr("argument 'alpha' must be Number, or a tensor of no dimension; got {}", what)
            raise ArgumentTypeError(cause, "alpha.item()")
        kind = alpha.dtype.kind
    if kind == "bool" and result.kind != "bool":
        raise ArgumentError(tr("Boolean {} only supported for Boolean results.", "alpha"), "alpha=1")
    if kind == "float" and result.kind in ("int", "uint", "bool"):
        cause = tr("For integral input tensors, argument alpha must not be a floating point number.")
        raise ArgumentError(cause, "an int, or x.float()")
    if kind == "complex" != result.kind:
        cause = tr("For non-complex input tensors, argument alpha must not be a complex number.")
        raise ArgumentError(cause, "a real number, or x.to(badak.complex64)")
    if result.kind == "bool":
        alpha = alpha.bool() if isinstance(alpha, Tensor) else bool(alpha)
        return other & alpha
    if not isinstance(other, Tensor):
        return other * alpha
    if result.kind in ("int", "uint") and not isinstance(alpha, Tensor):
        alpha = fit(alpha, result.numpy, "alpha")
    made = mul(other, alpha)
    keep((made,), other)
    return made


def no_bool(what: str, *xs: Any) -> None:
    sign = "`-`"
    for x in xs:
        if isinstance(x, Tensor):
            if x._array.dtype.kind == "b":
                cause = tr("{}, the {} operator, with a bool tensor is not supported. If you are trying to invert a "
                           "mask, use the `~` or `logical_not()` operator instead.", what, sign)  # fmt: skip
                raise DTypeError(cause, "~mask, or mask.float() to compute with it")
        elif isinstance(x, bool):
            raise DTypeError(tr("{}, the {} operator, with a bool is not supported.", what, sign), "int(flag)")


def mul(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """input other, element by element.   dinput = dy other, dother = dy input."""
    y = run("mul", ops.Mul, ops.Scale, ops.Scale, input, other)
    return y if out is None else into(out, y)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; of integers too, in the default float dtype.   dinput = dy / other, dother = -dy input / other^2.

    rounding_mode "floor" or "trunc" rounds the quotient down or towards 0 and keeps integers integers (gradient 0).
    """
    if rounding_mode is not None:
        y = _rounded(input, other, rounding_mode)
        return y if out is None else into(out, y)
    if isinstance(input, Tensor) and input._array.dtype.kind not in "fcV":
        input = _float_against(input, other)
    if isinstance(other, Tensor) and other._array.dtype.kind not in "fcV":
        other = _float_against(other, input)
    y = run("div", ops.Div, ops.DivBy, ops.DivInto, input, other)
    return y if out is None else into(out, y)


def _float_against(x: Tensor, other) -> Tensor:
    wanted = result_type(x, operand(other, "div"))
    return cast(x, wanted if wanted.is_floating_point or wanted.is_complex else dtypes.default_dtype())


def _rounded(input, other, rounding_mode: str) -> Tensor:
    if rounding_mode not in ("floor", "trunc"):
        cause = tr("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{}'", rounding_mode)
        raise ArgumentError(cause, None)
    return _whole("div", ops.FloorDiv if rounding_mode == "floor" else ops.TruncDiv, input, other)


def _whole(name: str, op, input, other) -> Tensor:
    a, b = tensors(name, input, other)
    _no_two_bools(name, a)
    if b._array.dtype.kind in "iub" and 0 not in a.shape:  # of nothing, nothing is divided
        _check_divisor(name, b)
    return binary(op, a, b)


def _no_two_bools(name: str, common: Tensor) -> None:
    if common._array.dtype.kind == "b":
        raise NotSupportedError(tr("\"{}\" not implemented for 'Bool'", name), "x.int() first")


@events.check
def _check_divisor(name: str, b) -> None:
    if not b._array.all():
        raise ArgumentError(tr("ZeroDivisionError: {} of integers by 0", name), "floats give inf or nan there: x.float()")


def floor_divide(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """floor(input / other); the gradient is 0 (PyTorch gives none)."""
    return into(out, _whole("floor_divide", ops.FloorDiv, input, other))


def remainder(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
    """input - other floor(input / other), with the sign of other.   dinput = dy, dother = -dy floor(input / other)."""
    return into(out, _whole("remainder", ops.Remainder, input, other))


def fmod(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
    """input - other trunc(input / other), with the sign of input.   dinput = dy, dother = -dy trunc(input / other)."""
    return into(out, _whole("fmod", ops.Fmod, input, other))


def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input^exponent.   dinput = dy exponent input^(exponent - 1), dexponent = dy y ln(input).

    An integer tensor to a negative integer power raises, as in PyTorch.
    """
    if isinstance(input, Tensor) and input._array.dtype.kind in "iub" and isinstance(exponent, int) and exponent < 0:
        raise ArgumentError("Integers to negative integer powers are not allowed.", "x.float() ** exponent")
    if isinstance(input, Tensor) and input._array.dtype.kind == "b" and result_type(input, exponent) is dtypes.bool_:
        _no_two_bools("pow", input)
    return into(out, run("pow", ops.Pow, ops.PowBy, ops.PowOf, input, exponent))


def float_power(input: Any, exponent: Any) -> Tensor:
    """input^exponent, computed in float64, or complex128 where one of them is complex."""
    complex_ = any(x.is_complex() if isinstance(x, Tensor) else isinstance(x, complex) for x in (input, exponent))
    wanted = dtypes.complex128 if complex_ else dtypes.float64
    double = [cast(x, wanted) if isinstance(x, Tensor) else x for x in (input, exponent)]
    return pow(*double)


def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-input.   dx = -dy."""
    if input._array.dtype.kind == "b":
        no_bool("Negation", input)
    return into(out, apply(ops.Neg, input), exact=True)


def positive(input: Tensor) -> Tensor:
    """input itself."""
    if not isinstance(input, Tensor):
        raise not_a_tensor("positive", input)
    if input._array.dtype.kind == "b":
        raise DTypeError("positive: not defined for booleans", "x.int() first")
    return input


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 tensor2.   dinput = dy, dtensor1 = value dy tensor2, dtensor2 = value dy tensor1."""
    xs = same(input, tensor1, tensor2)
    return into(out, apply(ops.Addcmul, *xs, c=factor(xs[0], value, "addcmul")))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: complex = 1, out: Tensor | None = None) -> Tensor:
    """input + value tensor1 / tensor2.   dinput = dy, dtensor1 = value dy / tensor2, and so on."""
    if tensor1._array.dtype.kind in "iub" and tensor2._array.dtype.kind in "iub":
        raise DTypeError(
            "Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform a true division of "
            "tensor1 and tensor2.",
            "(input + value * (tensor1 / tensor2)), or torch.div(..., rounding_mode='trunc') for integers",
        )
    xs = same(input, tensor1, tensor2)
    return into(out, apply(ops.Addcdiv, *xs, c=factor(xs[0], value, "addcdiv")))


def lerp(input: Any, end: Any, weight: Any, *, out: Tensor | None = None) -> Tensor:
    """input + weight (end - input), for a number or a tensor `weight`; weight = 1 gives exactly `end`."""
    if input.dtype is not end.dtype:
        raise DTypeError(tr("lerp: expected one dtype; got input={}, end={}", input.dtype, end.dtype), "end.to(input.dtype)")
    if input._array.dtype.kind in "iub":
        raise NotSupportedError(tr("\"lerp\" not implemented for '{}'", input.dtype.word), "x.float() first")
    if isinstance(weight, Tensor):
        if weight.is_complex() and not input.is_complex():
            raise DTypeError(tr("lerp: expected a real weight; got {}", weight.dtype), "input.to(weight.dtype)")
        y = apply(ops.Lerp, input, end, cast(weight, input.dtype))
    else:
        y = apply(ops.LerpBy, input, end, c=factor(input, weight, "lerp"))
    return into(out, y)


subtract, multiply, divide, true_divide, negative = sub, mul, div, div, neg
