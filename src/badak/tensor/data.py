"""Python's numbers and nested lists as arrays: which dtype they take, and how a number enters memory of a dtype.

A number goes from Python into its dtype in one step, so a float64 tensor gets all digits of a Python float; and a number
that the dtype cannot hold is refused where another one would stand in its place.
"""

import math
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.kernels.half import converted
from badak.tensor import dtypes
from badak.tensor.dlpack import handed
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.tensor import Tensor

_ARRAYS = (Tensor, np.ndarray, np.generic)


def as_array(data: Any, kind: np.dtype | None = None) -> np.ndarray:
    """`data` in NumPy's dtype `kind`, or in the one that PyTorch infers; arrays and tensors of that dtype are not copied."""
    if isinstance(data, _ARRAYS):
        array = data._array if isinstance(data, Tensor) else _known(np.asarray(data))
        return array if kind is None else converted(array, kind)
    if (held := handed(data)) is not data:
        return as_array(held, kind)
    if isinstance(data, str | bytes) or data is None:
        cause = tr("tensor: expected numbers; got {}", type(data).__name__)
        raise ArgumentTypeError(cause, "turn text into ids with a vocabulary first")
    if isinstance(data, list | tuple) and any(issubclass(leaf, _ARRAYS) for leaf in _leaf_types(data)):
        return _stacked(data, kind)
    try:
        array = np.array(data)
    except ValueError as problem:
        cause = tr("tensor: expected lists of equal lengths; got ragged data ({})", str(problem).split(".")[0])
        raise ShapeError(cause, "pad the rows to one length, as nn.utils.rnn.pad_sequence does") from problem
    if array.dtype.kind in "US":
        raise ArgumentTypeError("tensor: expected numbers; got str", "turn text into ids with a vocabulary first")
    if array.dtype.kind == "f" and array.size and not _has_float(data):
        array = np.array(data, dtype=object)  # ints, one of which is beyond int64
    if array.dtype.kind in "iu" and array.dtype != np.int64 and not (array > 2**63 - 1).any():
        array = array.astype(np.int64)  # the numbers of a bytearray or the like count as Python's
    if array.dtype.kind in "Ou":  # ints beyond int64, or what is no number
        array = _of_objects(array.astype(object), kind)
    wanted = _inferred(array) if kind is None else kind
    _check_values(array, wanted)
    return converted(array, wanted)


def _has_float(data) -> bool:
    """Whether a number of the data is no int."""
    found = _leaf_types(data) - {list, tuple} if isinstance(data, list | tuple) else {type(data)}
    return not all(issubclass(leaf, int) for leaf in found)


def _inferred(array: np.ndarray) -> np.dtype:
    """PyTorch's dtype for Python data that NumPy read as `array`."""
    default = dtypes.default_dtype()
    if array.size == 0 or array.dtype.kind == "f":
        return default.numpy
    if array.dtype.kind == "c":
        return default.to_complex().numpy
    dtypes.of_numpy(array.dtype)
    return array.dtype


def _of_objects(array: np.ndarray, kind: np.dtype | None) -> np.ndarray:
    """An array of ints that do not fit into int64 as float64, which only a dtype of floats asks for."""
    odd = next((type(v).__name__ for v in array.ravel() if not isinstance(v, int | float | complex | np.generic)), None)
    if odd is not None:
        raise ArgumentTypeError(tr("tensor: expected numbers; got {}", odd), "convert the data to numbers first")
    if kind is None or kind.kind not in "fcV":
        worst = next(v for v in array.ravel() if isinstance(v, int) and not -(2**63) <= v < 2**63)
        raise IndexOutOfRangeError(tr("tensor: {} does not fit into int64", short(worst)), "dtype=badak.float64 holds it, rounded")
    try:
        return array.astype(np.complex128 if kind.kind == "c" else np.float64)
    except (OverflowError, TypeError):
        raise IndexOutOfRangeError(tr("tensor: a number of the data does not fit into {}", kind), "smaller numbers") from None


