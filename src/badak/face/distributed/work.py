"""Work: an operation between ranks that is under way.

An operation is a generator: it posts requests of MPI, yields them, and goes on when they are complete. So it can go on a little
whenever somebody asks, and waiting is asking until it is done. Operations of a group run one after the other; those of
different groups side by side, and whoever waits for one lets all of them go on.
"""

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from badak.errors import StateError
from badak.face.distributed import board
from badak.face.distributed.engine import engine
from badak.face.distributed.errors import DistBackendError
from badak.face.futures import Future

if TYPE_CHECKING:
    from badak.face.distributed.group import ProcessGroup

SPIN, YIELD = (
    200,
    2000,
)  # how often a waiting rank asks at once, and then after letting others compute, before it sleeps
LOOK = 0.05  # seconds between two looks at whether somebody has ended
_busy: "list[ProcessGroup]" = []  # groups with operations that are not done


class Work:
    """The handle of an operation: `wait()` for it, or ask `is_completed()`.

    steps    the operation, a generator that yields lists of requests
    absent   gives the global ranks for which it still waits, as far as it knows
    """

    def __init__(
        self, group: "ProcessGroup", what: str, steps: Iterator[list], absent: Callable[[], list[int]] | None = None
    ):
        self.group, self.what, self._steps, self._absent = group, what, steps, absent
        self._requests: list | None = None
        self._error: BaseException | None = None
        self._done = False
        self._result: Any = None
        self._stage = 0  # how often it went on

    def wait(self, timeout=None) -> bool:
        """Wait until it is done. Raises DistBackendError when a rank does not come in time, or came with something else."""
        if not self._done:
            self._wait(self.group.seconds if timeout is None else _seconds(timeout))
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether it is done; asking lets it go on."""
        progress()
        return self._done

    def is_success(self) -> bool:
        """Whether it is done, and well."""
        return self._done and self._error is None

    def exception(self) -> BaseException | None:
        """What went wrong."""
        return self._error

    def result(self) -> list:
        """What it made, after wait()."""
        return [] if self._result is None else self._result

    def get_future(self) -> Future:
        """What it makes, as a future: the list of its tensors."""

        def finish() -> Any:
            self.wait()
            return self.result()

        return Future._of(finish, self.is_completed)

    def source_rank(self) -> int:
        """Of a receive: who sent."""
        return self._result if isinstance(self._result, int) else -1

    # ------------------------------------------------------------------ going on

    def advance(self) -> bool:
        """Go on as far as possible; whether it is done."""
        try:
            while not self._done:
                if self._requests and not engine().done(self._requests):
                    return False
                self._requests = next(self._steps)
                self._stage += 1
                if self._requests is None:  # nothing to wait for in MPI: it wants to look again later
                    return False
        except StopIteration as end:
            self._result, self._done = end.value, True
        except BaseException as error:
            self._error, self._done = error, True
            if isinstance(error, KeyboardInterrupt):
                raise
        return True

    def _wait(self, seconds: float) -> None:
        begin = time.monotonic()
        looked = begin
        rounds, stage = 0, self._stage
        board.waits(self.what)
        while True:
            progress()
            if self._done:
                break
            if stage != self._stage:  # of many pieces one more has come: the next is near
                rounds, stage = 0, self._stage
            rounds += 1
            if rounds < SPIN:
                continue
            if rounds < YIELD:
                os.sched_yield() if hasattr(os, "sched_yield") else time.sleep(0)
                continue
            time.sleep(min(1e-3, 1e-5 * (rounds - YIELD)))
            now = time.monotonic()
            if now - looked > LOOK:
                self._look(now - begin, seconds)
                looked = time.monotonic()
        board.goes_on()

    def _look(self, waited: float, seconds: float) -> None:
        """Give up where somebody has ended, or the time is over."""
        absent = self._awaited()
        board.waits_for(self.what, absent)
        ended = sorted(engine().hear() & set(absent))
        if ended:
            progress()  # what an ended rank had sent before counts
            if not self._done and set(ended) & set(self._awaited()):
                self._give_up(
                    f"{self.what}: {_ranks(ended)} ended without coming to it", "call it on every rank of the group"
                )
        elif waited > seconds:
            who = f"{_ranks(absent)} did not come to it" if absent else "it was not finished"
            self._give_up(
                f"{self.what}: {who} within {seconds:g} s",
                "call it on every rank, in the same order; a longer limit: init_process_group(timeout=timedelta(...))",
            )

    def _awaited(self) -> list[int]:
        """The ranks that must do something before this can go on: in the first operation of the queue in which it stands."""
        queue = self.group.queue
        first = queue[0] if queue and self in queue else self
        return first._absent() if first._absent is not None else []

    def _give_up(self, cause: str, fix: str) -> None:
        self._error, self._done = DistBackendError(cause, fix), True
        self.group.broken = cause
        for request in self._requests or ():
            if request != engine().MPI.REQUEST_NULL and not request.Test():  # cancelling what has been sent would not end
                request.Cancel()
                request.Free()


class Done(Work):
    """The handle of an operation that was done at once."""

    def __init__(self) -> None:
        self._done, self._error, self._result = True, None, None


def start(group: "ProcessGroup", work: Work) -> Work:
    """Let it begin after the group's earlier operations."""
    if group.broken:
        raise StateError(f"{work.what}: the group has failed before: {group.broken}", "mend that call first")
    group.queue.append(work)
    look_after(group)
    return work


def progress() -> None:
    """Let everything that is under way go on as far as it can."""
    for group in tuple(_busy):
        queue = group.queue
        while queue and queue[0].advance():
            queue.popleft()
        if group.sending:
            group.sending = [work for work in group.sending if not work.advance()]
        if group.receiving:
            group.receiving.progress()
        if not queue and not group.sending and not group.receiving and group in _busy:
            _busy.remove(group)


def look_after(group: "ProcessGroup") -> None:
    """The group has something new under way."""
    if group not in _busy:
        _busy.append(group)
    progress()


def forget(group: "ProcessGroup") -> None:
    """The group is gone."""
    if group in _busy:
        _busy.remove(group)


def finish(work: Work, async_op: bool) -> Work | None:
    """The handle, or None after it is done."""
    if async_op:
        return work
    work.wait()
    return None


def _seconds(timeout) -> float:
    return timeout.total_seconds() if hasattr(timeout, "total_seconds") else float(timeout)


def _ranks(ranks: list[int]) -> str:
    return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
