"""A process that builds some work and does it as often as it is told to.

It reads a JSON line and answers with one, until its input ends:

    {"do": "build", "work": ...}        -> {"parameters": 804096, "seconds": 1.2}
    {"do": "steps", "count": 5}         -> {"values": [4.61, 4.48, ...]}           what step() returned
    {"do": "time", "seconds": 0.5}      -> {"ms": [1.91, 1.87, ...], "value": 4.4, "cpu": 0.9}
    {"do": "memory"}                    -> {"peak_mb": 412.0}
    anything that fails                 -> {"error": "ValueError: ..."}
"""

import json
import os
import sys
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any, Protocol

from badak.inspect.profiling.machine import peak_mb
from badak.inspect.profiling.timing import repeat

WARM_UP = 1.0  # seconds: a step that takes longer is not repeated to warm up after a pause


class Work(Protocol):
    """What is measured."""

    parameters: int

    def step(self) -> float:
        """Everything once; returns when it has been computed, with the loss or another number to compare."""
        ...


class Server:
    """Answers one question after the other."""

    def __init__(self, build: Callable[[Any], Work]):
        self.build_work = build
        self.work: Work | None = None
        self.last = 0.0  # seconds of the last step

    def build(self, work: Any) -> dict:
        """Make the work, without doing it."""
        start = perf_counter()
        self.work = None  # the old one goes before the new one comes
        self.work = self.build_work(work)
        return {"parameters": int(self.work.parameters), "seconds": perf_counter() - start}

    def steps(self, count: int) -> dict:
        """Do it `count` times and say what came out."""
        return {"values": [self._step() for _ in range(count)]}

    def time(self, seconds: float) -> dict:
        """Do it for about `seconds`; a first step that refills caches and wakes threads counts in "cpu" alone."""
        cpu = process_time()
        if self.last < WARM_UP:
            self._step()
        ms, value = repeat(self._step, seconds)
        return {"ms": ms, "value": value, "cpu": process_time() - cpu}

    def memory(self) -> dict:
        """The most memory so far."""
        return {"peak_mb": peak_mb()}

    def _step(self) -> float:
        assert self.work is not None, "build comes first"
        start = perf_counter()
        value = float(self.work.step())
        self.last = perf_counter() - start
        return value


def serve(build: Callable[[Any], Work]) -> None:
    """Answer until the input ends. What libraries print goes to stderr, so that every line of the output is an answer."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # else it is said after the last words of stderr
    server = Server(build)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(server, question.pop("do"))(**question)
        except Exception as error:  # whatever it is, it belongs to this work and is said there
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
