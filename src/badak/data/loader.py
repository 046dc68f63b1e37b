"""DataLoader: batches of a dataset, in order or shuffled, read here or by worker processes.

The order of batches is PyTorch's for the same seed: each iteration draws one base seed (from `generator`, or from the default
generator) before the sampler draws anything.
"""

import itertools
import multiprocessing
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr, warn
from badak.core.machine import cores
from badak.data.collate import default_collate, default_convert
from badak.data.dataset import IterableDataset
from badak.data.fetch import fetcher_of
from badak.data.loader_state import Position
from badak.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler
from badak.data.workers import End, Failure, Recipe, WorkerPool
from badak.tensor.generator import Generator
from badak.tensor.random import or_default

T_co = TypeVar("T_co", covariant=True)
_NONE_LEFT = object()
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler):
    """None without end: an iterable dataset has no numbers to choose from."""

    def __iter__(self):
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """Iterating over it gives the batches of `dataset`; PyTorch's arguments, each with PyTorch's default.

    batch_size examples a batch (None: single examples, not batched); shuffle, sampler or batch_sampler choose the order;
    collate_fn makes a batch of a list of examples; drop_last leaves out a shorter last batch; generator is drawn from for
    the order. num_workers processes read prefetch_factor batches ahead each (0: the main process reads); timeout in seconds
    to wait for them; worker_init_fn(id) is called first in each; persistent_workers keeps them between epochs; in_order=False
    gives batches as they come. pin_memory is accepted: on a CPU there is nothing to pin.

    `state_dict()` is the position within an epoch: a loader like this one that loads it goes on with the batches that were
    left, in the same order. What a dataset itself draws by chance in a worker is not part of the position.

    Args:
        dataset: examples by number, or an iterable
        batch_size: examples a batch; None for single examples
        shuffle: a new order each epoch
        sampler, batch_sampler: choose the order, or whole batches
        num_workers: processes that read; 0 for none
        collate_fn: makes a batch of a list of examples
        pin_memory, pin_memory_device: accepted; no effect
        drop_last: leave out a shorter last batch
        timeout: seconds to wait for a worker
        worker_init_fn: called first in each worker
        multiprocessing_context: how workers are started
        generator: drawn from for the order
        prefetch_factor: batches that a worker reads ahead
        persistent_workers: keep workers between epochs
        in_order: False gives batches as they come

    Example:
        >>> from badak.data import DataLoader, TensorDataset
        >>> loader = DataLoader(TensorDataset(badak.arange(5)), batch_size=2)
        >>> [batch[0].tolist() for batch in loader]
        [[0, 1], [2, 3], [4]]
    """

    _ready = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler | Iterable | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: Any = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.dataset, self.generator, self.num_workers = dataset, generator, num_workers
        self.pin_memory, self.pin_memory_device, self.timeout = pin_memory, pin_memory_device, timeout
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.persistent_workers, self.in_order = persistent_workers, in_order
        _check_workers(self)
        _check_order(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.sampler = _default_sampler(dataset, shuffle, generator) if sampler is None else sampler
        if batch_sampler is not None:
            batch_size = None
        elif batch_size is not None:
            batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size, self.batch_sampler, self.drop_last = batch_size, batch_sampler, drop_last
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._crew = self._crew_seed = self._announced = None
        self._position = Position()
        self._ready = True
        self.check_worker_number_rationality()

    def __setattr__(self, name, value) -> None:
        if self._ready and name in _FIXED:
            cause = tr("{} attribute should not be set after {} is initialized", name, type(self).__name__)
            raise ArgumentError(cause, "make a new DataLoader")
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> BaseContext | None:
        """How workers are started; None for Python's way."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        self._multiprocessing_context = _context(value, self.num_workers)

    @property
    def _auto_collation(self) -> bool:
        """Whether examples are made into batches; PyTorch's name for it, which libraries read."""
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __len__(self) -> int:
        """Batches in an epoch; for an iterable dataset an estimate from the dataset's own length."""
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        self._announced = examples = len(self.dataset)  # type: ignore[arg-type, assignment]
        if self.batch_size is None:
            return examples
        return examples // self.batch_size if self.drop_last else -(-examples // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        return self._get_iterator()

    def _get_iterator(self) -> "_BaseDataLoaderIter":
        """One iteration; PyTorch's place for what a derived loader does at its start."""
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        self.check_worker_number_rationality()
        return _MultiProcessingDataLoaderIter(self)

    def check_worker_number_rationality(self) -> None:
        """Warn where there are more workers than cores."""
        if self.num_workers > cores():
            cause = tr("This DataLoader will create {} worker processes in total. The suggested max number of worker in "
                       "the current system is {}. Please be aware that excessive worker creation might get DataLoader running "
                       "slow or even freeze", self.num_workers, cores())  # fmt: skip
            warn(cause, f"num_workers={cores()}")

    def unread(self) -> Any:
        """An iteration that gives functions in place of batches, each of which reads its batch: what nobody calls is not read.

        Worker processes read ahead, and an iterable dataset has no numbers: there each batch is read before its function is given.
        """
        if self.num_workers or isinstance(self.dataset, IterableDataset):
            return map(lambda batch: lambda: batch, self)
        return _Unread(self)

    def state_dict(self) -> dict:
        """The position: batches given in this epoch, and the states of the generators at its start."""
        return self._position.state_dict(self)

    def load_state_dict(self, state: dict) -> None:
        """Let the next iteration go on from `state`. Raises StateError where it is none."""
        self._position.load_state_dict(self, state)

    def _draw_base_seed(self) -> int:
        return or_default(self.generator).seed64()

    def _recipe(self, base_seed: int) -> Recipe:
        return Recipe(self.dataset, self._auto_collation, self.collate_fn, self.drop_last, self.worker_init_fn,
                      base_seed, self.num_workers)  # fmt: skip


class _BaseDataLoaderIter:
    """One iteration. Its name and those of the classes below are PyTorch's: libraries ask for them."""

    def __init__(self, loader: DataLoader):
        self._loader, self._given = loader, 0
        self._start = start = loader._position.start(loader)
        with start.replaying():
            self._numbers = iter(loader._index_sampler)
            self._begin(loader)
            self._skip(start.batches)

    def _begin(self, loader):
        loader._draw_base_seed()  # read by workers only, but drawn by PyTorch in either case
        self._fetcher = fetcher_of(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def _skip(self, batches: int) -> None:
        for index in itertools.islice(self._numbers, batches):
            if isinstance(self._loader.dataset, IterableDataset):
                self._fetcher.fetch(index)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            batch = self._next()
        except StopIteration:
            self._start.finish()
            raise
        self._start.advance()
        self._given += 1
        self._check_length()
        return batch

    def _next(self):
        return self._fetcher.fetch(next(self._numbers))

    def _check_length(self):
        announced = self._loader._announced
        if announced is not None and self._given > announced:
            warn(
                tr("Length of IterableDataset {} was reported to be {} (when accessing len(dataloader)), but {} samples have been "
                   "fetched. For multiprocessing data-loading, this could be several workers that read the same examples",
                   self._loader.dataset, announced, self._given),
                tr("let each worker read its own part: see get_worker_info()"),
            )  # fmt: skip

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __getstate__(self):
        raise NotSupportedError(tr("{} cannot be pickled", type(self).__name__), "send the DataLoader, or its state_dict()")


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """One iteration, read in this process."""


class _Unread(_BaseDataLoaderIter):
    """One iteration, read by whom it may concern."""

    def _next(self):
        return partial(self._fetcher.fetch, next(self._numbers))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """One iteration, read by worker processes: batch number n is in the hands of one of them until it comes back."""

    def _begin(self, loader):
        self._crew = loader._crew
        if self._crew is None:
            seed = loader._draw_base_seed() if loader._crew_seed is None else loader._crew_seed
            self._crew = WorkerPool(loader._recipe(seed), loader.multiprocessing_context)
            if loader.persistent_workers:
                loader._crew, loader._crew_seed = self._crew, seed  # later epochs draw no seed
            owner = loader if loader.persistent_workers else self
            weakref.finalize(owner, self._crew.close)
        self._crew.epoch += 1
        self._epoch = self._crew.epoch
        self._turns = itertools.cycle(range(loader.num_workers))
        self._active = [True] * loader.num_workers
        self._sent = self._next_number = 0
        self._waiting: dict[int, int] = {}  # number of a batch: its worker
        self._arrived: dict[int, object] = {}

    @property
    def _workers(self) -> list:
        """The worker processes; PyTorch's name for them, which libraries read."""
        return self._crew.processes

    def _skip(self, batches: int) -> None:
        if isinstance(self._loader.dataset, IterableDataset):
            self._fill()
            for _ in range(batches):
                self._next()
        else:
            super()._skip(batches)
            self._fill()

    def _fill(self) -> None:
        for _ in range(max(1, self._loader.prefetch_factor or 0) * self._loader.num_workers):
            self._dispatch()

    def _dispatch(self) -> None:
        """Give the next batch to the next worker that still has examples."""
        worker = next((w for w in itertools.islice(self._turns, len(self._active)) if self._active[w]), None)
        if worker is None:
            return
        index = next(self._numbers, _NONE_LEFT)
        if index is not _NONE_LEFT:
            self._waiting[self._sent] = worker
            self._crew.send(worker, self._sent, index)
            self._sent += 1

    def _next(self):
        if self._epoch != self._crew.epoch:
            cause = tr("DataLoader: a new iteration was begun, and with persistent_workers there is one at a time")
            raise ArgumentError(cause, "finish the first loop, or persistent_workers=False")
        try:
            result = self._deliver()
        except StopIteration:
            if not self._loader.persistent_workers:
                self._shutdown_workers()
            raise
        except BaseException:  # a dead worker, Ctrl-C in the middle of a message: nothing can be read any more
            self._waiting, self._arrived = {}, {}
            self._crew.close(patience=0)
            self._loader._crew = None
            raise
        if isinstance(result, Failure):
            result.reraise()  # the workers live on, and so does the iteration
        return result

    def _shutdown_workers(self) -> None:
        """End the workers; PyTorch's place for what a derived iteration does then."""
        self._crew.close()
        if self._loader._crew is self._crew:
            self._loader._crew = None

    def __del__(self) -> None:
        if hasattr(self, "_crew") and not self._loader.persistent_workers:
            self._shutdown_workers()

    def _deliver(self):
        while self._waiting or self._arrived:
            every = itertools.chain(self._waiting, self._arrived)
            number = min(every) if self._loader.in_order else next(iter(self._arrived), None)
            if number not in self._arrived:
                worker, number, result = self._crew.receive(self._loader.timeout)
                del self._waiting[number]
                if isinstance(result, End):
                    self._active[worker] = False
                    self._dispatch()
                else:
                    self._arrived[number] = result
                continue
            self._dispatch()
            return self._arrived.pop(number)
        raise StopIteration


# ---------------------------------------------------------------------- checks of the arguments


def _check_workers(loader: DataLoader) -> None:
    if loader.num_workers < 0:
        cause = tr("num_workers option should be non-negative; got {}", loader.num_workers)
        raise ArgumentError(cause, "num_workers=0 reads in the main process")
    if loader.timeout < 0:
        raise ArgumentError(tr("timeout option should be non-negative; got {}", loader.timeout), "timeout=0 waits for ever")
    if loader.num_workers == 0 and loader.prefetch_factor is not None:
        raise ArgumentError("prefetch_factor option could only be specified in multiprocessing", "num_workers=1 or more")
    if loader.prefetch_factor is not None and loader.prefetch_factor < 0:
        raise ArgumentError(tr("prefetch_factor option should be non-negative; got {}", loader.prefetch_factor))
    if loader.persistent_workers and loader.num_workers == 0:
        raise ArgumentError("persistent_workers option needs num_workers > 0", "persistent_workers=False")


def _check_order(dataset, batch_size, shuffle, sampler, batch_sampler, drop_last) -> None:
    if isinstance(dataset, IterableDataset):
        for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                cause = tr("DataLoader with IterableDataset: expected unspecified {} option, but got {}={}", name, name, value)
                raise ArgumentError(cause, "order the examples in the dataset's __iter__")
    if sampler is not None and shuffle:
        raise ArgumentError("sampler option is mutually exclusive with shuffle", "shuffle=False")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
        cause = tr("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
        raise ArgumentError(cause, "DataLoader(dataset, batch_sampler=...)")
    if batch_size is None and drop_last:
        raise ArgumentError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")


def _default_sampler(dataset, shuffle, generator):
    if isinstance(dataset, IterableDataset):
        return _Endless()
    return RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)


def _context(value, num_workers):
    if value is None:
        return None
    if num_workers == 0:
        raise ArgumentError(
            tr("multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={!r}",
               num_workers),
            "num_workers=1 or more",
        )  # fmt: skip
    if isinstance(value, str):
        known = multiprocessing.get_all_start_methods()
        if value not in known:
            cause = tr("multiprocessing_context option should specify a valid start method in {}, but got {!r}", known, value)
            raise ArgumentError(cause)
        return multiprocessing.get_context(value)
    if not isinstance(value, BaseContext):
        cause = tr("multiprocessing_context option should be a valid context object or a string; got {!r}", value)
        raise ArgumentTypeError(cause, "multiprocessing_context='spawn'")
    return value