def _check_values(array: np.ndarray, kind: np.dtype) -> None:
    """Refuse Python data that would be other numbers in `kind`, as PyTorch does; fractions are cut, and -1 in uint8 is 255."""
    if array.dtype == kind or not array.size:
        return
    if array.dtype.kind == "c" != kind.kind:
        raise DTypeError(tr("tensor: expected real numbers for {}; got complex ones", kind), "a complex dtype, or their real parts")
    if kind.kind not in "iu" or array.dtype.kind not in "if":
        return
    for worst in (array.min(), array.max()):
        fit(worst.item(), kind, "tensor")


def fit(c: Any, kind: np.dtype, where: str) -> Any:
    """The number c, ready to be stored in NumPy's dtype `kind`; refused where that cannot hold it, as in PyTorch.

    An integer dtype cuts fractions, and uint8 takes -1 as 255.
    """
    one = type(c)
    if one is complex and not c.imag and kind.kind in "fViu":
        c, one = c.real, float
    if kind.kind in "fV":
        if one is complex:
            raise DTypeError(
                tr("{}: value cannot be converted to type {} without overflow: it expected a real number; got {}", where, kind, c),
                "c.real, or a complex tensor",
            )
        if one is int and kind.itemsize > 2 and -(2**63) <= c < 2**63:
            return c
        try:
            c = float(c)
        except OverflowError:
            raise _too_large(c, kind, where) from None
        if math.isfinite(c) and abs(c) > dtypes.largest(kind):
            raise _too_large(c, kind, where)
        return c
    if kind.kind in "iu":
        if one is complex or (one is float and not math.isfinite(c)):
            raise _too_large(c, kind, where)
        c, limits = int(c), np.iinfo(kind)
        low = -limits.max if kind.kind == "u" else limits.min
        if not low <= c <= limits.max:
            raise _too_large(c, kind, where)
        return c % (limits.max + 1) if kind.kind == "u" else c
    if kind.kind == "b":
        return bool(c)
    for part in (c.real, c.imag) if one is complex else (c,):
        fit(part, np.finfo(kind).dtype, where)
    return c


def _too_large(c, kind: np.dtype, where: str) -> IndexOutOfRangeError:
    cause = tr("{}: value cannot be converted to type {} without overflow; got {}", where, kind, short(c))
    return IndexOutOfRangeError(cause, tr("a number that {} holds, or a tensor of a larger dtype", kind))


def short(c: complex) -> str:
    """c as text that stays short."""
    return f"an int of {c.bit_length()} bits" if isinstance(c, int) and c.bit_length() > 128 else str(c)


def _known(array: np.ndarray) -> np.ndarray:
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    dtypes.of_numpy(array.dtype)
    return array


def _leaf_types(data) -> set[type]:
    """The types of what lies in nested lists."""
    found = set(map(type, data))
    if found.isdisjoint((list, tuple)):
        return found
    for part in data:
        if isinstance(part, list | tuple):
            found |= _leaf_types(part)
    return found


def _only(x: Tensor) -> np.ndarray:
    if x._array.size != 1:
        raise ArgumentError(
            tr("only one element tensors can be converted to Python scalars; got one of shape {} in a list", list(x._array.shape)),
            "badak.stack(tensors)",
        )
    return x._array.reshape(())


def _stacked(data, kind: np.dtype | None) -> np.ndarray:
    """Lists in which arrays or tensors lie as one array, in the dtype that their parts have together; a tensor is one number."""
    events.read(tr("a list of tensors"))
    data = [_only(part) if isinstance(part, Tensor) else part for part in data]
    parts = [as_array(part) for part in data]
    if len({part.shape for part in parts}) > 1:
        cause = tr("tensor: expected items of one shape; got {}", sorted({tuple(part.shape) for part in parts}))
        raise ShapeError(cause, "pad them to one length, as nn.utils.rnn.pad_sequence does")
    if kind is None:
        common = dtypes.of_numpy(parts[0].dtype)
        for part in parts:
            common = dtypes.promote_types(common, dtypes.of_numpy(part.dtype))
        kind = common.numpy
    if any(part.dtype != kind for part in parts):  # numbers of Python are read again, at full length
        parts = [as_array(part, kind) for part in data]
    return np.stack(parts)


def unlike_storage(wanted: DType, found: DType) -> DTypeError:
    """The complaint about numbers of another dtype than is to be seen."""
    cause = tr("Expected a Storage of type {} or an UntypedStorage, but got {}", wanted.word, found.word)
    return DTypeError(cause, "x.untyped_storage(), or the same dtype")
