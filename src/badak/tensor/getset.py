"""x[key] and x[key] = value.

Basic keys (ints, slices, ..., None) give views. Keys with lists, arrays or tensors of indices, or masks, gather copies.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.modes import anywhere, modes
from badak.kernels.half import FLOAT32
from badak.ops.batching import is_batched
from badak.ops.index import Index, IndexPut, Select
from badak.tensor import dtypes
from badak.tensor.apply import apply, see
from badak.tensor.data import as_array, fit, short
from badak.tensor.inplace import changed_, expect_writable, refuse_overlap, write_
from badak.tensor.promote import told_constant
from badak.tensor.tensor import Tensor


class IndexKindError(IndexOutOfRangeError, TypeError):
    """What is no index at all: for a text PyTorch raises a TypeError, for all else an IndexError."""


_BASIC = {int, slice, type(None), type(Ellipsis)}
_MORE_THAN_NUMBERS = (Tensor, np.ndarray, list, tuple, range, slice, type(None), type(Ellipsis))


def getitem(x: Tensor, key: int | Sequence | slice | None) -> Tensor:
    """x[key]: a view for basic keys, a gathered copy for advanced ones."""
    key, basic = _array_key(x, key)
    if basic:
        try:
            return see(Select, x, key=key)
        except IndexError:
            _check(x, key)  # says what is wrong; asked only now, as a good key needs no look
            raise
    _check(x, key)
    x, key = _after_basic(x, key)
    return apply(Index, x, key=key)


def setitem(x: Tensor, key: Any, value: Tensor | float) -> None:
    """x[key] = value, with the history kept: the part that is replaced gets value's gradient."""
    key, basic = _array_key(x, key)
    if not basic:
        _check(x, key)
        x, key = _after_basic(x, key)
    if not isinstance(value, Tensor):
        value = _values(value, x._array.dtype)
    elif basic and type(value._array) is type(x._array) is np.ndarray and np.may_share_memory(x._array, value._array):
        part = x._array[key]
        if part.shape == value._array.shape:  # what is stretched to the part may lie in it, as in PyTorch
            refuse_overlap(Tensor._of(part), (value,), "__setitem__")
    recording = modes.grad and (x.requires_grad or (isinstance(value, Tensor) and value.requires_grad))
    if basic and x._whole is not None and not x._array.flags.writeable:
        x, key = getitem(x, key), Ellipsis  # where entries of x share a place, those of a part need not
    if not recording and not (basic and modes.batching):
        (assign if anywhere.has_observers and modes.observer is not None else _assign)(x, key, value)
        return
    if not isinstance(value, Tensor):
        value = Tensor._of(value) if isinstance(value, np.ndarray) else told_constant(np.asarray(value))
    if basic:
        part = getitem(x, key)
        write_(part, _drop_leading_ones(value, part._array.ndim), "__setitem__")
    else:
        write_(x, apply(IndexPut, x, value.to(x.dtype), key=key, accumulate=False), "__setitem__")


def _values(value, kind):
    """What is assigned, as a number or an array that fits `kind`: a number, lists of them, an array."""
    one = type(value)
    if one is float and kind == np.float64 or one is int and kind == np.int64 and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        value = value.item() if isinstance(value, np.generic) else value
        if kind.itemsize > 2 or kind.kind not in "fV":
            return fit(value, kind, "__setitem__")
        value = fit(value, FLOAT32, "__setitem__")  # at first, as in PyTorch: -1e9 is -inf in float16
        return value if abs(value) <= dtypes.largest(kind) or not math.isfinite(value) else math.copysign(math.inf, value)
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, list | tuple | range):
        return as_array(list(value) if one is range else value, kind)
    raise ArgumentTypeError(tr("can't assign a {} to a tensor", one.__name__), "a number, a list of numbers, or a tensor of them")


