"""Sequences of different lengths as one tensor."""

from collections.abc import Iterable

from badak.core.errors import ArgumentError, tr
from badak.core.public_api import guard_names as _guard_names
from badak.nn.utils.packing import PackedSequence as PackedSequence
from badak.nn.utils.packing import pack_padded_sequence as pack_padded_sequence
from badak.nn.utils.packing import pad_packed_sequence as pad_packed_sequence
from badak.tensor import Tensor, arange, empty_like, full


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Tensors (T_b, ...) of different lengths as one of (T, B, ...), or (B, T, ...) with batch_first; T the longest.

    What is missing is padding_value, on the "right" (after) or "left" (before) of each sequence.
    """
    if padding_side not in ("right", "left"):
        raise ArgumentError(tr("padding_side should be either 'right' or 'left', got {!r}", padding_side))
    if not isinstance(sequences, Iterable):
        cause = tr("pad_sequence: Expected iterable for input sequences, but got arg of type: {}", type(sequences))
        raise ArgumentError(cause, "pad_sequence([a, b])")
    sequences = list(sequences)
    if not sequences:
        raise ArgumentError("received an empty list of sequences")
    T, rest = max(len(x) for x in sequences), sequences[0].shape[1:]
    B = len(sequences)
    padded = full((B, T, *rest) if batch_first else (T, B, *rest), padding_value, dtype=sequences[0].dtype)
    rows = padded if batch_first else padded.transpose(0, 1)
    for row, x in enumerate(sequences):
        start = 0 if padding_side == "right" else T - len(x)
        rows[row, start : start + len(x)] = x
    return padded


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences without their (right) padding: the inverse of `pad_sequence`."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(rows, lengths, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Tensors (T_b, ...) of different lengths, packed."""
    return pack_padded_sequence(pad_sequence(sequences), [len(x) for x in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one: the inverse of `pack_sequence`."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes it."""
    if permutation is None:
        return None
    return empty_like(permutation).scatter_(0, permutation, arange(permutation.numel(), dtype=permutation.dtype))


_guard_names(globals(), __name__)
