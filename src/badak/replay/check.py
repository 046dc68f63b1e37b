"""BADAK_COMPILE_CHECK=n: every n-th replay of a recording is also run as it is, and compared bit for bit.

First the step runs; what it left, and what it gave, is noted; everything is put back; then it is replayed. Both must have left
the same in memory, gradients, optimizers, schedules and generators, and must have given the same, be it an error.
"""

import functools
import os
import types
from collections import deque

import numpy as np

from badak.errors import GraphError
from badak.replay.entries import Call
from badak.replay.surroundings import NUMBERS, Surroundings, same
from badak.tensor import Tensor
from badak.tensor.generator import default_generator

EVERY = int(os.environ.get("BADAK_COMPILE_CHECK") or 0)


def checked(function, plan, args, kwargs, tensors):
    """A replay of the plan, compared with a call of the function where it is its turn."""
    plan.replays += 1
    if plan.replays % EVERY:
        return plan.replay(tensors)
    called = [[entry.args, list(entry.kwargs.values())] for entry in plan.entries if isinstance(entry, Call)]
    before = State([function, args, kwargs, default_generator, *plan.met, called])
    expected, raised = _outcome(lambda: function(*args, **kwargs))
    after = before.now()
    before.restore()
    found, error = _outcome(lambda: plan.replay(tensors))
    difference = _differs(expected, found, "its result") or before.now().differs(after)
    if (type(raised), str(raised)) != (type(error), str(error)):
        difference = f"one raises {raised!r}, the other {error!r}"
    if difference:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise GraphError(
            f"compile: a replay of {name} differs from running it: {difference}",
            "badak.compile(..., disable=True) runs it as it is; report this, it should not happen",
        )
    if error is not None:
        raise error
    return found


def _outcome(call):
    try:
        return call(), None
    except Exception as error:  # compared, and raised again
        return None, error


class State:
    """All that can be reached from `roots`, with its values."""

    def __init__(self, roots):
        self.roots = roots
        self.reached = Surroundings(roots)
        self.tensors = {id(x): (x, dict(vars(x))) for x in self.reached.tensors()}
        self.arrays = {key: (array, array.copy()) for key, array in self.reached.memory().items()}
        self.versions = {id(x): (x._counter, x._counter.count) for x in self.reached.tensors() if x._counter is not None}

    def now(self) -> "State":
        """The same later."""
        return State(self.roots)

    def restore(self) -> None:
        """Put everything back."""
        for _, container, held in self.reached.places():
            _put_back(container, held)
        for x, held in self.tensors.values():
            vars(x).clear()
            vars(x).update(held)
        for array, values in self.arrays.values():
            if array.flags.writeable:
                array[...] = values
        for version, count in self.versions.values():
            version.count = count

    def differs(self, other: "State") -> str:
        """Where another state has other values, in words; "" where it has the same."""
        for key, (x, held) in self.tensors.items():
            if key in other.tensors:
                theirs = other.tensors[key][1]
                for name in ("_array", "_grad", "_requires_grad"):
                    if difference := _differs(theirs.get(name), held.get(name), f"{name[1:]} of {_name(x)}"):
                        return difference
        mine = {id(container): (where, container, held) for where, container, held in self.reached.places()}
        for _, container, theirs in other.reached.places():
            where, _, held = mine.get(id(container), ("", None, theirs))
            wanted = _what_counts(container)
            for (name, one), (also, two) in zip(theirs, held):
                if (wanted is None or name in wanted) and (difference := _differs(one, two, f"{where}.{name}")):
                    return difference
                del also
            if len(theirs) != len(held):
                return f"{where} has {len(held)} parts instead of {len(theirs)}"
        return ""


def _name(x) -> str:
    return f"a tensor of shape {tuple(x._array.shape)}"


def _what_counts(container):
    """The attributes that belong to an object's state, where it says so; the others are scratch."""
    own = type(container).__dict__.get("__getstate__") or getattr(type(container), "__getstate__", None)
    if isinstance(own, types.FunctionType) and hasattr(container, "param_groups"):
        return set(container.__getstate__())
    return None if not type(container).__module__.startswith("badak.kernels") else set()


def _put_back(container, held) -> None:
    if isinstance(container, types.CellType):
        if held:
            container.cell_contents = held[0][1]
    elif isinstance(container, types.FunctionType):
        container.__globals__.update(held)
    elif isinstance(container, list | deque):
        container.clear()
        container.extend(value for _, value in held)
    elif isinstance(container, set):
        container.clear()
        container.update(value for _, value in held)
    elif isinstance(container, dict):
        container.clear()
        container.update(held)
    elif not isinstance(container, functools.partial):
        own = getattr(container, "__dict__", None)
        if isinstance(own, dict):
            own.clear()
            own.update(held)


def _differs(expected, found, where: str) -> str:
    """Where two values differ, in words; "" where they have the same bits."""
    if isinstance(expected, Tensor) and isinstance(found, Tensor):
        if expected._requires_grad != found._requires_grad:
            return f"{where} requires a gradient in one of them only"
        return _differs(expected._array, found._array, where)
    if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
        return "" if _bits(expected) == _bits(found) else f"{where} has other values{_where_first(expected, found)}"
    if isinstance(expected, list | tuple) and type(expected) is type(found):
        if len(expected) != len(found):
            return f"{where} has another length"
        return next((d for i, (a, b) in enumerate(zip(expected, found)) if (d := _differs(a, b, f"{where}[{i}]"))), "")
    if isinstance(expected, dict) and type(expected) is type(found):
        if list(expected) != list(found):
            return f"{where} has other keys"
        return next((d for name in expected if (d := _differs(expected[name], found[name], f"{where}[{name!r}]"))), "")
    if isinstance(expected, NUMBERS) or isinstance(found, NUMBERS):
        return "" if same(expected, found) else f"{where} is {found!r} instead of {expected!r}"
    return ""


def _bits(array) -> tuple:
    return array.shape, array.dtype, array.tobytes()


def _where_first(expected, found) -> str:
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return f": {found.dtype} {found.shape} instead of {expected.dtype} {expected.shape}"
    other = np.argwhere(expected != found)
    return f", first at {tuple(other[0].tolist())}" if len(other) and expected.ndim else ""
