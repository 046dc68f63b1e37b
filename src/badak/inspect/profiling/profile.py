"""Where the time of a step goes, by operation.

    with Profile() as profile:
        ...                                    # any program that trains
    profile.steps, profile.seconds, profile.rows, profile.python

While a profile is on, the forward and backward of every operation, the walk back and the optimizer's step run within a clock, by
their events. A part's seconds are its own: what it calls of other parts counts there. So all parts together and what is left,
`python`, make up the whole time exactly.
Compiled steps run as they are written.

    whole = sum of parts + python              python: your code, modules, checks, recording the graph, reading data
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from badak.core.events import Observer
from badak.optim.optimizer import is_step

FORWARD, BACKWARD, UPDATE, WALK = "forward", "backward", "update", "walk"


@dataclass
class Row:
    """What one part has taken: calls, its own seconds, and the bytes of the arrays that it read and wrote."""

    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0

    def __add__(self, other: "Row") -> "Row":
        return Row(self.calls + other.calls, self.seconds + other.seconds, self.bytes + other.bytes)


class Enough(BaseException):
    """Ends a program when as many steps have been measured as were asked for."""


@dataclass(eq=False)
class Profile(Observer):
    """Measures from `with Profile()` on: the first `skip` steps are left out, and after `limit` steps `Enough` is raised.

    A step ends with Optimizer.step; what comes after the last one is left out. A program that never updates anything is
    one single step. `clock` is for tests.
    """

    skip: int = 0
    limit: int | None = None
    clock: Callable[[], float] = perf_counter
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)  # (kind, name) -> Row
    seconds: float = 0.0
    steps: int = 0

    _lap: dict[tuple[str, str], Row] = field(default_factory=dict)  # since the last step
    _inner: float = 0.0  # seconds of the parts inside the one that is running
    _began: float = 0.0
    skipped: int = 0

    eager = True

    @property
    def python(self) -> float:
        """Seconds that no part explains."""
        return self.seconds - sum(row.seconds for row in self.rows.values())

    def __enter__(self) -> "Profile":
        super().__enter__()
        self._began = self.clock()
        return self

    def __exit__(self, kind: type[BaseException] | None = None, *error: object) -> None:
        super().__exit__()
        if not self.steps and not self.skipped and kind is None:
            self._end_lap()

    def on_op_enter(self, op, forward):
        return self._timed((FORWARD, op.name), forward)

    def on_backward_enter(self, node, backward):
        return self._timed((BACKWARD, node.op.name), backward)

    def on_backward_pass(self, outputs, gradients, options, proceed) -> None:
        self._timed((WALK, "backward"), proceed)()

    def on_call(self, effect, args, kwargs, proceed):
        if not is_step(effect, args):
            return proceed(*args, **kwargs)
        result = self._timed((UPDATE, type(args[0]).__name__), proceed)(*args, **kwargs)
        self._end_lap()
        return result

    def _timed(self, key: tuple[str, str], function: Callable) -> Callable:
        reads = 1 if key[0] == FORWARD else 0  # a forward writes what it saves, a backward reads it

        def timed(*args: Any, **kwargs: Any) -> Any:
            outer, self._inner = self._inner, 0.0
            start = self.clock()
            try:
                result = function(*args, **kwargs)
            finally:
                took = self.clock() - start
                row = self._lap.setdefault(key, Row())
                row.calls += 1
                row.seconds += took - self._inner
                self._inner = outer + took
            row.bytes += sum(map(_size, args[reads:])) + _size(result)
            return result

        return timed

    def _end_lap(self) -> None:
        now = self.clock()
        lap, self._lap = self._lap, {}
        took, self._began = now - self._began, now
        if self.skipped < self.skip:
            self.skipped += 1
            return
        for key, row in lap.items():
            self.rows[key] = self.rows.get(key, Row()) + row
        self.seconds += took
        self.steps += 1
        if self.steps == self.limit:
            raise Enough


def _size(thing: Any) -> int:
    """Bytes of an array, of those in a tuple, or of what an operation has saved."""
    if isinstance(thing, tuple):
        return sum(map(_size, thing))
    if hasattr(thing, "needs"):
        return sum(map(_size, vars(thing).values()))
    return thing.nbytes if isinstance(thing, np.ndarray) else 0
