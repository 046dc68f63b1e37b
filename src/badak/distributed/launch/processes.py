"""What `multiprocessing.spawn(..., join=False)` gives: ranks that run while the program that has started them goes on."""

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from badak.distributed.launch.spawned import Spawned


class RankProcess:
    """One rank, in the words of Python's Process."""

    def __init__(self, spawned: Spawned, thread: threading.Thread, number: int) -> None:
        self._spawned, self._thread, self._number = spawned, thread, number
        self.name = f"rank-{number}"

    @property
    def pid(self) -> int | None:
        """Its number in the system; None where it was not started."""
        return self._spawned.known[self._number].pid if self._number in self._spawned.known else None

    @property
    def exitcode(self) -> int | None:
        """How it ended; None while it runs."""
        rank = self._spawned.known.get(self._number)
        if rank is not None and rank.end is not None:
            return rank.end
        return None if self._thread.is_alive() else -signal.SIGKILL  # with the others

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self.exitcode is None

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended, so many seconds at most."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.is_alive() and (until is None or time.monotonic() < until):
            time.sleep(0.02)

    def terminate(self) -> None:
        """Ask it to end; the others end with it."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once; the others end with it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.is_alive() and self.pid:
            os.kill(self.pid, number)


class ProcessContext:
    """Ranks that were started, and are not waited for yet.

    Args:
        call: the function, called as call(rank, *args)
        args: its other arguments
        ranks: how many
        daemon: whether they end when this program does; else that waits for them
    """

    def __init__(self, call: Callable, args: tuple, ranks: int, daemon: bool = False) -> None:
        self._spawned = Spawned(call, args, ranks)
        self._thread = threading.Thread(target=self._spawned.run, name="badak-spawn", daemon=daemon)
        self._thread.start()
        while self._thread.is_alive() and len(self._spawned.known) < ranks:
            time.sleep(0.02)
        self.processes = [RankProcess(self._spawned, self._thread, number) for number in range(ranks)]

    def pids(self) -> list[int | None]:
        """The numbers of the processes in the system."""
        return [each.pid for each in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until all have ended: True; False where they have not after so many seconds.

        Args:
            timeout: seconds; None: as long as it takes
            grace_period: accepted; where one has failed the others are ended at once

        Raises:
            ProcessRaisedException: a function has raised an error
            ProcessExitedException: a process has ended otherwise
        """
        try:
            self._thread.join(timeout)
        except KeyboardInterrupt:
            if self._spawned.attempt is not None:
                self._spawned.attempt.interrupt(signal.SIGINT)
            raise
        if self._thread.is_alive():
            return False
        self._spawned.check()
        return True


SpawnContext: Any = ProcessContext