def _after_basic(x: Tensor, key):
    """x with the ints of an advanced key applied, and what is left of the key.

    PyTorch takes ints first; to NumPy an int next to an array is an index array, which puts dims in another order:
    x[0, :, [1, 2]] of a (2, 3, 4) tensor is (3, 2), and (2, 3) to NumPy.
    """
    if int not in map(type, key):
        return x, key
    first: list = []
    rest: list = []
    for part in key:
        if isinstance(part, np.ndarray):
            first += [slice(None)] * _dims(part)
            rest.append(part)
        else:
            first.append(part)
            if type(part) is not int:
                rest.append(part if part is Ellipsis else slice(None))
    return see(Select, x, key=tuple(first)), tuple(rest)


def delitem(x: Tensor, key: int) -> None:
    raise ArgumentTypeError("Tensor does not support deleting items", "select what you keep: x[keep]")


def _assign(x: Tensor, key, value) -> None:
    expect_writable(x, "__setitem__")
    _replace(x, key, value._array if isinstance(value, Tensor) else value)
    changed_(x, "__setitem__")


assign = events.writes(_assign)


def _replace(x: Tensor, key, values) -> None:
    try:
        x._array[key] = values
    except IndexError:
        _check(x, key)
        raise
    except (ValueError, TypeError) as problem:  # TypeError: an array of one value for a single place, in some dtypes
        part = np.asarray(x._array[key])
        shape = np.shape(values)
        while len(shape) > part.ndim and shape[0] == 1:
            values, shape = np.asarray(values)[0], shape[1:]
        try:
            x._array[key] = values
        except (ValueError, TypeError):
            cause = tr("shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}", list(shape),
                       list(part.shape))  # fmt: skip
            raise ShapeError(cause, "give the right side the shape of x[key]") from problem


def _drop_leading_ones(value: Tensor, ndim: int) -> Tensor:
    while value._array.ndim > ndim and value._array.shape[0] == 1:
        value = value[0]
    return value


def _array_key(x: Tensor, key):
    """The key in NumPy's words, and whether it is basic."""
    kind = type(key)
    if kind is int or kind is slice:
        return (_slice(key) if kind is slice else key), True
    if kind is not tuple:
        # PyTorch 2.13 reads a short list that holds more than numbers as a tuple: x[[[0, 1], [1, 0]]] is x[[0, 1], [1, 0]]
        as_tuple = kind is list and len(key) < 32 and any(isinstance(part, _MORE_THAN_NUMBERS) for part in key)
        key = tuple(key) if as_tuple else (key,)
    parts, basic = [], True
    for part in key:
        kind = type(part)
        if kind is slice:
            part = _slice(part)
        elif kind is not int and part is not None and part is not Ellipsis:
            part = _part(part)
            if type(part) not in _BASIC:
                basic = False
        parts.append(part)
    return tuple(parts), basic


def _part(part):
    """One element of a key: tensors and lists become arrays, 0-d integers plain ints."""
    kind = type(part)
    if kind is slice:
        return _slice(part)
    if kind is int or part is None or part is Ellipsis:
        return part
    if isinstance(part, Tensor):
        part = part._array
    elif isinstance(part, (list, tuple, range)):
        given, part = part, np.asarray([p._array if isinstance(p, Tensor) else p for p in part])
        part = part.astype(np.int64) if part.size == 0 else part
        if all(type(p) is int for p in given):
            events.constant(part)
    elif isinstance(part, (bool, np.bool_)):
        part = np.asarray(part)
    elif isinstance(part, np.ndarray):
        pass
    elif hasattr(part, "__index__"):
        return part.__index__()
    else:
        cause = tr("only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})",
                   type(part).__name__)  # fmt: skip
        raise IndexKindError(cause, "index with ints, slices, lists, or integer and bool tensors")
    if part.dtype == np.uint8:
        return old_mask(part)
    if part.dtype.kind not in "ib":
        cause = tr("tensors used as indices must be long, int, byte or bool tensors; got {}", part.dtype)
        raise IndexOutOfRangeError(cause, "index.long()")
    if part.ndim or part.dtype.kind not in "iu" or is_batched(part):
        return part
    events.read(tr("an index"))
    return int(part)


