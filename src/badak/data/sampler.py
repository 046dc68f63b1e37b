"""Samplers: in which order the examples of a dataset are read. The orders are PyTorch's for the same seed."""

import itertools
import math
import sys
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr, undefined
from badak.data import validation
from badak.io.errors import line
from badak.tensor import Tensor
from badak.tensor.random import Generator, default_generator, or_default

T_co = TypeVar("T_co", covariant=True)
world: Callable[[], tuple[int, int] | None] | None = None  # set by `face.distributed`: how many ranks there are, and which is ours
_CHUNK = 32  # numbers that a sampler with replacement draws at a time, as PyTorch's does


class Sampler(Generic[T_co]):
    """An order: `__iter__` gives the numbers of examples, or lists of them for a batch sampler."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[T_co]:
        raise undefined(self, "def __iter__(self)")


class SequentialSampler(Sampler[int]):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A permutation, drawn again for each iteration; or, with replacement, num_samples independent numbers.

    Without a generator each iteration seeds one of its own with one number of the default generator.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Generator | None = None
    ) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator
        _need_bool(replacement, "replacement")
        _need_positive(self.num_samples, "num_samples")

    @property
    def num_samples(self) -> int:
        """How many numbers one iteration gives: as asked, else the present length of the dataset."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(default_generator.seed64())
        if self.replacement:
            for size in itertools.chain(itertools.repeat(_CHUNK, wanted // _CHUNK), (wanted % _CHUNK,)):
                yield from generator.integers(0, n, (size,)).tolist()
        else:
            for _ in range(wanted // n):
                yield from generator.permutation(n).tolist()
            yield from generator.permutation(n).tolist()[: wanted % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given numbers in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in or_default(self.generator).permutation(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """num_samples numbers below len(weights), number i with probability weights[i] / sum(weights)."""

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _need_positive(num_samples, "num_samples")
        _need_bool(replacement, "replacement")
        values = np.asarray(weights._array if isinstance(weights, Tensor) else weights, np.float64)
        if values.ndim != 1:
            raise ShapeError(tr("weights should be a 1d sequence but given weights have shape {}", values.shape))
        self.weights = Tensor._of(values)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        source = or_default(self.generator)
        yield from source.multinomial(self.weights._array, self.num_samples, self.replacement).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of batch_size numbers of another sampler; the last one is shorter, or left out with drop_last."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        _need_positive(batch_size, "batch_size")
        _need_bool(drop_last, "drop_last")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        most = min(self.batch_size, sys.maxsize)
        while batch := list(itertools.islice(numbers, most)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return math.ceil(len(self.sampler) / self.batch_size)


class DistributedSampler(Sampler[int]):
    """The share of one of num_replicas processes: every num_replicas-th number of a common order, from `rank` on.

    The order is a permutation from seed + epoch, and `set_epoch` must be called before each epoch for a new one. Shares are
    made equal by reading the first examples twice, or with drop_last by leaving out the last.
    """

    def __init__(self, dataset: Sized, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False) -> None:  # fmt: skip
        if num_replicas is None or rank is None:
            here = world() if world is not None else None  # (ranks, our number)
            num_replicas, rank = num_replicas or (here and here[0]), rank if rank is not None else here and here[1]
        if num_replicas is None or rank is None:
            cause = tr("DistributedSampler: there is no process group to ask for num_replicas and rank")
            raise ArgumentError(cause, "init_process_group() first, or DistributedSampler(dataset, num_replicas=2, rank=0)")
        validation.whole("DistributedSampler", "num_replicas", num_replicas)
        validation.whole("DistributedSampler", "seed", seed, least=0)
        if isinstance(rank, int) and rank < 0 or not validation.whole("DistributedSampler", "rank", rank, 0) < num_replicas:
            raise ArgumentError(tr("Invalid rank {}, rank should be in the interval [0, {}]", rank, num_replicas - 1), "rank=0")
        _need_bool(shuffle, "shuffle")
        _need_bool(drop_last, "drop_last")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            order = Generator().manual_seed(self.seed + self.epoch).permutation(len(order)).tolist()
        common = list(itertools.islice(itertools.cycle(order), self.total_size))
        return iter(common[self.rank :: self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration have the order of this epoch."""
        self.epoch = epoch


def _need_positive(value, name) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ArgumentError(tr("{} should be a positive integer value, but got {}={}", name, name, line(str(value))))


def _need_bool(value, name) -> None:
    if not isinstance(value, bool):
        raise ArgumentTypeError(tr("{} should be a boolean value, but got {}={}", name, name, line(str(value))))
