"""Datasets: what has a length and gives an example for a number, and what can only be read from front to back."""

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from badak.core.errors import ArgumentError, IndexOutOfRangeError, NotSupportedError, ShapeError, tr, undefined, warn_once
from badak.tensor import Tensor
from badak.tensor.random import default_generator, or_default

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Examples by number. A subclass defines `__getitem__(index)` and, for most samplers, `__len__()`.

    It may define `__getitems__(indices)`, which returns the list of examples of a whole batch.
    """

    def __getitem__(self, index: int) -> T_co:
        raise undefined(self, "def __getitem__(self, index)")

    def __add__(self, other: "Dataset[T_co]") -> "ConcatDataset[T_co]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Examples in their own order, from `__iter__`: streams, and files too large to address.

    Each worker of a DataLoader iterates over its own copy; `get_worker_info()` says which part it should read.
    """

    def __iter__(self):
        raise undefined(self, "def __iter__(self)")

    def __add__(self, other: "Dataset[T_co]") -> "ChainDataset":  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Example i is the tuple of row i of every tensor; all have the same first size.

    Args:
        *tensors: of one first size

    Raises:
        ArgumentError: where the first sizes differ

    Example:
        >>> from badak.data import TensorDataset
        >>> TensorDataset(badak.arange(3), badak.ones(3))[1]
        (tensor(1), tensor(1.))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != x.size(0) for x in tensors):
            sizes = ", ".join(str(tuple(x.shape)) for x in tensors)
            raise ArgumentError(tr("TensorDataset: Size mismatch between tensors: expected equal first sizes; got {}", sizes))
        self.tensors = tensors

    def __getitem__(self, index: int) -> Any:
        return tuple(x[index] for x in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)

    def gather(self, indices: Sequence[int]) -> list[Tensor] | None:
        """The batch of these rows, as stacking the examples would give it; None where that needs the examples themselves."""
        if type(self).__getitem__ is not TensorDataset.__getitem__ or any(x.requires_grad for x in self.tensors):
            return None
        rows = np.asarray(indices, np.int64)
        if rows.size and not (-len(self) <= rows.min() and rows.max() < len(self)):
            return None
        return [Tensor._of(x._array[rows]) for x in self.tensors]


def can_gather(dataset: Any) -> bool:
    """Whether a dataset gives a batch in one step by a method `gather`; that of a tensor is another thing."""
    return hasattr(dataset, "gather") and not isinstance(dataset, Tensor)


class StackDataset(Dataset):
    """Datasets of equal length side by side: a tuple of their examples, or a dict where they are given by name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ArgumentError("StackDataset: expected datasets either in order or by name", "StackDataset(images, labels)")
        self.datasets = kwargs or args
        members = list(kwargs.values()) if kwargs else list(args)
        self._length = len(members[0])
        if any(len(member) != self._length for member in members):
            raise ShapeError(tr("StackDataset: Size mismatch between datasets: {}", [len(member) for member in members]))

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        """The examples of a batch; a dataset that has its own `__getitems__` gives its part at once."""
        if type(self).__getitem__ is not StackDataset.__getitem__:
            return [self[index] for index in indices]
        members = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        examples = zip(*(self._parts(dataset, indices) for dataset in members), strict=True)
        if isinstance(self.datasets, dict):
            return [dict(zip(self.datasets, parts)) for parts in examples]
        return list(examples)

    @staticmethod
    def _parts(dataset: Any, indices: list[Any]) -> list[Any]:
        if not callable(getattr(dataset, "__getitems__", None)):
            return [dataset[index] for index in indices]
        parts = dataset.__getitems__(indices)
        if len(parts) != len(indices):
            cause = tr("Nested dataset's output size mismatch. Expected {}, got {}", len(indices), len(parts))
            raise ArgumentError(cause, "one example for each index")
        return parts

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other."""

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ArgumentError("ConcatDataset: datasets should not be an empty iterable", "pass at least one dataset")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise ArgumentError("ConcatDataset does not support IterableDataset", "ChainDataset(datasets)")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        place = idx + len(self) if idx < 0 else idx
        if not 0 <= place < len(self):
            raise IndexOutOfRangeError(tr("ConcatDataset: index {} is outside of {} examples", idx, len(self)))
        which = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[which][place - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def _members(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError("ChainDataset only supports IterableDataset", "ConcatDataset(datasets)")
            yield dataset

    def __iter__(self):
        for dataset in self._members():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._members())


class Subset(Dataset[T_co]):
    """The examples of `dataset` with the numbers `indices`.

    A subclass that defines `__getitem__` must define `__getitems__` too: a DataLoader asks for whole batches.

    Args:
        dataset: examples by number
        indices: which of them

    Example:
        >>> from badak.data import Subset
        >>> list(Subset("abc", [2, 0]))
        ['c', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        own = type(self)
        if own.__getitem__ is not Subset.__getitem__ and own.__getitems__ is Subset.__getitems__:
            cause = tr("{} overrides __getitem__ but not __getitems__", own.__name__)
            raise NotSupportedError(cause, "def __getitems__(self, indices): return [self[i] for i in indices]")
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)

    def gather(self, indices: Sequence[int]) -> list[Tensor] | None:
        """The batch of these examples in one step, where `dataset` can; see TensorDataset.gather."""
        if type(self).__getitems__ is not Subset.__getitems__ or not can_gather(self.dataset):
            return None
        return self.dataset.gather([self.indices[i] for i in indices])


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = default_generator) -> list[Subset]:
    """Part `dataset` by chance into subsets of these lengths, or of these fractions where they sum to 1.

    floor(fraction N) each; what is left over goes one by one to the first subsets. Raises ArgumentError for lengths that
    do not sum to N, or a fraction outside [0, 1].

    Args:
        dataset: examples by number
        lengths: sizes, or fractions that sum to 1
        generator: drawn from

    Returns: a list of subsets

    Example:
        >>> from badak.data import random_split
        >>> [len(part) for part in random_split(range(10), [0.8, 0.2])]
        [8, 2]
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _sizes(total, lengths)
    if sum(lengths) != total:
        cause = tr(
            "random_split: Sum of input lengths does not equal the length of the input dataset! {} and {}", list(lengths), total
        )
        raise ArgumentError(cause, "fractions that sum to 1, such as [0.9, 0.1]")
    order = or_default(generator).permutation(total).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]


def _sizes(total: int, fractions: Sequence[float]) -> list[int]:
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise ArgumentError(tr("Fraction at index {} is not between 0 and 1: {}", i, fraction))
    sizes = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if size == 0:
            warn_once(("empty split", i), tr("Length of split at index {} is 0. This might result in an empty dataset.", i))
    return sizes