def old_mask(part: np.ndarray) -> np.ndarray:
    """Bytes as the mask that they are in PyTorch, which warns of it."""
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", UserWarning, stacklevel=4
    )
    return part.astype(bool)


def _slice(part: slice) -> slice:
    start, stop, step = part.start, part.stop, part.step
    for place, each in (("start", start), ("stop", stop), ("step", step)):
        if each is not None and not hasattr(each, "__index__"):
            raise ArgumentTypeError(
                tr("slice indices must be integers or None or have an __index__ method; {} is {}", place, short(each)),
                tr("int({}), or //, which divides into integers", short(each)) if isinstance(each, float) else "x[2:5]",
            )
    if step is not None and int(step) <= 0:
        raise ArgumentError("step must be greater than zero", "x.flip(dim) reverses")
    if (start is None or type(start) is int) and (stop is None or type(stop) is int):
        return part
    return slice(*(None if p is None else p.__index__() for p in (part.start, part.stop, part.step)))


@events.check
def _check(x: Tensor, key) -> None:
    """Raise where a key asks for what is not there."""
    shape = x._array.shape
    if type(key) is not tuple:
        key = (key,)
    used = 0
    for part in key:
        used += 0 if part is None or part is Ellipsis else part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1
    if used > len(shape):
        if not shape and used == 1 and type(key[0]) is int:
            raise IndexOutOfRangeError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                "0-dim tensor to a number",
                "x.item()",
            )
        cause = tr("too many indices for tensor of dimension {}", len(shape))
        raise IndexOutOfRangeError(cause, tr("x has shape {}", tuple(shape)))
    dim = 0
    for position, part in enumerate(key):
        if part is None:
            continue
        if part is Ellipsis:
            dim = len(shape) - sum(_dims(p) for p in key[position + 1 :])
            continue
        _check_part(part, shape, dim)
        dim += _dims(part)
    if sum(isinstance(part, np.ndarray) for part in key) > 1:
        _check_together([part for part in key if isinstance(part, np.ndarray)])


def _check_together(parts: list[np.ndarray]) -> None:
    """Raise where the index arrays of one key do not broadcast; a mask counts as the vector of its True."""
    shapes = [(int(np.count_nonzero(part)),) if part.dtype == bool else part.shape for part in parts]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        said = ", ".join(str(list(shape)) for shape in shapes)
        cause = tr("shape mismatch: indexing tensors could not be broadcast together with shapes {}", said)
        raise IndexOutOfRangeError(cause, "give them one length, or x[rows][:, columns] for every pair") from None


def _dims(part) -> int:
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1


def _check_part(part, shape, dim: int) -> None:
    if type(part) is int:
        if not -shape[dim] <= part < shape[dim]:
            raise _out_of_bounds(part, dim, shape)
    elif isinstance(part, np.ndarray):
        if part.dtype == bool:
            if part.shape != shape[dim : dim + part.ndim]:
                cause = tr("The shape of the mask {} at index 0 does not match the shape of the indexed tensor {} at index {}",
                           list(part.shape), list(shape), dim)  # fmt: skip
                raise IndexOutOfRangeError(cause, "give the mask the shape of the dims that it indexes")
        elif part.size and not shape[dim]:
            raise IndexOutOfRangeError("index is out of bounds for dimension with size 0", "that dimension is empty")
        elif part.size and (part.max() >= shape[dim] or part.min() < -shape[dim]):
            worst = part.max() if part.max() >= shape[dim] else part.min()
            raise _out_of_bounds(worst, dim, shape)


def _out_of_bounds(index, dim: int, shape) -> IndexOutOfRangeError:
    return IndexOutOfRangeError(
        tr("index {} is out of bounds for dimension {} with size {}", index, dim, shape[dim]),
        tr("the tensor has shape {}; valid here are {}..{}", tuple(shape), -shape[dim], shape[dim] - 1)
        if shape[dim]
        else "that dimension is empty",
    )
