"""Sums, means and maxima of rows of a table."""

from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, tr, warn
from badak.nn.functional._common import tensor
from badak.nn.functional.embedding import embedding
from badak.ops._check import expect_floats
from badak.tensor import Tensor, arange, cat, full, int64, where
from badak.tensor.upcast import in_float32

__all__ = ["embedding_bag"]


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: Any = None,
) -> Tensor:
    """The sum, mean or max of the rows weight[ids] of each bag: ids (B, N), or (T,) with bags from each of `offsets` on.

    per_sample_weights, of ids' shape, multiply the rows of a sum. The row padding_idx counts nowhere. An empty bag gives zeros.
    """
    if weight.dtype is int64 and input.is_floating_point():
        cause = tr("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
                   "deprecated, and should now be `embedding_bag(input, weight, ...)`.")  # fmt: skip
        warn(cause, "embedding_bag(input, weight, ...)")
        input, weight = weight, input
    ids = tensor(input, "embedding_bag")
    expect_floats("embedding_bag", tensor(weight, "embedding_bag", "weight"))
    if mode not in ("sum", "mean", "max"):
        raise ArgumentError(tr("embedding_bag: mode has to be one of sum, mean or max; got {!r}", mode), 'mode="mean"')
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != ids.shape):
        cause = tr("embedding_bag: per_sample_weights is only supported for mode='sum', and has input's shape; got mode={!r}, {}",
                   mode, tuple(per_sample_weights.shape))  # fmt: skip
        raise ArgumentError(cause, 'mode="sum"')
    if ids.dim() not in (1, 2) or (offsets is None) != (ids.dim() == 2):
        cause = tr("embedding_bag: expected ids (B, N) without offsets, or (T,) with them; got {}", tuple(ids.shape))
        raise ArgumentError(cause, "ids.flatten(), offsets")
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        cause = tr("embedding_bag: expected weight and per_sample_weights to have the same type, got {} and {}", weight.dtype,
                   per_sample_weights.dtype)  # fmt: skip
        raise ArgumentError(cause, "per_sample_weights.to(weight.dtype)")
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            cause = tr("embedding_bag: padding_idx must be within the number of embeddings: {} of {}", padding_idx, weight.shape[0])
            raise ArgumentError(cause, "padding_idx=None")
        padding_idx %= weight.shape[0]
    if sparse and mode == "max":
        raise ArgumentError("embedding_bag: max mode does not support sparse weights", "sparse=False")
    rows = embedding(ids.reshape(-1), weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    bags, count = _bags(ids, offsets, include_last_offset)
    keep = None if padding_idx is None else ids.reshape(-1) != padding_idx
    if mode == "max":
        rows, bags = (rows, bags) if keep is None else (rows[keep], bags[keep])
        return _largest(rows, bags.unsqueeze(-1).expand(rows.shape), count)
    return _summed(rows, per_sample_weights, keep, bags, count, mode == "mean")


def _largest(rows: Tensor, at: Tensor, count: int) -> Tensor:
    """The largest row of each bag, column by column; the gradient goes to the first of equal ones."""
    x, n = rows.detach(), rows.shape[0]
    top = x.new_zeros((count, x.shape[1])).scatter_reduce(0, at, x, "amax", include_self=False)
    place = where((x == top.gather(0, at)) | x.isnan(), arange(n).unsqueeze(-1), n)
    first = full((count, x.shape[1]), n).scatter_reduce(0, at, place, "amin")
    return cat([rows, rows.new_zeros((1, x.shape[1]))]).gather(0, first)  # an empty bag gives the zeros at the end


@in_float32
def _summed(rows: Tensor, weights, keep, bags: Tensor, count: int, mean: bool) -> Tensor:
    """The sum or mean of the rows of each bag that are kept, each times its weight."""
    rows = rows if keep is None else rows.masked_fill(~keep.unsqueeze(-1), 0)
    rows = rows if weights is None else rows * weights.reshape(-1, 1)
    total = rows.new_zeros((count, rows.shape[1])).index_add(0, bags, rows)
    if not mean:
        return total
    one = rows.new_ones(rows.shape[:1]) if keep is None else keep.to(rows.dtype)
    return total / rows.new_zeros(count).index_add(0, bags, one).clamp(min=1).unsqueeze(-1)


def _bags(ids: Tensor, offsets, include_last: bool) -> tuple[Tensor, int]:
    """(the bag of each id, how many bags there are)."""
    if offsets is None:
        return Tensor._of(np.repeat(np.arange(ids.shape[0]), ids.shape[1])), ids.shape[0]
    events.read(tr("embedding_bag, for where bags begin"))
    starts = offsets._array
    starts = starts[:-1] if include_last else starts
    if starts.size and (starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > ids.shape[0]):
        cause = tr("embedding_bag: offsets[0] has to be 0, and offsets to rise up to {}; got {}", ids.shape[0], starts.tolist()[:8])
        raise ArgumentError(cause, "offsets from 0")
    return Tensor._of(np.searchsorted(starts, np.arange(ids.shape[0]), "right") - 1), int(starts.size)
