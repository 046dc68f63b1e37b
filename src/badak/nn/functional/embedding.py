"""Tables of vectors, and one-hot vectors."""

from typing import Any

import numpy as np

from badak.autograd import no_grad
from badak.core import events
from badak.core.errors import ArgumentError, DTypeError, IndexOutOfRangeError, tr
from badak.kernels.memory_format import row_major
from badak.nn.functional._common import tensor
from badak.ops.embedding import Embedding, check
from badak.ops.sparse import SparseEmbedding
from badak.tensor import Tensor, apply
from badak.tensor.inplace import changed_

__all__ = ["embedding", "one_hot"]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """y[..., :] = weight[ids[...], :].   dweight[v] = sum of dy where ids == v.

    ids int (...), weight (V, C) -> (..., C). The row `padding_idx` gets no gradient. With `max_norm`, rows that are used
    and longer than that are first shortened to it, in place. With `sparse` the gradient of a leaf is a sparse tensor that names
    the rows that were used.

    Args:
        input: integer ids (...)
        weight: the table (V, C)
        padding_idx: this row gets no gradient
        max_norm: rows that are used are first shortened to this norm, in place
        norm_type: p of that norm
        scale_grad_by_freq: divide the gradient of a row by how often it occurs
        sparse: the gradient of the table is a sparse tensor

    Returns: (..., C)

    Raises:
        IndexOutOfRangeError: for an id outside 0 .. V - 1

    Example:
        >>> F.embedding(badak.tensor([1, 0]), badak.tensor([[1.0], [2.0]])).tolist()
        [[2.0], [1.0]]
    """
    ids, weight = tensor(input, "embedding"), tensor(weight, "embedding", "weight")
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            cause = tr("embedding: Padding_idx must be within num_embeddings; got padding_idx={}, {} rows", padding_idx, rows)
            raise IndexOutOfRangeError(cause, tr("padding_idx in 0..{}", rows - 1))
        padding_idx %= rows
    if max_norm is not None:
        _shorten(weight, ids, max_norm, norm_type)
    op = SparseEmbedding if sparse else Embedding
    return apply(op, weight, ids, padding_idx=padding_idx, scale_grad_by_freq=scale_grad_by_freq)


@events.writes
def _shorten(weight: Tensor, ids: Tensor, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are used down to max_norm where they are longer."""
    check(weight._array, ids._array)
    table, used = weight._array, np.unique(ids._array)
    norms = np.linalg.norm(table[used], norm_type, axis=-1)
    long = norms > max_norm
    if long.any():
        with np.errstate(invalid="ignore", over="ignore"):  # a row with an infinity becomes NaN
            table[used[long]] *= (max_norm / (norms[long] + 1e-7))[:, None].astype(table.dtype)
        with no_grad():
            changed_(weight, "embedding with max_norm")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:  # noqa: F811  (PyTorch's name of the argument)
    """y[..., v] = [v == ids[...]], int64 (..., V). num_classes=-1: one more than the largest id.

    Args:
        tensor: integer ids (...)
        num_classes: V; -1 for one more than the largest id

    Returns: int64 (..., V)

    Raises:
        IndexOutOfRangeError: for an id outside 0 .. V - 1

    Example:
        >>> F.one_hot(badak.tensor([0, 2])).tolist()
        [[1, 0, 0], [0, 0, 1]]
    """
    ids = tensor._array
    if ids.dtype != np.int64:
        raise DTypeError(tr("one_hot is only applicable to index tensor of type LongTensor; got {}", tensor.dtype), "ids.long()")
    if num_classes == -1:
        if ids.size == 0:
            raise ArgumentError("one_hot: Can not infer total number of classes from empty tensor.", "num_classes=V")
        events.read(tr("one_hot, for the number of classes"))
        _check_classes(tensor, int(ids.max()) + 1)
        return _one_hot(tensor, int(ids.max()) + 1)
    _check_classes(tensor, num_classes)
    return _one_hot(tensor, num_classes)


@events.check(elementwise=True)
def _check_classes(tensor: Tensor, num_classes: int) -> None:
    ids = tensor._array
    if ids.size and ids.min() < 0:
        cause = tr("one_hot: Class values must be non-negative; got {}", int(ids.min()))
        raise IndexOutOfRangeError(cause, "mask negative ids first")
    if ids.size and ids.max() >= num_classes:
        cause = tr("one_hot: Class values must be smaller than num_classes; got id {}, num_classes={}", int(ids.max()), num_classes)
        raise IndexOutOfRangeError(cause, f"num_classes={int(ids.max()) + 1}")


@events.pure(elementwise=True)
def _one_hot(tensor: Tensor, num_classes: int) -> Tensor:
    return Tensor._of((row_major(tensor._array)[..., None] == np.arange(num_classes)).astype(np.int64))
