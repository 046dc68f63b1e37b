"""Entries and slices along one axis, by their positions: picked, put back, added. `dim` counts from 0."""

from typing import Any

import numpy as np

from badak import kernels
from badak.kernels.memory_format import copied
from badak.kernels.reference._arrays import grid
from badak.ops._broadcast import add_rows, by_rows, quiet, zeros
from badak.ops.batching import every
from badak.ops.index import Index, IndexPut
from badak.ops.op import Op
from badak.ops.operation import operation


def _part(src: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The corner of src that a smaller index uses."""
    return src if src.shape == index.shape else src[tuple(map(slice, index.shape))]


def _slice(index: np.ndarray, dim: int) -> tuple:
    """The key of the slices `index` along `dim`."""
    return (*(slice(None),) * dim, index)


def _added_back(dy: np.ndarray, index: np.ndarray, dim: int, x_shape: tuple[int, ...]) -> np.ndarray:
    dx = np.zeros(x_shape, dy.dtype)
    kernels.of(dx).scatter_add(dx, index, dy, dim)
    return dx


def _put_back(dy: np.ndarray, index: np.ndarray, dim: int, x_shape: tuple[int, ...]) -> np.ndarray:
    dx = np.zeros(x_shape, dy.dtype)
    dx[grid(index, dim)] = dy
    return dx


def _added_back_twice(dy: Any, index: np.ndarray, dim: int, x_shape: tuple[int, ...]) -> Any:
    return ScatterAdd.of(zeros(x_shape, dy), index, dy, dim=dim)


def _gathered(x: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    return kernels.of(x).gather(x, index, dim)


Gather = operation(
    "Gather", "y[i0, .., ik, .., in] = x[i0, .., index[i0, .., in], .., in], at position k = dim;   dx = dy added back there.",
    _gathered, _added_back, None, twice=(_added_back_twice, None), lies=by_rows,
)  # fmt: skip
TakeAlong = operation(
    "TakeAlong", "As Gather, for an index that picks no entry twice, as a sort or an argmax makes it;   dx = dy put back there.",
    _gathered, _put_back, None, twice=(_added_back_twice, None), lies=by_rows, data_movement=True,
)  # fmt: skip


def _replaced(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    y = x.copy()
    y[grid(index, dim)] = _part(src, index)
    return y


def _filled(x: np.ndarray, index: np.ndarray, c: Any, dim: int) -> np.ndarray:
    y = x.copy()
    y[grid(index, dim)] = c
    return y


def _added(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    y = x.copy()
    kernels.of(y).scatter_add(y, index, _part(src, index), dim)
    return y


def _without(dy: Any, index: np.ndarray, dim: int) -> Any:
    """dy, 0 at the positions."""
    return ScatterFill.of(dy, index, c=0, dim=dim)


def _picked(dy: Any, index: np.ndarray, dim: int, src_shape: tuple[int, ...]) -> Any:
    """dy at the positions, 0 for the entries of src that a smaller index leaves out."""
    part = Gather.of(dy, index, dim=dim)
    if part.shape == src_shape:
        return part
    return IndexPut.of(zeros(src_shape, dy), part, key=tuple(map(slice, part.shape)))


Scatter = operation(
    "Scatter", "y = x with y[.., index[i], ..] = src[i] along `dim`;   dx = dy, 0 where replaced;   dsrc = dy there.", _replaced,
    _without, None, _picked, owns_grads=False, data_movement=True,
)  # fmt: skip
ScatterFill = operation(
    "ScatterFill", "y = x with y[.., index[i], ..] = c along `dim`;   dx = dy, 0 there.", _filled,
    _without, None, data_movement=True,
)  # fmt: skip
ScatterAdd = operation(
    "ScatterAdd", "y = x with y[.., index[i], ..] += src[i] along `dim`;   dx = dy;   dsrc = dy there.", _added,
    lambda dy: dy, None, _picked, lies=quiet, owns_grads=False,
)  # fmt: skip


def _along_one_index(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    """Op.batching where all examples have one index."""
    if batched[1]:
        return NotImplemented
    x, index, *src = xs
    x, *src = every([x, *src], [batched[0], *batched[2:]])
    return run(op, x, index, *src, **attributes | {"dim": attributes["dim"] + 1}) if x.ndim > 1 else NotImplemented


def _each_selected(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
    (x, index), dim = xs, attributes["dim"]
    if not batched[1]:
        return run(op, x, index, dim=dim + 1)
    if not batched[0]:
        return run(Index, x.movedim(dim, 0), key=(index._array,)).movedim(1, dim + 1)
    key = (np.arange(len(x))[:, None], index._array)
    return run(Index, x.movedim(dim + 1, 1), key=key).movedim(1, dim + 1)


def _slices(dy: Any, index: np.ndarray, dim: int) -> Any:
    return IndexSelect.of(dy, index, dim=dim)


IndexSelect = operation(
    "IndexSelect", "y's k-th slice along `dim` = x's slice index[k];   dx = dy's slices added back.",
    lambda x, index, dim: x.take(index, dim),
    lambda dy, x_shape, dim, index: add_rows(x_shape, dim, index, dy),
    None,
    twice=(lambda dy, x_shape, dim, index: IndexAdd.of(zeros(x_shape, dy), index, dy, dim=dim), None), batching=_each_selected,
)  # fmt: skip


def _slices_added(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int, c: int = 1) -> np.ndarray:
    y = x.copy()
    kernels.of(y).index_add(y, index, src if c == 1 else src * c, dim)
    return y


def _slices_replaced(x: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int) -> np.ndarray:
    y = x.copy()
    kernels.of(y).index_copy(y, dim, index, src)
    return y


def _slices_filled(x: np.ndarray, index: np.ndarray, c: float, dim: int) -> np.ndarray:
    y = copied(x)
    y[_slice(index, dim)] = c
    return y


def _without_slices(dy: Any, index: np.ndarray, dim: int) -> Any:
    return IndexFill.of(dy, index, c=0, dim=dim)


IndexAdd: type[Op] = operation(
    "IndexAdd", "y = x with slice index[k] along `dim` += c src[k];   dx = dy;   dsrc[k] = c dy[index[k]].", _slices_added,
    lambda dy: dy, None, lambda dy, index, dim, c: _slices(dy, index, dim) * c,
    lies=quiet, slope=quiet, owns_grads=False, batching=_along_one_index,
)  # fmt: skip
IndexCopy = operation(
    "IndexCopy", "y = x with slice index[k] along `dim` = src[k];   dx = dy, 0 there;   dsrc[k] = dy[index[k]].", _slices_replaced,
    _without_slices, None, _slices,
    owns_grads=False, data_movement=True, batching=_along_one_index,
)  # fmt: skip
IndexFill = operation(
    "IndexFill", "y = x with the slices `index` along `dim` = c;   dx = dy, 0 there.", _slices_filled,
    _without_slices, None, data_movement=True, batching=_along_one_index,
)  # fmt: skip
