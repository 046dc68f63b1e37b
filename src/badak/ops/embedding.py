"""Rows of a table."""

from badak import kernels
from badak.core.errors import DTypeError, IndexOutOfRangeError, ShapeError
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
    def forward(save, w, ids, padding_idx=None, scale_grad_by_freq=False):
        check(w, ids)
        save.ids, save.rows = ids, w.shape[0]
        save.padding_idx, save.scale_grad_by_freq = padding_idx, scale_grad_by_freq
        return kernels.of(w).embedding(w, ids)

    @staticmethod
    def backward(saved, dy):
        return (
            kernels.of(dy).embedding_backward(dy, saved.ids, saved.rows, saved.padding_idx, saved.scale_grad_by_freq),
            None,
        )

    @staticmethod
    def batching(run, op, xs, batched, attributes):
        (w, ids), rows = xs, xs[0].shape[batched[0]]
        if not batched[0]:
            return run(op, w, ids, **attributes)
        if attributes.get("padding_idx") is not None:
            return NotImplemented
        check(values_of(w).reshape(-1, w.shape[-1])[:rows], values_of(ids))
        ids = ids if batched[1] else ids.expand(len(w), *ids.shape)
        first = w.new_tensor(range(0, rows * len(w), rows), dtype=ids.dtype)
        return run(op, w.flatten(0, 1), ids + first.reshape(-1, *(1,) * (ids.ndim - 1)), **attributes)


def check(w, ids) -> None:
    """Raise where these are no table and no ids of its rows."""
    if w.ndim != 2:
        raise ShapeError(f"embedding: 'weight' must be 2-D, (V, C); got weight={w.shape}", "a table of V rows of C")
    if ids.dtype.kind not in "iu":
        raise DTypeError(f"embedding: expected ids of dtype int64 or int32; got {ids.dtype}", "ids.long()")
    if not within(ids, w.shape[0]):
        raise _out_of_range(ids, w.shape[0])


def _count_up(ids) -> bool:
    """Whether every row of ids is one number after the other, and all rows are the same: positions, not words."""
    row = ids.reshape(-1, ids.shape[-1])[0] if ids.ndim else ids
    return row.size > 2 and bool((row[1:] - row[:-1] == 1).all()) and bool((ids == row).all())


def _out_of_range(ids, rows: int) -> IndexOutOfRangeError:
    wrong = (ids < 0) | (ids >= rows)
    first, largest, smallest = int(ids[wrong].flat[0]), int(ids.max()), int(ids.min())
    extreme = f"max id {largest}" if largest >= rows else f"min id {smallest}"
    cause = (
        f"embedding: input_ids{position(wrong)} = {first} but Embedding has {rows} rows (0..{rows - 1}). "
        f"{extreme}; index out of range for {int(wrong.sum())} of {ids.size} ids"
    )
    if largest >= rows and smallest >= 0 and _count_up(ids):
        cause = (
            f"embedding: ids count up {smallest}..{largest}, as positions do, but Embedding has {rows} rows (0..{rows - 1}); "
            f"index out of range for {int(wrong.sum())} of {ids.size} ids"
        )
        return IndexOutOfRangeError(cause, f"a table of {largest + 1} positions, or texts of at most {rows} tokens", code=13)
    if largest >= rows:
        return IndexOutOfRangeError(cause, f"vocab_size={largest + 1}, or same tokenizer as in training", code=12)
    return IndexOutOfRangeError(
        cause, "ids from 0; mask or replace negative ids (-100 marks ignored labels) before the embedding", code=12
    )
