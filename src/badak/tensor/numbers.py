"""Functions of numbers as they are written down: signs, digits, powers of two, divisors, angles."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import DTypeError, tr
from badak.core.public_api.taken import named
from badak.kernels.memory_format import laid
from badak.ops import special as ops
from badak.ops._broadcast import quiet, stretched
from badak.tensor import returns
from badak.tensor.arithmetic import mul, tensors
from badak.tensor.convert import cast
from badak.tensor.elementwise import logaddexp
from badak.tensor.once_more import once_more
from badak.tensor.promote import binary, floating, into, same
from badak.tensor.tensor import Tensor
from badak.tensor.upcast import in_float32

LN2 = 0.6931471805599453


def copysign(input: Any, other: Any, *, out: Tensor | None = None) -> Tensor:
    """|input| with the sign of other.   dinput = dy y / input, 0 at 0."""
    whole = isinstance(input, Tensor) and input._array.dtype.kind in "iub" and not isinstance(other, Tensor)
    a, b = tensors("copysign", floating(input, "copysign") if whole else input, other)  # -2 is 254 in uint8
    _no_complex("copysign", a)
    return into(out, binary(ops.Copysign, floating(a, "copysign"), floating(b, "copysign")))


def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The next float from input towards other.   dinput = dy, dother = 0."""
    a, b = tensors("nextafter", input, other)
    if not (a.is_floating_point() and b.is_floating_point()):
        raise DTypeError(tr("nextafter: expected floating numbers; got {} and {}", a.dtype, b.dtype), "x.float()")
    return into(out, binary(ops.NextAfter, a, b))


def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The larger of the two, the other one where one is NaN.   dy goes to the one that is taken, to input where they are equal."""
    _no_complex("fmax", input, other)
    return into(out, binary(ops.Fmax, input, other))


def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The smaller of the two, the other one where one is NaN.   dy goes to the one that is taken, to input where they are equal."""
    _no_complex("fmin", input, other)
    return into(out, binary(ops.Fmin, input, other))


def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log2(2^input + 2^other)."""
    a, b = tensors("logaddexp2", input, other)
    return into(out, _logaddexp2(*same(a, b)))


@in_float32
def _logaddexp2(a: Tensor, b: Tensor) -> Tensor:
    return logaddexp(a * LN2, b * LN2) / LN2


@once_more
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Degrees in radians: x pi / 180."""
    _no_complex("deg2rad", input)
    return into(out, mul(floating(input, "deg2rad"), math.pi / 180))


@once_more
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Radians in degrees: x 180 / pi."""
    _no_complex("rad2deg", input)
    return into(out, mul(floating(input, "rad2deg"), 180 / math.pi))


def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input 2^other."""
    whole = other._array.dtype.kind in "iub"
    other = cast(other, input.dtype) if whole and input.is_floating_point() else floating(other, "ldexp")
    return into(out, mul(input, other.exp2()))


def _of_two(name: str, ufunc, kinds: str, doc: str, alike: bool = False) -> Callable[..., Tensor]:
    """The public function of a ufunc without gradient on dtypes of these kinds; `alike`: on two of one, as is its result."""

    def function(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        if alike and isinstance(input, Tensor) and isinstance(other, Tensor) and input.dtype is not other.dtype:
            cause = tr("{} is not yet implemented for tensors with different dtypes. Got {} and {}", name, input.dtype, other.dtype)
            raise DTypeError(cause, "one dtype for both: x.to(other.dtype)")
        a, b = tensors(name, input, other)
        if a._array.dtype.kind not in kinds:
            wanted = "integers" if kinds == "iu" else tr("real numbers")
            raise DTypeError(tr("{}: expected {}; got {}", name, wanted, a.dtype), "x.long()" if kinds == "iu" else "x.real")
        try:
            y = Tensor._of(laid(ufunc(a._array, b._array), a._array, b._array))
        except ValueError:
            stretched(a._array.shape, b._array.shape)
            raise
        return into(out, y, exact=alike)

    return events.pure(named(function, name, doc))


gcd = _of_two("gcd", np.gcd, "iu", tr("The greatest common divisor of integers; gcd(0, 0) = 0."))
lcm = _of_two("lcm", np.lcm, "iu", tr("The least common multiple of integers; lcm(0, 0) = 0."))
heaviside = _of_two(
    "heaviside",
    quiet(lambda x, at_zero: np.where(x == 0, at_zero, (x > 0).astype(x.dtype))),
    "iufbV",
    tr("0 below 0, 1 above, other at 0; without gradient."),
    alike=True,
)


@events.pure(elementwise=True)
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Where the sign is set, of -0.0 too."""
    _no_complex("signbit", input)
    x = input._array
    return into(out, Tensor._of(laid(np.signbit(x) if x.dtype.kind in "fV" else x < 0, x)), exact=True)


@events.pure(elementwise=True)
def isreal(input: Tensor) -> Tensor:
    """Where the imaginary part is 0: everywhere, of real numbers."""
    x = input._array
    return Tensor._of(laid(np.isreal(x), x))


def frexp(input: Tensor, *, out: Tensor | Sequence[Tensor] | None = None) -> Any:
    """(mantissa, exponent): x = mantissa 2^exponent with 0.5 <= |mantissa| < 1, exponent int32.   dx = dmantissa 2^-exponent."""
    if input._array.dtype.kind not in "fV":
        raise DTypeError(tr("torch.frexp() only supports floating-point dtypes; got {}", input.dtype), "x.float()")
    exponent = _exponent(input)
    half = exponent // 2  # in two steps, as 2^-exponent of the smallest numbers is beyond the largest
    return returns.frexp(input * (-half).to(input.dtype).exp2() * (half - exponent).to(input.dtype).exp2(), exponent)


@events.pure(elementwise=True)
def _exponent(x: Tensor) -> Tensor:
    array = x._array if x._array.dtype.kind == "f" else x._array.astype(np.float32)
    return Tensor._of(laid(np.frexp(array)[1].astype(np.int32), x._array))


def _no_complex(name: str, *xs) -> None:
    for x in xs:
        if isinstance(x, Tensor) and x.is_complex():
            raise DTypeError(tr("{}: expected real numbers; got {}", name, x.dtype), "x.real")
