"""Where the time of a step goes, by operation.

    with Profile() as profile:
        ...                                    # any program that trains
    profile.steps, profile.seconds, profile.rows, profile.python

While a profile is on, the forward and backward of every operation, the walk back and the optimizer's step are wrapped in a
clock; when it is off nothing of it is left, so that it costs nothing. A part's seconds are its own: what it calls of other
parts counts there. So all parts together and what is left, `python`, make up the whole time exactly.
Compiled steps run as they are written.

    whole = sum of parts + python              python: your code, modules, checks, recording the graph, reading data
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial, wraps
from time import perf_counter
from typing import Any

from badak.compiler import Compiled
from badak.ops.op import Op
from badak.optim import Optimizer
from badak.tensor import Tensor

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


@dataclass
class Profile:
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
    _undo: list[Callable[[], None]] = field(default_factory=list)

    @property
    def python(self) -> float:
        """Seconds that no part explains."""
        return self.seconds - sum(row.seconds for row in self.rows.values())

    def __enter__(self) -> "Profile":
        self._watch_family(Op, self._watch_op)
        self._watch_family(Optimizer, self._watch_optimizer)
        self._replace(Tensor, "backward", self._timed((WALK, "backward"), Tensor.backward))
        self._replace(Compiled, "__call__", _as_written)
        self._began = self.clock()
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()
        if not self.steps and not self.skipped and kind is None:
            self._end_lap()

    def _watch_family(self, base: type, watch: Callable[[type], None]) -> None:
        """Watch all subclasses of `base`, those too that are defined later."""
        for cls in _descendants(base):
            watch(cls)
        plain = base.__dict__["__init_subclass__"]

        def born(cls: type, **options: Any) -> None:
            plain.__func__(cls, **options)
            watch(cls)

        self._replace(base, "__init_subclass__", classmethod(born))

    def _watch_op(self, cls: Any) -> None:
        for direction in (FORWARD, BACKWARD):
            if direction in cls.__dict__:
                timed = self._timed((direction, cls.name), getattr(cls, direction))
                self._replace(cls, direction, staticmethod(timed))

    def _watch_optimizer(self, cls: type) -> None:
        if "step" not in cls.__dict__:
            return
        update = cls.__dict__["step"]

        @wraps(update)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            nested = optimizer._stepping  # a step that calls its base class's is one step
            result = self._timed((UPDATE, type(optimizer).__name__), update)(optimizer, *args, **kwargs)
            if not nested:
                self._end_lap()
            return result

        self._replace(cls, "step", step)

    def _replace(self, cls: type, name: str, value: Any) -> None:
        undo = partial(setattr, cls, name, cls.__dict__[name]) if name in cls.__dict__ else partial(delattr, cls, name)
        setattr(cls, name, value)
        self._undo.append(undo)

    def _timed(self, key: tuple[str, str], function: Callable) -> Callable:
        reads = 1 if key[0] == FORWARD else 0  # a forward writes what it saves, a backward reads it

        @wraps(function)
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


def _as_written(compiled: Compiled, *args: Any, **kwargs: Any) -> Any:
    """A compiled step as the function that it was: a replay is one list of kernel calls, in which no operation shows."""
    return compiled.function(*args, **kwargs)


def _descendants(base: type) -> list[type]:
    """All classes that derive from `base`, each once."""
    found: dict[type, None] = {}
    pending: list[type] = base.__subclasses__()
    while pending:
        cls = pending.pop()
        if cls not in found:
            found[cls] = None
            pending += cls.__subclasses__()
    return list(found)


def _size(thing: Any) -> int:
    """Bytes of an array, of those in a tuple, or of what an operation has saved."""
    if isinstance(thing, tuple):
        return sum(map(_size, thing))
    if hasattr(thing, "needs"):
        return sum(map(_size, vars(thing).values()))
    return getattr(thing, "nbytes", 0) if not isinstance(thing, Tensor) else 0
