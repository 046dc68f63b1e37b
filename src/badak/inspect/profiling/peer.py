"""The other end of `worker`: processes that take turns, so that a machine that slows down slows them all."""

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from time import perf_counter
from typing import Any

from badak.core.errors import StateError, tr
from badak.inspect.profiling.machine import busy_seconds, environment
from badak.inspect.profiling.timing import Timing

CAN_FREEZE = hasattr(signal, "SIGSTOP")


class Peer:
    """One worker process. It is frozen whenever nobody asks it anything, so that its threads do not spin meanwhile."""

    def __init__(self, command: list[str], threads: int, timeout: float = 600.0):
        self.timeout = timeout
        self.timing = Timing()
        self._said = tempfile.TemporaryFile()
        # A process group of its own: should we be killed, the system wakes and ends what is frozen.
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=environment(threads),
            text=True, process_group=0 if CAN_FREEZE else None,
        )  # fmt: skip
        self._answers: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, do: str, **question: Any) -> dict:
        """The answer to one question; StateError with what the process said where it fails."""
        self._signal("SIGCONT")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **question}) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=self.timeout)
        except queue.Empty:
            raise StateError(tr("no answer to {} within {:.0f} s", do, self.timeout), "a longer timeout") from None
        except BrokenPipeError:
            line = ""
        if not line:
            raise StateError(self._last_words(), "run the worker by hand to see more")
        self._signal("SIGSTOP")
        answer = json.loads(line)
        if "error" in answer:
            raise StateError(answer["error"].splitlines()[0])
        return answer

    def measure(self, seconds: float) -> None:
        """One more round of about `seconds`."""
        start, busy = perf_counter(), busy_seconds()
        answer = self.ask("time", seconds=seconds)
        self.timing.seconds += perf_counter() - start
        self.timing.foreign += max(0.0, busy_seconds() - busy - answer["cpu"])
        self.timing.rounds.append(answer["ms"])

    def close(self) -> None:
        """End the process."""
        if self._process.poll() is None:
            self._signal("SIGCONT")
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._answers.put(line)
        except ValueError:  # closed while it was read
            pass
        self._answers.put("")

    def _signal(self, name: str) -> None:
        if CAN_FREEZE and self._process.poll() is None:
            os.kill(self._process.pid, getattr(signal, name))

    def _last_words(self) -> str:
        self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else tr("the worker ended with code {}", self._process.returncode)


def interleave(peers: list[Peer], rounds: int, seconds: float) -> None:
    """Measure each peer `rounds` times, interleaved: A B C A B C ..."""
    for _ in range(rounds):
        for peer in peers:
            peer.measure(seconds)
