"""Work of a model that answers at once: one thread does it in turn, and together what waits together."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from badak.cli.serving.errors import BusyError, Crash, EndingError
from badak.core.errors import BadakError


class Lane:
    """A queue before a function of a list: `await lane.run(items)` gives what it makes of each.

    work      items of one request, or of several -> an answer for each
    together  how many items of several requests are worked on at once; 0: each request alone
    queue     requests that may wait
    """

    def __init__(self, work: Callable[[list[Any]], Sequence[Any]], together: int, queue: int):
        self.work, self.together, self.limit = work, together, queue
        self.queue: deque[tuple[list[Any], asyncio.Future, asyncio.AbstractEventLoop]] = deque()
        self.running, self.closing = 0, False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._run, name="badak-lane", daemon=True)
        self.thread.start()

    @property
    def waiting(self) -> int:
        """Requests that nobody works on yet."""
        return len(self.queue)

    async def run(self, items: Sequence[Any]) -> list[Any]:
        """What the work makes of each item. Raises BusyError where too many wait, and what the work raises."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        with self.changed:
            if self.closing:
                raise EndingError()
            if len(self.queue) > self.limit:
                raise BusyError.of(self.waiting, self.limit)
            self.queue.append(([*items], future, loop))
            self.changed.notify()
        return await future

    def close(self, drain: bool = False, seconds: float | None = None) -> None:
        """End, after what waits where `drain`, `seconds` later at most."""
        with self.changed:
            self.closing = True
            if not drain:
                self.queue.clear()
            self.changed.notify()
        self.thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self.changed:
                while not self.queue and not self.closing:
                    self.changed.wait()
                if not self.queue:
                    return
                jobs = [self.queue.popleft()]
                while self.queue and sum(len(job[0]) for job in jobs) + len(self.queue[0][0]) <= self.together:
                    jobs.append(self.queue.popleft())
            jobs = [job for job in jobs if not job[1].cancelled()]  # whoever asked has gone
            self.running = len(jobs)
            self._answer(jobs)
            self.running = 0

    def _answer(self, jobs: list[tuple[list[Any], asyncio.Future, asyncio.AbstractEventLoop]]) -> None:
        """Work for these; where it fails for several, for each alone, so that only the one to blame is told."""
        if not jobs:
            return
        try:
            answers = list(self.work([item for job in jobs for item in job[0]]))
        except Exception as error:
            if len(jobs) > 1:
                for job in jobs:
                    self._answer([job])
                return
            _settle(jobs[0], error if isinstance(error, BadakError) else Crash(error))
            return
        for job in jobs:
            _settle(job, answers[: len(job[0])])
            answers = answers[len(job[0]) :]


def _settle(job: tuple[list[Any], asyncio.Future, asyncio.AbstractEventLoop], answer: Any) -> None:
    """Give the answer to whoever waits, if somebody still does."""
    _, future, loop = job

    def put() -> None:
        if not future.done():
            future.set_exception(answer) if isinstance(answer, Exception) else future.set_result(answer)

    try:
        loop.call_soon_threadsafe(put)
    except RuntimeError:  # the loop has ended
        return
