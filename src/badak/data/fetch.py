"""How one batch is read: from a dataset, by the numbers that a sampler gave."""

from collections.abc import Callable
from typing import Any

from badak.data.collate import default_collate
from badak.data.dataset import IterableDataset, can_gather
from badak.tensor.tensor import Tensor


class MapFetcher:
    """Reads examples by their numbers."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Callable, drop_last: bool) -> None:
        self.dataset, self.batched, self.collate_fn = dataset, batched, collate_fn

    def fetch(self, index: Any) -> Any:
        """The batch of the numbers `index`; without batching, the converted example of one number."""
        if not self.batched:
            return self.collate_fn(self.dataset[index])
        if self.collate_fn is default_collate and can_gather(self.dataset):
            batch = self.dataset.gather(index)  # one gather instead of B rows and a stack
            if batch is not None:
                return batch
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[i] for i in index])


class IterableFetcher:
    """Reads the next examples of an iterable dataset; StopIteration at its end."""

    def __init__(self, dataset: Any, batched: bool, collate_fn: Callable, drop_last: bool) -> None:
        self.examples = iter(dataset)
        self.batched, self.collate_fn, self.drop_last, self.ended = batched, collate_fn, drop_last, False

    def fetch(self, index: list) -> Tensor:
        """A batch of as many examples as `index` has numbers (their values mean nothing here)."""
        if self.ended:
            raise StopIteration
        if not self.batched:
            return self.collate_fn(next(self.examples))
        batch = []
        for _ in index:
            try:
                batch.append(next(self.examples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate_fn(batch)


def fetcher_of(dataset: Any, batched: bool, collate_fn: Callable, drop_last: bool) -> Any:
    """The fetcher for this kind of dataset."""
    kind = IterableFetcher if isinstance(dataset, IterableDataset) else MapFetcher
    return kind(dataset, batched, collate_fn, drop_last)
