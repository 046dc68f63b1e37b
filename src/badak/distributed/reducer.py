"""The gradients of a model become the mean over the ranks, in buckets, while backward still goes on.

A bucket is a row: the gradients of some parameters, and for each of them a 1 where this rank has one. When the last of them
is there, the row is summed over the ranks; each gradient that comes later lets the sums under way go on. Buckets are sent in
the same order on all ranks, whatever order their gradients come in. A large gradient is a bucket of its own, summed where it
lies: copies cost as much as sums. Which of these are there on any rank is summed apart, at the end.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, GraphError, tr
from badak.core.modes import modes
from badak.distributed import heartbeat
from badak.distributed.consistency_check import agreement
from badak.distributed.futures import Future
from badak.distributed.grad_bucket import GradBucket, one_tensor
from badak.distributed.group import ProcessGroup
from badak.distributed.sums import ReduceOp, divide
from badak.distributed.totals import flat, total
from badak.distributed.work import Work, progress, start
from badak.tensor import Tensor

LONE = 2**19  # bytes of a gradient that travels alone


class Bucket:
    """Some parameters of one dtype, whose gradients travel together."""

    def __init__(self, number: int, params: list[Tensor]) -> None:
        self.number, self.params = number, params
        self.size = sum(p._array.size for p in params) + len(params)
        self.ready: set[int] = set()
        self.work: Work | Future | None = None

    def row(self) -> np.ndarray:
        """What this rank sends."""
        grads = [p._grad for p in self.params]
        parts = [np.zeros(p._array.size, p._array.dtype) if g is None else flat(g._array) for p, g in zip(self.params, grads)]
        has = np.array([g is not None for g in grads], self.params[0]._array.dtype)
        return np.concatenate([*parts, has])

    def take(self, row: np.ndarray) -> None:
        """Let the mean be the gradient of each parameter that some rank has one for."""
        at = 0
        has = row[row.size - len(self.params) :]
        for p, some in zip(self.params, has):
            values = row[at : at + p._array.size].reshape(p._array.shape)
            at += p._array.size
            if not some:
                continue
            if p._grad is None:
                p._set_grad(Tensor._of(values.copy()))
            else:
                p._grad._array[...] = values


class Lone(Bucket):
    """A large parameter: its gradient is summed in its own memory."""

    def __init__(self, number: int, params: list[Tensor]) -> None:
        super().__init__(number, params)
        self.size = params[0]._array.size

    def row(self) -> np.ndarray:
        (p,) = self.params
        return np.zeros(self.size, p._array.dtype) if p._grad is None else flat(p._grad._array)

    def take(self, row: np.ndarray) -> None:
        (p,) = self.params
        values = row.reshape(p._array.shape)
        if p._grad is None:
            p._set_grad(Tensor._of(values))
        elif not np.shares_memory(p._grad._array, values):
            p._grad._array[...] = values


def cut(params: list[Tensor], most: float, lone: float = math.inf) -> list[Bucket]:
    """The parameters in the order in which their gradients come, about: from the last to the first, up to `most` bytes together.

    The first bucket is small, so that the first sum can begin soon. One of `lone` bytes or more is alone.
    """
    lots: list[list[Tensor]] = []
    open_lots: dict[np.dtype, tuple[list[Tensor], int]] = {}
    limit = min(most, 2**20)
    for p in reversed(params):
        kind = p._array.dtype
        if p._array.nbytes >= lone:
            lots.append([p])
            continue
        lot, size = open_lots.get(kind, ([], 0))
        if not lot:
            lots.append(lot)
        lot.append(p)
        size += p._array.nbytes
        if size >= limit:
            lot, size, limit = [], 0, most
        open_lots[kind] = lot, size
    return [(Lone if lot[0]._array.nbytes >= lone else Bucket)(number, lot) for number, lot in enumerate(lots)]


class Reducer:
    """Watches the parameters of a model, and sums their buckets over a group.

    divisor: by how much sums are divided; None: the number of ranks.
    """

    def __init__(self, params: list[Tensor], group: ProcessGroup, most: float) -> None:
        self.group, self.params, self.most = group, params, most
        self.hook: Callable[[GradBucket], Any] | None = None
        self.buckets = cut(params, most, LONE)
        self.lone = [bucket for bucket in self.buckets if isinstance(bucket, Lone)]
        self.there: Work | None = None  # which of those, or with a hook of all, have a gradient, on how many ranks
        self.of = {id(p): bucket for bucket in self.buckets for p in bucket.params}
        self.divisor: int | None = None
        self.sent = 0  # buckets whose sum has begun
        self.expected = False  # whether the next backward is to be summed
        self.began = False
        self.overlaps = True  # whether sums begin while backward goes on
        for p in params:
            p.register_post_accumulate_grad_hook(self._arrived)

    def use(self, hook: Callable[[GradBucket], Any]) -> None:
        """From now on this hook makes of each bucket what it becomes; which gradients there are is summed apart."""
        self.hook = hook
        self.buckets, self.lone = cut(self.params, self.most), []
        self.of = {id(p): bucket for bucket in self.buckets for p in bucket.params}

    def expect(self, shared: bool = True) -> None:
        """From now on all ranks share the gradients of each backward; or no longer.

        What .grad holds from before counts, too: the mean of a sum whose one part is the same everywhere is right for both parts.
        """
        self._begin_anew()
        self.expected = shared
        modes.awaiting = (*(each for each in modes.awaiting if each is not self), *((self,) if shared else ()))

    def prepare_for_backward(self, outputs: list) -> None:
        """PyTorch's name for it: the next backward is shared."""
        self.expect()

    def _rebuild_buckets(self) -> bool:
        """PyTorch's name for what it does once after the first backward; here there is nothing to do."""
        return False

    def _begin_anew(self) -> None:
        self.began = False
        self.sent = 0
        for bucket in self.buckets:
            bucket.ready.clear()
            bucket.work = None

    def _arrived(self, p: Tensor) -> None:
        """A gradient is complete."""
        if not self.expected:
            return
        self.began = True
        bucket = self.of[id(p)]
        if bucket.work is not None:
            cause = tr("DistributedDataParallel: a parameter of shape {} got a gradient when its sum had begun", tuple(p.shape))
            raise GraphError(cause, "call backward() once for each forward, and not within another backward")
        bucket.ready.add(id(p))
        if self.overlaps and modes.walking == 1:
            with self._or_nothing():
                self._send(only_full=True)
                progress()

    def _send(self, only_full: bool) -> None:
        while self.sent < len(self.buckets):
            bucket = self.buckets[self.sent]
            if only_full and len(bucket.ready) < len(bucket.params):
                return
            self._start(bucket, bucket.row())
            self.sent += 1

    def _start(self, bucket: Bucket, row: np.ndarray) -> None:
        if self.hook is not None:
            seen = GradBucket(bucket.number, bucket.params, row[: row.size - len(bucket.params)], bucket is self.buckets[-1])
            bucket.work = self._hooked(seen)
            return
        bucket.work = self._sum(f"gradients of bucket {bucket.number}, {row.dtype} ({row.size},)", row, self._op)

    def _hooked(self, seen: GradBucket) -> Future:
        """What the hook gives for a bucket."""
        assert self.hook is not None
        before, modes.grad = modes.grad, False
        try:
            found = self.hook(seen)
        finally:
            modes.grad = before
        if not isinstance(found, Future):
            cause = tr("DistributedDataParallel: the communication hook gave a {}, not a future", type(found).__name__)
            fix = tr("torch.distributed.all_reduce(..., async_op=True).get_future(), or a torch.futures.Future with its result set")
            raise ArgumentTypeError(cause, fix)
        return found

    @property
    def _op(self) -> ReduceOp:
        return ReduceOp.AVG if self.divisor in (None, self.group.size()) else ReduceOp.SUM

    def _sum(self, line: str, row: np.ndarray, op: ReduceOp) -> Work:
        """A sum over the ranks that goes on by itself."""
        group = self.group
        agreed = agreement(group, line)

        def steps():
            if agreed is not None:
                yield from agreed.steps()
            return (yield from total(group, row, op))

        return start(group, Work(group, f"the sum of the {line}", steps(), agreed.absent if agreed else None))

    def _tell(self, there: list[bool]) -> None:
        """After all buckets: which of the gradients that are told apart this rank has."""
        if there:
            flags = np.array(there, np.int32)
            self.there = self._sum(f"gradients that are there ({len(there)},)", flags, ReduceOp.SUM)

    def _told(self) -> list[Tensor]:
        """The parameters of which is summed apart whether they have gradients."""
        return [p for bucket in (self.lone if self.hook is None else self.buckets) for p in bucket.params]

    def share(self) -> None:
        """Sum the gradients that are there, whoever made them."""
        with self._or_nothing():
            self._send(only_full=False)
            self._tell([p._grad is not None for p in self._told()])
            (self._finish if self.hook is None else self._finish_hooked)()
            self._begin_anew()

    @contextmanager
    def _or_nothing(self) -> Iterator[None]:
        """After an error in the block no later backward, of this model or another, goes on with the sums of this one."""
        try:
            yield
        except BaseException:
            self.expected = False
            self._begin_anew()
            raise

    def end_of_backward(self) -> None:
        """All gradients are there: send what is left, wait for all, and let the parameters have the means."""
        if not self.expected or not self.began:
            return
        self.share()
        heartbeat.stepped()

    def _finish(self) -> None:
        rows = [self._wait(bucket.work) for bucket in self.buckets]
        there = iter(self._wait(self.there) if self.lone else ())
        for bucket, row in zip(self.buckets, rows):
            if isinstance(bucket, Lone) and not next(there):
                continue
            if self._op is ReduceOp.SUM:
                divide(row, self.divisor or self.group.size())
            bucket.take(row)

    def _finish_hooked(self) -> None:
        """Let the gradients be what the hook has made."""
        made = [bucket.work.wait() for bucket in self.buckets if isinstance(bucket.work, Future)]
        there = iter(self._wait(self.there))
        for bucket, found in zip(self.buckets, made):
            row = np.zeros(bucket.size, bucket.params[0]._array.dtype)
            values = row[: row.size - len(bucket.params)]
            values[...] = flat(one_tensor(found, Tensor._of(values))._array)
            row[values.size :] = [next(there) for _ in bucket.params]
            bucket.take(row)

    def _wait(self, work: Any) -> Any:
        work.wait()
        return work.result()

    def shadow(self) -> None:
        """Take part in the sums of the others with nothing of one's own."""
        for bucket in self.buckets:
            self._start(bucket, np.zeros(bucket.size, bucket.params[0]._array.dtype))
        told = self._told()
        self._tell([False] * len(told))
        for work in (*(bucket.work for bucket in self.buckets), *([self.there] if told else [])):
            assert work is not None
            work.wait()
        self._begin_anew()
