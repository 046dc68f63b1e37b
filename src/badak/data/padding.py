"""Rows of different lengths as one batch: filled up to the longest, and put together with rows of like length.

ids = pad([[5, 6, 7], [8]], value=0)                   [[5, 6, 7], [8, 0, 0]]
padding_mask(ids, 0)                                   [[False, False, False], [False, True, True]]

order = BucketBatchSampler(lengths, tokens=4_096, multiple=8, generator=Generator().manual_seed(0))
loader = DataLoader(rows, batch_sampler=order, collate_fn=lambda rows: pad(rows, value=0, multiple=8))
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.data.sampler import Sampler
from badak.io.errors import shown
from badak.tensor import Tensor, from_numpy
from badak.tensor.random import Generator, default_generator


def pad(rows: Sequence[Any], value: int, multiple: int = 1, left: bool = False) -> Tensor:
    """Rows of integers as one tensor, int64 (B, T): T is the longest of them, rounded up to a multiple.

        y[b, t] = rows[b][t]  for t < len(rows[b]),  else value          with left: the row ends at T instead

    rows: B lists, arrays or tensors of one axis. multiple: few different T let compiled steps see few shapes. Raises ArgumentError
    for no row and for a multiple below 1, ShapeError and DTypeError for a row that is no row of integers.

    Args:
        rows: B lists, arrays or tensors of one axis
        value: what is added
        multiple: T is rounded up to a multiple of it
        left: add at the beginning

    Returns: int64 (B, T)

    Example:
        >>> from badak.data import pad
        >>> pad([[1, 2], [3]], 0).tolist()
        [[1, 2], [3, 0]]
    """
    if not len(rows):
        raise ArgumentError("pad: expected one row or more; got none", "pad([[1, 2], [3]], 0)")
    _expect_multiple("pad", multiple)
    arrays = [_row(i, row) for i, row in enumerate(rows)]
    T = rounded_up(max(map(len, arrays)), multiple)
    made = np.full((len(arrays), T), value, np.int64)
    for row, array in zip(made, arrays):
        row[T - len(array) if left else 0 :][: len(array)] = array
    return from_numpy(made)


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Where ids (B, T) are padding: bool (B, T), True = padding, as PyTorch's `key_padding_mask` has it.

    Args:
        ids: (B, T)
        pad_id: id of padding

    Returns: bool (B, T), True = padding

    Example:
        >>> from badak.data import padding_mask
        >>> padding_mask(badak.tensor([[1, 0]]), 0).tolist()
        [[False, True]]
    """
    if ids.is_floating_point() or ids.is_complex():
        raise DTypeError(tr("padding_mask: expected ids, integers; got {}", ids.dtype), "give the ids, not what was made of them")
    return ids == pad_id


class BucketBatchSampler(Sampler[list[int]]):
    """Batches of examples of like length, so that little of a batch is padding.

    lengths: of each example, integers (N,). Either batch_size examples are a batch, or as many as fit into `tokens` with their
    padding: tokens // T, where T is the batch's longest, rounded up to `multiple`. Use the same multiple in `pad`.

        all examples by length, the longest first, equals in an order drawn again each time; cut into batches; these in random order

    Every batch but the last one cut is therefore (batch_size, T), or (tokens // T, T): as many shapes as there are T, and one. An
    epoch has the same number of batches each time. shuffle=False draws nothing: the longest come first.

    A DataLoader with this batch_sampler goes on in the middle of an epoch by its state_dict(): the order comes from `generator`
    alone, or, without one, from one number of the default generator.

    Raises ArgumentError where not one of batch_size and tokens is given, and for an example longer than `tokens`.
    """

    def __init__(self, lengths: Any, batch_size: int | None = None, tokens: int | None = None, multiple: int = 1,
                 shuffle: bool = True, generator: Generator | None = None) -> None:  # fmt: skip
        where = type(self).__name__
        if (batch_size is None) == (tokens is None):
            both = "both" if tokens is not None else "neither"
            raise ArgumentError(tr("{}: expected batch_size or tokens; got {}", where, both), "batch_size=64, or tokens=4096")
        _expect_multiple(where, multiple)
        for name, size in (("batch_size", batch_size), ("tokens", tokens)):
            if size is not None and (type(size) is not int or size < 1):
                raise ArgumentError(tr("{}: expected {} of 1 or more; got {}", where, name, shown(size)), f"{name}=64")
        self.batch_size, self.tokens, self.shuffle, self.generator = batch_size, tokens, shuffle, generator
        self.lengths = _lengths(where, lengths, multiple, tokens)
        self._cuts = np.array(self._cut(np.sort(self.lengths)[::-1]))

    def __iter__(self) -> Iterator[list[int]]:
        N, batches = len(self.lengths), len(self)
        if self.shuffle:
            source = self.generator or Generator().manual_seed(default_generator.seed64())
            ties, turns = (source.permutation(n) for n in (N, batches))
        else:
            ties, turns = np.arange(N), np.arange(batches)
        order = ties[np.argsort(-self.lengths[ties], kind="stable")]
        for i in turns.tolist():
            yield order[self._cuts[i] : self._cuts[i + 1]].tolist()

    def __len__(self) -> int:
        return len(self._cuts) - 1

    def _cut(self, lengths: np.ndarray) -> list[int]:
        """Where batches begin among the lengths in falling order, and where the last one ends."""
        cuts = [0]
        while (at := cuts[-1]) < len(lengths):
            size = (self.tokens or 0) // int(lengths[at]) if self.batch_size is None else self.batch_size
            cuts.append(min(at + size, len(lengths)))
        return cuts


def rounded_up(length: int, multiple: int) -> int:
    """The smallest multiple that is not below `length`."""
    return -(-length // multiple) * multiple


def _expect_multiple(where: str, multiple: Any) -> None:
    if type(multiple) is not int or multiple < 1:
        raise ArgumentError(tr("{}: expected a multiple of 1 or more; got {}", where, shown(multiple)), "multiple=8")


def _row(i: int, row: Any) -> np.ndarray:
    """Row i as an array (T,)."""
    array = row.numpy() if isinstance(row, Tensor) else np.asarray(row)
    if array.ndim != 1:
        raise ShapeError(tr("pad: expected rows of one axis; row {} has shape {}", i, array.shape), "pad([row, row, ...], value)")
    if array.size and array.dtype.kind not in "iu":
        raise DTypeError(tr("pad: expected rows of integers; row {} is {}", i, array.dtype), "the ids that a tokenizer gives")
    return array


def _lengths(where: str, lengths: Any, multiple: int, tokens: int | None) -> np.ndarray:
    """Lengths as padding makes them, int64 (N,)."""
    array = lengths.numpy() if isinstance(lengths, Tensor) else np.asarray(lengths)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu" or array.min() < 1:
        got = "none" if not array.size else tr("{} among them", array.min()) if array.ndim == 1 and array.dtype.kind in "iu" else (
            f"{array.dtype} {array.shape}")  # fmt: skip
        raise ArgumentError(tr("{}: expected lengths of 1 or more, an integer for each example; got {}", where, got),
                            "[len(row) for row in rows], without empty rows")  # fmt: skip
    found = -(-array.astype(np.int64) // multiple) * multiple
    if tokens is not None and found.max() > tokens:
        i = int(found.argmax())
        raise ArgumentError(tr("{}: example {} has {} tokens with its padding, more than tokens={}", where, i, found[i], tokens),
                            tr("tokens={} or more, or cut it", found[i]))  # fmt: skip
    return found
