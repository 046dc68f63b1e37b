"""From a list of examples to one batch: tensors are stacked, containers keep their form."""

from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence
from copy import copy
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentTypeError, ShapeError, tr
from badak.tensor import Tensor, stack
from badak.tensor.dtypes import of_numpy


def default_convert(data: Any) -> Any:
    """NumPy arrays and numbers in `data` as tensors, in the containers that they came in; all else as it is."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SUO" else _tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _mapping_like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        members = [default_convert(value) for value in data]
        return type(data)(*members) if hasattr(data, "_fields") else members
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence_like(data, [default_convert(value) for value in data])
    return data


def collate(batch: Any, *, collate_fn_map: Any = None) -> Any:
    """One batch of the examples `batch`, by the functions that `collate_fn_map` gives for a type or a tuple of types.

    Each is called as f(batch, collate_fn_map=...). Mappings, named tuples, tuples and sequences are taken apart and put
    together again. Raises ArgumentTypeError for anything else, ShapeError for sequences of unequal length.
    """
    first = batch[0]
    for kind in (type(first), *(collate_fn_map or ())):
        if kind in (collate_fn_map or ()) and isinstance(first, kind):
            return (collate_fn_map or {})[kind](batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        made = {key: collate([one[key] for one in batch], collate_fn_map=collate_fn_map) for key in first}
        return _mapping_like(first, made)
    if isinstance(first, Sequence):
        named = hasattr(first, "_fields")
        if not all(isinstance(one, Sequence) for one in batch):
            odd = next(one for one in batch if not isinstance(one, Sequence))
            cause = tr("default_collate: {} and {} in one batch", type(first), type(odd))
            raise ArgumentTypeError(cause, "examples of one kind, or collate_fn")
        if not named and any(len(one) != len(first) for one in batch):
            cause = tr("each element in list of batch should be of equal size; got lengths {}", sorted({len(one) for one in batch}))
            raise ShapeError(cause, "pad the examples, or pass collate_fn")
        members = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch)]
        if isinstance(first, tuple):
            return type(first)(*members) if named else members
        return _sequence_like(first, members)
    cause = tr("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}", type(first))
    raise ArgumentTypeError(cause, "pass collate_fn, a function from a list of examples to a batch")


def _mapping_like(original, values: dict):
    """`values` in a mapping of the kind of `original`; a dict where that kind cannot be made so."""
    try:
        if isinstance(original, MutableMapping):
            made = copy(original)  # keeps what a subclass carries next to its keys
            made.update(values)
            return made
        return type(original)(values)
    except TypeError:
        return values


def _sequence_like(original, values: list):
    try:
        if isinstance(original, MutableSequence):
            made = copy(original)
            for i, value in enumerate(values):
                made[i] = value
            return made
        return type(original)(values)
    except TypeError:
        return values


def _tensor(array: np.ndarray) -> Tensor:
    of_numpy(array.dtype)  # raises for what tensors cannot hold
    return Tensor._of(array)


def _need_equal_shapes(batch) -> None:
    for i, one in enumerate(batch):
        if one.shape != batch[0].shape:
            cause = tr("stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}", list(batch[0].shape),
                       list(one.shape), i)  # fmt: skip
            raise ShapeError(cause, "pad the examples to one length, or pass collate_fn")


def collate_tensor_fn(batch: Sequence[Tensor], *, collate_fn_map: dict | None = None) -> Tensor:
    """Tensors of one shape, stacked along a new first axis."""
    _need_equal_shapes(batch)
    if any(x.requires_grad for x in batch):
        return stack(batch, 0)
    return Tensor._of(np.stack([x._array for x in batch]))


def collate_numpy_array_fn(batch: list, *, collate_fn_map: dict | None = None) -> Tensor:
    """Arrays of one shape as one tensor; arrays of strings or objects are refused."""
    if batch[0].dtype.kind in "SUO":
        cause = tr("default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}", batch[0].dtype)
        raise ArgumentTypeError(cause, "convert the array to numbers first")
    _need_equal_shapes(batch)
    return _tensor(np.stack(batch))


def _numbers(dtype=None):
    def collate_numbers(batch, *, collate_fn_map=None):
        return _tensor(np.asarray(batch, dtype))

    return collate_numbers


def collate_str_fn(batch: list | tuple, *, collate_fn_map: dict | None = None) -> Any:
    """Texts stay a list."""
    return batch


default_collate_fn_map = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): _numbers(),
    float: _numbers(np.float64),
    int: _numbers(),
    str: collate_str_fn,
    bytes: collate_str_fn,
}
events.for_all(globals(), "default_collate_fn_map")


def default_collate(batch: Sequence | Sequence[float]) -> Any:
    """One batch of the examples `batch`: tensors, arrays and numbers (float64, int64) become tensors with a new first axis.

    Texts stay lists; dicts, named tuples, lists and tuples (which become lists) are collated member by member.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
