"""What one run does, written down: its operations on arrays, by number."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from badak.autograd import no_grad
from badak.compat.torch.tracing.forms import of_windows
from badak.core import events
from badak.core.errors import user_line
from badak.core.events import Observer
from badak.core.modes import modes
from badak.ops.shape import View
from badak.ops.windows import AvgPool, MaxPool
from badak.tensor import Tensor


class Ref(NamedTuple):
    """A value of the trace, by its number."""

    number: int


class Value:
    """A tensor of the run. kind: "input", "held" (by the module, under `name`), "constant" or "made"."""

    def __init__(self, kind: str, array: np.ndarray, name: str = "") -> None:
        self.kind, self.array, self.name = kind, array, name
        self.alive: Any = array  # what was met: a number is that of one object as long as this lives
        self.made: Any = None  # of a constant that follows the sizes: `sizes.Made`


class Step(NamedTuple):
    """An operation ("op"), a function without one ("pure"), or a write into memory ("write")."""

    kind: str
    function: Any
    inputs: tuple
    attributes: dict
    outputs: tuple


class Trace(Observer):
    """`with trace:` writes down what this thread computes."""

    eager = tracing = True

    def __init__(self, inputs: list[Tensor], held: dict[str, Tensor]) -> None:
        self.values: list[Value] = []
        self.steps: list[Step] = []
        self.reads: list[tuple[str, str]] = []  # a value that went to Python: how, and the line of the program
        self.draws: list[str] = []
        self.outputs: Any = None
        self._numbers: dict[int, int] = {}  # id of an array that self.values keeps alive: its number
        self._names = {id(x._array): name for name, x in held.items()}
        for x in inputs:
            self._add("input", x._array)

    def _add(self, kind: str, array: np.ndarray, name: str = "", kept: np.ndarray | None = None) -> Ref:
        self.values.append(Value(kind, array if kept is None else kept, name))
        self.values[-1].alive = array
        self._numbers[id(array)] = len(self.values) - 1
        return Ref(len(self.values) - 1)

    def ref(self, x: Tensor | np.ndarray) -> Ref:
        """The number of a tensor; one that nobody made is a constant, as it is now."""
        array = x._array if isinstance(x, Tensor) else x
        number = self._numbers.get(id(array))
        if number is not None:
            return Ref(number)
        if id(array) in self._names:
            return self._add("held", array, self._names[id(array)])
        base = array.base
        if isinstance(base, np.ndarray) and id(base) in self._numbers and _same_bytes(array, base):
            view = self._add("made", array)
            self.steps.append(Step("op", View, (Ref(self._numbers[id(base)]),), {"shape": array.shape}, (view,)))
            return view
        return self._add("constant", array, kept=array.copy())

    def nest(self, a: Any) -> Any:
        """The same nest with numbers for tensors and arrays."""
        if isinstance(a, Tensor | np.ndarray):
            return self.ref(a)
        if isinstance(a, tuple | list):
            return tuple(map(self.nest, a)) if isinstance(a, tuple) else list(map(self.nest, a))
        if isinstance(a, dict):
            return {name: self.nest(x) for name, x in a.items()}
        return a.item() if isinstance(a, np.generic) else a

    def _made(self, a: Any) -> tuple:
        arrays = [x._array if isinstance(x, Tensor) else x for x in (a if isinstance(a, tuple | list) else (a,))]
        return tuple(self._add("made", array) for array in arrays if isinstance(array, np.ndarray))

    def on_op(
        self, op: Any, saved: Any, inputs: Sequence, arrays: list | tuple, attributes: dict, outputs: Sequence[Tensor]
    ) -> None:
        what = tuple(None if x is None else self.ref(x) for x in arrays)
        if op in (MaxPool, AvgPool):
            attributes = of_windows(op, arrays[0].shape[2:], **attributes)
        self.steps.append(Step("op", op, what, self.nest(attributes), self._made(outputs)))

    def on_call(self, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
        before: tuple[tuple, dict] = (self.nest(args), self.nest(kwargs)) if effect.kind in ("pure", "writes") else ((), {})
        events.watch(self, False)
        try:
            result = proceed(*args, **kwargs)
        finally:
            events.watch(self)
        if effect.kind == "pure":
            self.steps.append(Step("pure", effect.function, before[0], before[1], self._made(result)))
        elif effect.kind == "writes":
            self.steps.append(Step("write", effect.function, before[0], before[1], ()))
        elif effect.kind == "state":
            self.draws.append(effect.function.__qualname__)
        return result

    def on_read(self, how: str) -> None:
        self.reads.append((how, user_line()))


def _same_bytes(array: np.ndarray, base: np.ndarray) -> bool:
    """Whether it is `base` in another shape."""
    both = array.flags.c_contiguous and base.flags.c_contiguous and array.dtype == base.dtype
    return both and array.size == base.size and array.ctypes.data == base.ctypes.data


def is_tracing() -> bool:
    """Whether this thread writes down what it does."""
    return any(each.tracing for each in modes.observers)


def record(function: Callable, args: tuple, kwargs: dict, inputs: list[Tensor], held: dict[str, Tensor]) -> Trace:
    """The trace of function(*args, **kwargs). inputs: its tensors; held: the parameters and buffers, by name."""
    trace = Trace(inputs, held)
    with no_grad(), trace:
        trace.outputs = function(*args, **kwargs)
    return trace
