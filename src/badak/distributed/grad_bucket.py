"""A bucket of gradients as a communication hook sees it."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, ShapeError, tr
from badak.tensor import Tensor


class GradBucket:
    """Some gradients in one row, `buffer()`; those that this rank does not have are zeros."""

    def __init__(self, number: int, params: list[Tensor], row: np.ndarray, last: bool) -> None:
        self._number, self._params, self._row, self._last = number, params, row, last
        self._buffer = Tensor._of(row)

    def index(self) -> int:
        """Its number; that of the bucket whose sum begins first is 0."""
        return self._number

    def buffer(self) -> Tensor:
        """All gradients, one after the other."""
        return self._buffer

    def set_buffer(self, buffer: Tensor) -> None:
        """Put another tensor in the place of buffer()."""
        one_tensor(buffer, self._buffer)
        self._buffer = buffer

    def gradients(self) -> list[Tensor]:
        """Each gradient, in the memory of the first buffer()."""
        ends = np.cumsum([p._array.size for p in self._params])
        return [Tensor._of(part.reshape(p._array.shape)) for p, part in zip(self._params, np.split(self._row, ends[:-1]))]

    def parameters(self) -> list[Tensor]:
        """Whose gradients they are."""
        return list(self._params)

    def is_last(self) -> bool:
        """Whether it is the last bucket of this backward."""
        return self._last


def one_tensor(found: Any, buffer: Tensor) -> Tensor:
    """The values of a bucket that a hook gave. Raises ArgumentTypeError or ShapeError for anything else."""
    if not isinstance(found, Tensor):
        cause = tr("DistributedDataParallel: the communication hook gave a {} for a bucket", type(found).__name__)
        raise ArgumentTypeError(cause, "a future of a tensor with the values of bucket.buffer()")
    if found._array.size != buffer._array.size:
        cause = tr("DistributedDataParallel: the communication hook gave {} values for a bucket of {}", found._array.size,
                   buffer._array.size)  # fmt: skip
        raise ShapeError(cause, "as many as bucket.buffer() has")
    return found
