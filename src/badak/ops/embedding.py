"""Rows of a table."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.ops._check import position, within
from badak.ops.batching import values_of
from badak.ops.op import Op


class Embedding(Op):
    """y[..., :] = w[ids[...], :];   dw[v] = sum of dy over the places where ids == v.

    w (V, C), ids int (...) -> (..., C). The row `padding_idx` gets no gradient; with `scale_grad_by_freq` the sum is
    divided by the number of its places.
    """

    data_movement = True
    capturable = True
    keeps_finite = True

    @staticmethod
    def forward(
        save: Any, w: np.ndarray, ids: np.ndarray, padding_idx: int | None = None, scale_grad_by_freq: bool = False
    ) -> np.ndarray:
        check(w, ids)
        save.ids, save.rows = ids, w.shape[0]
        save.padding_idx, save.scale_grad_by_freq = padding_idx, scale_grad_by_freq
        return kernels.of(w).embedding(w, ids)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        return (kernels.of(dy).embedding_backward(dy, saved.ids, saved.rows, saved.padding_idx, saved.scale_grad_by_freq), None)

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        (w, ids), rows = xs, xs[0].shape[batched[0]]
        if not batched[0]:
            return run(op, w, ids, **attributes)
        if attributes.get("padding_idx") is not None:
            return NotImplemented
        check(values_of(w).reshape(-1, w.shape[-1])[:rows], values_of(ids))
        ids = ids if batched[1] else ids.expand(len(w), *ids.shape)
        first = w.new_tensor(range(0, rows * len(w), rows), dtype=ids.dtype)
        return run(op, w.flatten(0, 1), ids + first.reshape(-1, *(1,) * (ids.ndim - 1)), **attributes)


def check(w: np.ndarray, ids: np.ndarray) -> None:
    """Raise where these are no table and no ids of its rows."""
    if w.ndim != 2:
        raise ShapeError(tr("embedding: 'weight' must be 2-D, (V, C); got weight={}", w.shape), "a table of V rows of C")
    if ids.dtype.kind not in "iu":
        raise DTypeError(tr("embedding: expected ids of dtype int64 or int32; got {}", ids.dtype), "ids.long()")
    if not within(ids, w.shape[0]):
        raise _out_of_range(ids, w.shape[0])


def _count_up(ids: np.ndarray) -> bool:
    """Whether every row of ids is one number after the other, and all rows are the same: positions, not words."""
    row = ids.reshape(-1, ids.shape[-1])[0] if ids.ndim else ids
    return row.size > 2 and bool((row[1:] - row[:-1] == 1).all()) and bool((ids == row).all())


def _out_of_range(ids: np.ndarray, rows: int) -> IndexOutOfRangeError:
    wrong = (ids < 0) | (ids >= rows)
    first, largest, smallest = int(ids[wrong].flat[0]), int(ids.max()), int(ids.min())
    extreme = tr("max id {}", largest) if largest >= rows else tr("min id {}", smallest)
    cause = tr("embedding: input_ids{} = {} but Embedding has {} rows (0..{}). {}; index out of range for {} of {} ids",
               position(wrong), first, rows, rows - 1, extreme, int(wrong.sum()), ids.size)  # fmt: skip
    if largest >= rows and smallest >= 0 and _count_up(ids):
        cause = tr("embedding: ids count up {}..{}, as positions do, but Embedding has {} rows (0..{}); "
                   "index out of range for {} of {} ids", smallest, largest, rows, rows - 1, int(wrong.sum()),
                   ids.size)  # fmt: skip
        return IndexOutOfRangeError(cause, tr("a table of {} positions, or texts of at most {} tokens", largest + 1, rows), code=13)
    if largest >= rows:
        return IndexOutOfRangeError(cause, tr("vocab_size={}, or same tokenizer as in training", largest + 1), code=12)
    fix = tr("ids from 0; mask or replace negative ids (-100 marks ignored labels) before the embedding")
    return IndexOutOfRangeError(cause, fix, code=12)
