"""Comparisons, logic and bits. Results have no gradient."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, NotSupportedError, tr
from badak.core.public_api.taken import named
from badak.kernels.half import sortable
from badak.kernels.memory_format import laid
from badak.ops._broadcast import elementwise, quiet, stretched
from badak.ops._check import in_order
from badak.tensor import dtypes
from badak.tensor.arithmetic import tensors
from badak.tensor.data import as_array
from badak.tensor.promote import into, number, operand, same
from badak.tensor.tensor import Tensor


def _fitted(number: float, dtype: np.dtype) -> Any:
    """A number as PyTorch compares with it: of the dtype, an integer counted round where it is outside, a float infinite there."""
    if dtype.kind in "fV" and abs(number) > dtypes.largest(dtype):
        return math.copysign(math.inf, number)
    if dtype.kind == "V":
        return dtype.type(number)
    if dtype.kind not in "iu" or type(number) is not int or not -(2**63) <= number < 2**63:
        return number
    bits = 8 * dtype.itemsize
    below = 2 ** (bits - 1) if dtype.kind == "i" else 0
    return (number + below) % 2**bits - below


def _comparison(name: str, ufunc, symbol: str) -> Callable[..., Tensor]:
    ordered = name not in ("eq", "ne")
    silent = quiet(ufunc)  # bfloat16's warns of a NaN

    def function(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
        try:
            a = input._array
        except AttributeError:
            input, other = tensors(name, input, operand(other, name))
            a = input._array
        kind = type(other)
        if isinstance(other, Tensor):
            b: Any = other._array
            if b.dtype is not a.dtype and b.dtype != a.dtype:
                a, b = (x._array for x in same(input, other))
        elif kind is int or kind is bool or kind is float:
            b = other if 0 <= other < 128 and a.dtype.kind != "V" else _fitted(other, a.dtype)  # type: ignore[operator, arg-type]
        else:
            b = operand(other, name)
            if isinstance(b, Tensor):
                return function(input, b, out=out)
            x, b = number(input, b)
            a = x._array
        if ordered:
            in_order(name, a)
        try:
            y = Tensor._of(laid((silent if a.dtype.kind == "V" else ufunc)(a, b), a, b))
        except ValueError:
            stretched(a.shape, np.shape(b))
            raise
        return into(out, y)

    return events.pure(named(function, name, f"input {symbol} other, element by element, as booleans."), ufunc=ufunc)


eq = _comparison("eq", np.equal, "==")
ne = not_equal = _comparison("ne", np.not_equal, "!=")
lt = less = _comparison("lt", np.less, "<")
le = less_equal = _comparison("le", np.less_equal, "<=")
gt = greater = _comparison("gt", np.greater, ">")
ge = greater_equal = _comparison("ge", np.greater_equal, ">=")


def _test(name: str, ufunc, doc: str, ordered: bool = False) -> Callable[..., Tensor]:
    def function(input: Tensor) -> Tensor:
        array = input._array
        if ordered:
            in_order(name, input)
        if array.dtype.kind in "iub":
            return Tensor._of(laid(np.full(array.shape, name == "isfinite"), array))
        return Tensor._of(laid(ufunc(array), array))

    return events.pure(named(function, name, doc), ufunc=ufunc)


isnan = _test("isnan", np.isnan, "Where x is NaN.")
isinf = _test("isinf", np.isinf, "Where x is +inf or -inf.")
isfinite = _test("isfinite", np.isfinite, "Where x is neither NaN nor infinite.")
isposinf = _test("isposinf", lambda x: x == np.inf, "Where x is +inf.", ordered=True)
isneginf = _test("isneginf", lambda x: x == -np.inf, "Where x is -inf.", ordered=True)


def _logical(name: str, ufunc, doc: str) -> Callable[..., Tensor]:
    def function(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
        b = other._array if isinstance(other, Tensor) else other
        return into(out, Tensor._of(laid(ufunc(input._array, b), input._array, b)))

    return events.pure(named(function, name, doc), ufunc=ufunc)


logical_and = _logical("logical_and", np.logical_and, "True where both are nonzero.")
logical_or = _logical("logical_or", np.logical_or, "True where one is nonzero.")
logical_xor = _logical("logical_xor", np.logical_xor, "True where exactly one is nonzero.")


@events.pure(elementwise=True)
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """True where input is 0."""
    return into(out, Tensor._of(np.logical_not(input._array)))


def _bitwise(name: str, ufunc, doc: str) -> Callable[..., Tensor]:
    def function(input: Tensor, other: Tensor | complex, *, out: Tensor | None = None) -> Tensor:
        if isinstance(input, Tensor) and isinstance(other, Tensor) and input._array.dtype == other._array.dtype:
            a, b = input, other
        else:
            a, b = tensors(name, input, other)
        if a._array.dtype.kind not in "iub":
            raise _no_bits(name, a)
        try:
            y = Tensor._of(laid(ufunc(a._array, b._array), a._array, b._array))
        except ValueError:
            stretched(a._array.shape, b._array.shape)
            raise
        return into(out, y)

    return events.pure(named(function, name, doc), ufunc=ufunc)


def _no_bits(name: str, x: Tensor) -> NotSupportedError:
    cause = tr("\"{}_cpu\" not implemented for '{}': bits exist in integers and booleans only", name, x.dtype.word)
    return NotSupportedError(cause, "x.bool() or x.long()")


bitwise_and = _bitwise("bitwise_and", np.bitwise_and, "input & other, bit by bit; of booleans: both.")
bitwise_or = _bitwise("bitwise_or", np.bitwise_or, "input | other, bit by bit; of booleans: at least one.")
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor, "input ^ other, bit by bit; of booleans: exactly one.")
bitwise_left_shift = _bitwise("bitwise_left_shift", np.left_shift, "input << other.")
bitwise_right_shift = _bitwise("bitwise_right_shift", np.right_shift, "input >> other.")


@events.pure(elementwise=True)
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """~input, bit by bit; of booleans: not."""
    if input._array.dtype.kind not in "iub":
        raise DTypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors", "mask.bool() first, or -x")
    return into(out, Tensor._of(np.invert(input._array)))


_isclose = elementwise(np.isclose)


@events.pure(elementwise=True)
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """|input - other| <= atol + rtol |other|, element by element."""
    if input.dtype is not other.dtype:
        raise DTypeError(tr("isclose: expected one dtype; got {} and {}", input.dtype, other.dtype), "other.to(input.dtype)")
    if rtol < 0 or atol < 0:
        raise ArgumentError(tr("isclose: expected rtol and atol >= 0; got {} and {}", rtol, atol), "rtol=1e-5, atol=1e-8")
    return Tensor._of(_isclose(input._array, other._array, rtol, atol, equal_nan))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether |input - other| <= atol + rtol |other| everywhere.

    Args:
        input, other: tensors that broadcast
        rtol: relative tolerance
        atol: absolute tolerance
        equal_nan: NaN equals NaN

    Returns: bool

    Example:
        >>> badak.allclose(badak.ones(2), badak.ones(2) + 1e-7)
        True
    """
    events.read("allclose")
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape and the same values."""
    events.read("equal")
    return np.array_equal(input._array, other._array)


@events.pure
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Which of `elements` occur in `test_elements`; either may be a number."""
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise ArgumentTypeError("isin: expected a Tensor as elements or test_elements; got two numbers", "badak.tensor(elements)")
    a, b = (x._array if isinstance(x, Tensor) else as_array(operand(x, "isin")) for x in (elements, test_elements))
    if 0 < b.size <= 4:  # a few ends of a text, asked for at each token: NumPy's own way takes ten times as long
        found = a == b.flat[0]
        for one in b.flat[1:]:
            found = found | (a == one)
        return Tensor._of(np.asarray(~found if invert else found, order="C"))
    return Tensor._of(np.isin(sortable(a), sortable(b), assume_unique=assume_unique, invert=invert))


def is_nonzero(input: Tensor) -> bool:
    """Whether the one value is not 0."""
    return bool(input)


def is_tensor(obj: Any) -> bool:
    """Whether obj is a Tensor."""
    return isinstance(obj, Tensor)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape."""
    return input._array.shape == other._array.shape
