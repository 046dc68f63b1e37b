"""Complaints that several operations share; called only once a check has failed, so that hot code pays nothing."""

import math
from operator import index
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, DTypeError, IndexOutOfRangeError, NotSupportedError, tr

# PyTorch's other words for dtypes, which its messages use: float16 is Half, and c10::Half in C++.
WORDS = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "float16": "Half",
    "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
    "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64", "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e8m0fnu": "Float8_e8m0fnu",
}  # fmt: skip
_IN_CPP = {
    "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int", "int64": "long int", "float32": "float",
    "float64": "double", "bool": "bool", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


def in_cpp(name: str) -> str:
    """The C++ type of a dtype: float for float32, c10::Half for float16."""
    return _IN_CPP.get(name) or f"c10::{WORDS.get(name, name)}"


def cannot_multiply(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """PyTorch's words for a (..., K) times b (K', N); a program's author may search for them."""
    sizes = [(math.prod(a[:-1]), *a[-1:]), b]
    return tr("mat1 and mat2 shapes cannot be multiplied ({})", " and ".join("x".join(map(str, size)) for size in sizes))


def dtype_mismatch(where: str, words: str = "", **arrays: Any) -> DTypeError:
    """The complaint about arrays of different dtypes, None left out; `words` are PyTorch's, which stand first."""
    found = ", ".join(f"{name}={x.dtype}" for name, x in arrays.items() if x is not None)
    first = next(iter(arrays))
    told = tr("{}: ", words) if words else ""
    cause = tr("{}{}: expected one floating dtype; got {}", told, where, found)
    return DTypeError(cause, tr("x.to({}.dtype) for the others", first))


def unlike_factors(a: np.ndarray, b: np.ndarray) -> str:
    """PyTorch's words for a product a b of two dtypes."""
    if a.ndim == b.ndim == 1:
        return tr("dot : expected both vectors to have same dtype, but found {} and {}", _word(a), _word(b))
    if b.ndim == 1:
        return tr("addmv input tensors must have the same dtype, but got {}, {}, and {}", _word(b), _word(a), _word(b))
    if b.ndim == 2:
        return tr("expected m1 and m2 to have the same dtype, but got: {} != {}", _in_cpp(a), _in_cpp(b))
    return unlike_scalars(a, b)


def unlike_summands(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> str:
    """PyTorch's words for x w^T + b of several dtypes."""
    if b is None:
        return unlike_factors(x, w)
    name, other = ("mat1", x) if b.dtype == w.dtype else ("self", b)
    return tr("{} and mat2 must have the same dtype, but got {} and {}", name, _word(other), _word(w))


def unlike_filters(x: np.ndarray, w: np.ndarray, b: np.ndarray | None) -> str:
    """PyTorch's words for a convolution of several dtypes."""
    if b is not None and b.dtype != x.dtype:
        return tr("Input type ({}) and bias type ({}) should be the same", _in_cpp(x), _in_cpp(b))
    return unlike_scalars(x, w)


def unlike_attended(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> str:
    """PyTorch's words for queries, keys and values of several dtypes; "" where a mask is the one that differs."""
    found = f"query.dtype: {_in_cpp(q)} key.dtype: {_in_cpp(k)} and value.dtype: {_in_cpp(v)}"
    alike = q.dtype == k.dtype == v.dtype
    return "" if alike else f"Expected query, key, and value to have the same dtype, but got {found} instead"


def unlike_scalars(a: np.ndarray, b: Any) -> str:
    """PyTorch's words of its inner loops, where an array has another dtype than the first."""
    return tr("expected scalar type {} but found {}", _word(a), _word(b))


def _word(x: np.ndarray) -> str:
    return WORDS.get(x.dtype.name, x.dtype.name)


def _in_cpp(x: np.ndarray) -> str:
    return in_cpp(x.dtype.name)


def not_floating(where: str, x: Any) -> DTypeError:
    """The complaint about integers or booleans where only floats make sense."""
    return DTypeError(tr("{}: expected a floating dtype; got {}", where, x.dtype), "x.float() first")


def within(ids: np.ndarray, n: int) -> bool:
    """Whether all of the integers `ids` are in 0 .. n - 1."""
    if ids.size == 1:
        return 0 <= ids.item() < n
    if ids.size == 0:
        return True
    if ids.dtype == np.int64:  # one look instead of two, 1.2 us each: as unsigned numbers, negative ones are the largest
        return ids.view(np.uint64).max() < n
    return ids.min() >= 0 and ids.max() < n


def position(where: np.ndarray) -> str:
    """ "[0, 1]" for the first True of a boolean array."""
    index = [int(axis[0]) for axis in where.nonzero()] if where.ndim else []
    return f"[{', '.join(map(str, index))}]" if index else ""


def whole(n: Any) -> int:
    """n as an int; TypeError where it is none, as a bool, which Python could count with."""
    if type(n) is bool:
        raise TypeError
    return index(n)


def in_order(name: str, *tensors: Any) -> None:
    """Refuse complex tensors and arrays, where NumPy would order them by their real parts."""
    for x in tensors:
        if getattr(x, "_array", x).dtype.kind == "c":
            raise DTypeError(tr("{}: complex numbers have no order", name), "x.abs() compares their sizes")


def expect_real(name: str, *tensors: Any) -> None:
    """Refuse complex tensors, whose imaginary parts would be lost, or mean nothing."""
    for x in tensors:
        if x._array.dtype.kind == "c":
            raise DTypeError(tr("{}: expected real numbers; got {}", name, x.dtype), "x.real")


def expect_floats(name: str, *tensors: Any, also: str = "") -> None:
    """Refuse integers and booleans, which PyTorch does not compute it for; those kinds of dtypes that stand in `also` it does."""
    for x in tensors:
        if (kind := x._array.dtype.kind) in "iub" and kind not in also:
            raise NotSupportedError(tr("\"{}\" not implemented for '{}'", name, x.dtype.word), "x.float() first")


def axis_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front; a 0-d array has the axes -1 and 0, as in PyTorch."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        cause = tr("Dimension out of range (expected to be in range of [{}, {}], but got {})", -span, span - 1, dim)
        raise IndexOutOfRangeError(cause, tr("the input has {} dims; dim=-1 is the last", ndim))
    return dim % span


def keepdim_error(keepdim: int) -> ArgumentTypeError:
    """The complaint about what is no bool, such as a second dim where keepdim stands."""
    cause = tr("keepdim must be a bool, but got {!r} of type {}", keepdim, type(keepdim).__name__)
    return ArgumentTypeError(cause, "x.sum((0, 1)) reduces two dims; x.sum(0, keepdim=True) keeps one")
