"""Work: an operation between ranks that is under way.

An operation is a generator: it posts requests of MPI, yields them, and goes on when they are complete. So it can go on a little
whenever somebody asks, and waiting is asking until it is done. Operations of a group run one after the other; those of
different groups side by side, and whoever waits for one lets all of them go on.
"""

import math
import os
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from badak.core.errors import ArgumentError, ArgumentTypeError, StateError, tr
from badak.distributed import heartbeat
from badak.distributed.engine import engine
from badak.distributed.errors import DistBackendError
from badak.distributed.futures import Future

if TYPE_CHECKING:
    from badak.distributed.group import ProcessGroup

SPIN, YIELD = (
    200,
    2000,
)  # how often a waiting rank asks at once, and then after letting others compute, before it sleeps
PAUSE = 5e-3  # seconds that it sleeps at most: reached after a second
LOOK = 0.05  # seconds between two looks at whether somebody has ended
SURE = 0.2  # seconds for which what an ended rank had sent may still be on its way
_busy: "list[ProcessGroup]" = []  # groups with operations that are not done


class Work:
    """The handle of an operation: `wait()` for it, or ask `is_completed()`.

    steps    the operation, a generator that yields lists of requests
    absent   gives the global ranks for which it still waits, as far as it knows
    of_any   one of these is enough
    """

    def __init__(
        self,
        group: "ProcessGroup",
        what: str,
        steps: Iterator[list | None],
        absent: Callable[[], list[int]] | None = None,
        of_any: bool = False,
    ) -> None:
        self.group, self.what, self._steps, self._absent, self._of_any = group, what, steps, absent, of_any
        self.number = 0  # of a collective: the how-manieth of its group
        self._requests: list | None = None
        self._error: BaseException | None = None
        self._done = False
        self._result: Any = None
        self._stage = 0  # how often something came, or was sent
        self._asked = self._looked = 0.0  # when is_completed() was first asked, and last looked
        self._missed = 0.0  # since when a rank has ended for which it waits

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it is done. Raises DistBackendError when a rank does not come in time, or came with something else."""
        if not self._done:
            self._wait(_seconds(timeout, "wait", self.group.seconds))
        if self._error is not None:
            raise self._error
        return True

    def is_completed(self) -> bool:
        """Whether it is done; asking lets it go on. What has failed is done: wait() raises why."""
        progress()
        now = time.monotonic()
        if not self._done and now - self._looked > LOOK:
            self._asked, self._looked = self._asked or now, now
            self._look(now - self._asked if self.number else 0.0, self.group.seconds)  # nobody waits in a mere look for mail
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
                if self._requests is None:  # nothing to wait for in MPI: it wants to look again later
                    return False
                self._stage += 1
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
        heartbeat.waits(self.what)
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
            time.sleep(min(PAUSE, 1e-5 * (rounds - YIELD)))
            now = time.monotonic()
            if now - looked > LOOK:
                first = self._first()
                heartbeat.waits_for(self.what, first._awaited(), first._of_any)
                self._look(now - begin, seconds)
                looked = time.monotonic()
        heartbeat.goes_on()

    def _look(self, waited: float, seconds: float) -> None:
        """Give up where somebody has ended, or the time is over."""
        first = self._first()
        absent = first._awaited()
        if ended := first._gone(absent):
            self._missed = self._missed or time.monotonic()
            progress()  # what an ended rank had sent before counts
            if not self._done and time.monotonic() - self._missed > SURE:
                self._give_up(tr("{}: {} ended without coming to it", self.what, _ranks(ended)), self._remedy())
        elif waited > seconds:
            who = tr("{} did not come to it", _ranks(absent)) if absent else tr("it was not finished")
            longer = tr("; a longer limit: init_process_group(timeout=timedelta(...))")
            self._give_up(tr("{}: {} within {:g} s", self.what, who, seconds), self._remedy() + longer)
        else:
            self._missed = 0.0

    def _first(self) -> "Work":
        """What has to be done before this can go on: the first operation of the queue in which it stands."""
        queue = self.group.queue
        return queue[0] if queue and self in queue else self

    def _awaited(self) -> list[int]:
        """The ranks that must do something before this can go on, as far as it knows them."""
        return self._absent() if self._absent is not None else []

    def _gone(self, absent: list[int]) -> list[int]:
        """The ranks that have ended and leave this undone. Of a collective also one that began it, and did not stay."""
        ended = engine().hear()
        if self._of_any:
            return absent if set(absent) <= ended.keys() else []
        left = [r for r in self.group.ranks if r in ended and engine().came(r, self.group.key) < self.number]
        return sorted({*left, *(r for r in absent if r in ended)})

    def _remedy(self) -> str:
        if self.number or "_group" in self.what:  # new_group, init_process_group
            return tr("call it on every rank of the group, in the same order")
        return tr("one send on the other rank for each recv here, and one recv there for each send")

    def _give_up(self, cause: str, fix: str) -> None:
        self._error, self._done = DistBackendError(cause, fix), True
        if self.number or self._stage:  # nothing has come for a receive: the next one may try again
            self.group.broken = cause
        engine().left.append(self)


def start(group: "ProcessGroup", work: Work, is_collective: bool = True) -> Work:
    """Let it begin after the group's earlier operations. A collective is one that all ranks of the group call in one order."""
    refuse_broken(group, work.what)
    if is_collective:
        group.begun += 1
        work.number = group.begun
    group.queue.append(work)
    look_after(group)
    return work


def refuse_broken(group: "ProcessGroup", what: str) -> None:
    """Raise StateError where the group has failed."""
    if group.broken:
        raise StateError(tr("{}: the group has failed before: {}", what, group.broken), "fix that call first")


def progress() -> None:
    """Let everything that is under way go on as far as it can."""
    for group in tuple(_busy):
        queue = group.queue
        while queue and queue[0].advance():
            if number := queue.popleft().number:
                engine().reached[group.key] = number
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
    """The group is gone, and with it what was under way, but for what has been sent."""
    if group in _busy:
        progress()
    for work in (*group.queue, *(group.receiving.works() if group.receiving else ())):
        if not work._done:
            work._give_up(tr("{}: its group was destroyed before it was done", work.what), tr("wait() for it first"))


def finish(work: Work, async_op: bool) -> Work | None:
    """The handle, or None after it is done."""
    if async_op:
        return work
    work.wait()
    return None


def _seconds(timeout: Any, where: str, unset: float) -> float:
    """A time limit in seconds; `unset` for None, and for none at all, as PyTorch has it. Raises ArgumentTypeError,
    ArgumentError."""
    if timeout is None:
        return unset
    if isinstance(timeout, bool) or not isinstance(timeout, timedelta | int | float):
        cause = tr("{}: expected timeout to be a datetime.timedelta, or seconds; got {}", where, type(timeout).__name__)
        raise ArgumentTypeError(cause, "timeout=timedelta(minutes=5)")
    seconds = timeout.total_seconds() if isinstance(timeout, timedelta) else float(timeout)
    if math.isnan(seconds) or seconds < 0:
        raise ArgumentError(tr("{}: expected timeout >= 0; got {}", where, timeout), "timeout=timedelta(minutes=5)")
    return seconds or unset


def _ranks(ranks: list[int]) -> str:
    return tr("rank {}", ranks[0]) if len(ranks) == 1 else tr("ranks {}", ", ".join(map(str, ranks)))
