"""Sequences of different lengths without their padding: first all first steps, then all second steps, and so on."""

from typing import Any, NamedTuple

import numpy as np

from badak.core.errors import ArgumentError, expect_kind, tr
from badak.tensor import Tensor, from_numpy
from badak.tensor.concat import cat


class _Packed(NamedTuple):
    data: Tensor  # (sum of lengths, ...)
    batch_sizes: Tensor  # (T,): how many sequences have a step t
    sorted_indices: Tensor | None = None  # the sequences from the longest to the shortest
    unsorted_indices: Tensor | None = None


_CASTS = frozenset("float double half bfloat16 long int short char byte cpu pin_memory".split())


class PackedSequence(_Packed):
    """What `pack_padded_sequence` makes and recurrent layers take: data, batch_sizes and the order of the sequences."""

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The same with its data in another dtype; itself where that changes nothing."""
        return self._with(self.data.to(*args, **kwargs))

    def _with(self, data: Tensor) -> "PackedSequence":
        return self if data is self.data else self._replace(data=data)

    def __getattr__(self, name: str) -> Any:
        if name in _CASTS:
            return lambda: self._with(getattr(self.data, name)())
        if name == "is_pinned":
            return self.data.is_pinned
        raise AttributeError(f"'PackedSequence' object has no attribute '{name}'")

    @property
    def is_cuda(self) -> bool:
        return False


def lengths_of(packed: PackedSequence) -> np.ndarray:
    """The lengths of the sequences, from the longest to the shortest."""
    sizes = packed.batch_sizes._array
    return (sizes[:, None] > np.arange(sizes[0] if len(sizes) else 0)).sum(axis=0)


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (T, B, ...), or (B, T, ...) with batch_first, of these lengths, without what comes after their ends.

    enforce_sorted: the lengths must fall from the first to the last; otherwise they are sorted here.
    """
    lengths = np.asarray(lengths._array if isinstance(lengths, Tensor) else lengths, np.int64)
    x = input.transpose(0, 1) if batch_first else input
    T, B = x.shape[:2]
    if not x.numel():
        raise ArgumentError(tr("Cannot pack empty tensors."), tr("drop empty sequences"))
    if lengths.shape != (B,):
        cause = tr("Expected `len(lengths)` to be equal to batch_size, but got {} (batch_size={})", len(lengths), B)
        raise ArgumentError(cause, None)
    if lengths.min() < 1 or lengths.max() > T:
        cause = tr("Length of all samples has to be greater than 0 and at most {}, but found {}", T, lengths.tolist())
        raise ArgumentError(cause, "drop empty sequences")
    order = None
    if not enforce_sorted:
        order = np.argsort(-lengths, kind="stable")
        lengths = lengths[order]
    if (np.diff(lengths) > 0).any():
        cause = tr("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True")
        raise ArgumentError(cause, tr("You can pass `enforce_sorted=False`, which sorts them"))
    sizes = (lengths[:, None] > np.arange(lengths[0])).sum(axis=0)
    columns = np.arange(B) if order is None else order
    rows = np.concatenate([t * B + columns[:n] for t, n in enumerate(sizes)])
    data = x.reshape(T * B, *x.shape[2:]).index_select(0, from_numpy(rows))
    if order is None:
        return PackedSequence(data, from_numpy(sizes))
    return PackedSequence(data, from_numpy(sizes), from_numpy(order), from_numpy(np.argsort(order)))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(sequences (T, B, ...), lengths (B,)): the inverse of `pack_padded_sequence`, padded with padding_value."""
    expect_kind(sequence, PackedSequence, "pad_packed_sequence: expected a PackedSequence; got {}", None)
    lengths = lengths_of(sequence)
    T = len(sequence.batch_sizes)
    if total_length is not None:
        if total_length < T:
            cause = tr("Expected total_length to be at least the length of the longest sequence in input, but got "
                       "total_length={} and max sequence length being {}", total_length, T)  # fmt: skip
            raise ArgumentError(cause, None)
        T = total_length
    padded = unpacked(sequence.data, sequence.batch_sizes._array, T, padding_value)
    padded = padded.transpose(0, 1) if batch_first else padded
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices._array]
    return padded, from_numpy(lengths)


def unpacked(data: Tensor, sizes: np.ndarray, T: int, padding_value: float = 0.0) -> Tensor:
    """Packed data as (T, B, ...), B sequences in the order of packing."""
    B = int(sizes[0]) if len(sizes) else 0
    rows = np.full((T, B), data.shape[0])  # the row after the last one is the padding
    start = 0
    for t, n in enumerate(sizes):
        rows[t, :n] = np.arange(start, start + n)
        start += int(n)
    padding = data.new_full((1, *data.shape[1:]), padding_value)
    return cat([data, padding]).index_select(0, from_numpy(rows.reshape(-1))).reshape(T, B, *data.shape[1:])


def packed_rows(padded: Tensor, sizes: np.ndarray) -> Tensor:
    """The opposite of `unpacked`: (T, B, ...) as packed data."""
    T, B = padded.shape[:2]
    rows = np.concatenate([t * B + np.arange(n) for t, n in enumerate(sizes)])
    return padded.reshape(T * B, *padded.shape[2:]).index_select(0, from_numpy(rows))
