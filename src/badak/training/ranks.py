"""One training on several ranks (`badak launch -n N train ...`): each computes its share of an update's batches.

All ranks draw the same order of batches, and each reads those that it computes. All hold the same weights, schedule and
generators. The moments lie in parts on all of them, and are brought to the first one when it saves the run. The gradients of
the `grad_accum_steps` batches are added in a tree over the batches, whose top lies over the ranks, each weighed by its part of all
labels. What is hidden or moved in a batch, and its dropout, is drawn by its number. So the weights have the same bits on one
rank and on several, wherever each rank has 1, 2, 4, 8 ... of the batches.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak import distributed
from badak.core.errors import ArgumentError, tr
from badak.data import DataLoader
from badak.distributed import heartbeat
from badak.distributed.collectives import begin
from badak.distributed.group import chosen
from badak.distributed.places import place
from badak.distributed.reducer import Bucket, cut
from badak.distributed.sums import ReduceOp
from badak.distributed.totals import total
from badak.tensor import Tensor
from badak.tensor.random import get_rng_state, manual_seed, set_rng_state


class Ranks:
    """The ranks of this training: one, unless `badak launch` has started several, which train together."""

    def __init__(self, together: bool = True) -> None:
        here = place() if together else None
        self.rank, self.size = (here.rank, here.size) if here else (0, 1)
        if self.size > 1 and not distributed.is_initialized():
            distributed.init_process_group("mpi")
        self.group = chosen() if self.size > 1 else None

    @property
    def leads(self) -> bool:
        """Whether this rank writes and prints."""
        return self.rank == 0

    @contextmanager
    def in_turn(self) -> Iterator[None]:
        """The first rank goes through the block, then the others."""
        if not self.leads:
            distributed.barrier()
        yield
        if self.leads and self.size > 1:
            distributed.barrier()

    def slots(self, batches: int) -> range:
        """Which of an update's batches are this rank's. Raises ArgumentError where there are fewer than ranks."""
        if batches < self.size:
            cause = tr("training: {} ranks share the batches of an update, and --grad-accum-steps is {}", self.size, batches)
            raise ArgumentError(cause, tr("--grad-accum-steps {}, with a --batch-size smaller by as much", self.size))
        return range(batches * self.rank // self.size, batches * (self.rank + 1) // self.size)

    def told(self, value: str) -> str:
        """What the first rank says."""
        said = [value]
        if self.group is not None:
            distributed.broadcast_object_list(said, 0)
        return said[0]

    def any(self, wish: bool) -> bool:
        """Whether some rank wishes it."""
        if self.group is None:
            return wish
        flag = Tensor._of(np.array([wish], np.int64))
        distributed.all_reduce(flag, op=distributed.ReduceOp.MAX)
        return bool(flag.item())

    def same(self, what: str, parts: Iterable[bytes]) -> None:
        """Raise DistBackendError where these bytes are not the same on all ranks."""
        if self.group is not None:
            found = hashlib.sha256()
            for part in parts:
                found.update(part)
            begin(self.group, f"{what} {found.hexdigest()[:12]}", iter(()), async_op=False)  # type: ignore[arg-type]

    def each(self, items: Sequence[Any] | DataLoader, work: Callable[[Any], Any]) -> list[Any]:
        """What `work` gives for each item, in their order, on all ranks; each rank takes every n-th item.

        Of a loader of batches in a fixed order each rank reads its own batches only.
        """
        if self.group is None:
            return [work(item) for item in items]
        own = _part(items, self.rank, self.size) if isinstance(items, DataLoader) else items[self.rank :: self.size]
        lists: list = [None] * self.size
        distributed.all_gather_object(lists, [work(item) for item in own])
        return [lists[i % self.size][i // self.size] for i in range(sum(map(len, lists)))]

    def table(self, rows: np.ndarray) -> np.ndarray:
        """The rows of all ranks, one below the other, in the order of the ranks. Their number may differ."""
        if self.group is None:
            return rows
        lists: list = [None] * self.size
        distributed.all_gather_object(lists, rows)
        return np.concatenate(lists)


def _part(loader: DataLoader, rank: int, size: int) -> DataLoader:
    """The batches rank, rank + size, ... of a loader, read by themselves."""
    batches = list(loader.batch_sampler)[rank::size]  # type: ignore[arg-type]
    return DataLoader(loader.dataset, batch_sampler=batches, collate_fn=loader.collate_fn)


class Sum:
    """The gradients of an update's batches, added as a tree: neighbours, then pairs of neighbours, and at last over the ranks."""

    def __init__(self, ranks: Ranks, params: list[Tensor]) -> None:
        self.ranks = ranks
        self.buckets: list[Bucket] = cut([p for p in params if p.requires_grad], float("inf"))
        self.held: list[list[tuple[int, np.ndarray]]] = [[] for _ in self.buckets]

    def add(self, empty: bool) -> None:
        """What .grad holds is one more leaf; or, where an epoch had no batch left for it, nothing."""
        for bucket, held in zip(self.buckets, self.held):
            row = np.zeros(bucket.size, bucket.params[0]._array.dtype) if empty else bucket.row()
            held.append((1, row))
            while len(held) > 1 and held[-1][0] == held[-2][0]:
                _join(held)

    def finish(self) -> None:
        """Let .grad of every parameter be the sum of all leaves of all ranks."""
        for bucket, held in zip(self.buckets, self.held):
            while len(held) > 1:
                _join(held)
            row = held.pop()[1]
            if self.ranks.group is not None:
                line = f"gradients of bucket {bucket.number}, {row.dtype} ({row.size},)"
                found: list[np.ndarray] = []
                begin(self.ranks.group, line, _into(found, total(self.ranks.group, row, ReduceOp.SUM)), async_op=False)
                row = found[0]
            bucket.take(row)
        heartbeat.stepped()


def _into(found: list, steps):
    found.append((yield from steps))


def _join(held: list[tuple[int, np.ndarray]]) -> None:
    """The last two become one."""
    (n, a), (m, b) = held[-2:]
    np.add(a, b, out=a)
    held[-2:] = [(n + m, a)]


@contextmanager
def drawn_for(seed: int, step: int, batch: int, use: str = "") -> Iterator[None]:
    """Within the block the random numbers are those of this batch of this update, whichever rank has it; each use has others."""
    before = get_rng_state()
    digest = hashlib.sha256(f"{seed} {step} {batch} {use}".strip().encode()).digest()
    manual_seed(int.from_bytes(digest[:8], "little") >> 1)
    try:
        yield
    finally:
        set_rng_state(before)
