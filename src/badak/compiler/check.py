"""BADAK_COMPILE_CHECK=n: every n-th replay of a recording is also run as it is, and compared bit for bit.

First the step runs; what it left, and what it gave, is noted; everything is put back; then it is replayed. Both must have left
the same in memory, gradients, optimizers, schedules and generators, and must have given the same, be it an error.
"""

import functools
import os
import types
from collections import deque

import numpy as np

from badak.compiler.snapshot import Attribute, StateSnapshot, is_number, slots_of
from badak.core import events
from badak.core.errors import ArgumentError, GraphError, tr
from badak.tensor import Tensor
from badak.tensor.attributes import held_by, is_a
from badak.tensor.generator import default_generator

_asked = os.environ.get("BADAK_COMPILE_CHECK", "").strip() or "0"
IS_NUMBER = _asked.isdecimal() and len(_asked) < 10
EVERY = int(_asked) if IS_NUMBER else 0  # how many replays there are for each that is checked; 0: none is


def expect_number() -> None:
    """Raise ArgumentError where BADAK_COMPILE_CHECK is none: whoever compiles shall not believe that it is checked."""
    if not IS_NUMBER:
        cause = tr("BADAK_COMPILE_CHECK: expected an integer; got {!r}", _asked[:40])
        raise ArgumentError(cause, "BADAK_COMPILE_CHECK=2 checks every second replay; or leave it unset")


def checked(function, plan, args, kwargs, tensors):
    """A replay of the plan, compared with a call of the function where it is its turn."""
    plan.replays += 1
    if plan.replays % EVERY:
        return plan.replay(tensors)
    everywhere = [own[name] for own, name in events.of_all]
    before = State([function, args, kwargs, default_generator, *everywhere, *plan.met])
    expected, raised = _outcome(lambda: function(*args, **kwargs))
    after = before.now()
    before.restore()
    found, error = _outcome(lambda: plan.replay(tensors))
    difference = _differs(expected, found, "its result") or before.now().differs(after)
    if (type(raised), str(raised)) != (type(error), str(error)):
        difference = tr("one raises {!r}, the other {!r}", raised, error)
    if difference:
        name = getattr(function, "__qualname__", type(function).__name__)
        cause = tr("compile: a replay of {} differs from running it: {}", name, difference)
        raise GraphError(cause, "badak.compile(..., disable=True) runs it as it is; report this, it should not happen")
    try:
        if error is not None:
            raise error
        return found
    finally:
        del error, raised


def _outcome(call):
    try:
        return call(), None
    except Exception as error:  # compared, and raised again
        return None, error


class State:
    """All that can be reached from `roots`, with its values."""

    def __init__(self, roots):
        self.roots = roots
        self.reached = StateSnapshot(roots)
        self.tensors = [(x, dict(held_by(x)), x._version_counter and x._version_counter.count) for x in self.reached.tensors()]
        self.arrays = {key: (array, array.copy()) for key, array in self.reached.memory().items()}
        self.values = dict(self._values())

    def _values(self):
        """((id, name), (in words, bits)) of every value."""
        for x, held, _ in self.tensors:
            for name in ("_array", "_grad", "_requires_grad"):
                where = f"{name[1:]} of a tensor of shape {tuple(x._array.shape)}"
                yield (id(x), name), (where, _bits(held.get(name)))
        for where, container, held in self.reached.places():
            wanted = _what_counts(container)
            for name, value in held:
                if wanted is None or name in wanted:
                    yield (id(container), _key(name)), (f"{where}.{name}" if isinstance(name, str) else where, _bits(value))
            yield (id(container), "how many"), (f"the length of {where}", len(held))

    def now(self) -> "State":
        """The same later."""
        return State(self.roots)

    def restore(self) -> None:
        """Put everything back."""
        for _, container, held in self.reached.places():
            _put_back(container, held)
        for x, held, count in self.tensors:
            held_by(x).clear()
            held_by(x).update(held)
            if x._version_counter is not None and count is not None:
                x._version_counter.count = count
        for array, values in self.arrays.values():
            if array.flags.writeable:
                array[...] = values

    def differs(self, other: "State") -> str:
        """Where another state has other values, in words; "" where it has the same."""
        for key, (where, value) in other.values.items():
            if key in self.values and self.values[key][1] != value:
                return f"{where} {_than(value, self.values[key][1])}"
        return ""


def _what_counts(container):
    """The attributes that belong to an object's state, where it says so; the others are scratch."""
    own = type(container).__dict__.get("__getstate__") or getattr(type(container), "__getstate__", None)
    if isinstance(own, types.FunctionType) and hasattr(container, "param_groups"):
        return set(container.__getstate__())
    return None if not type(container).__module__.startswith("badak.kernels") else set()


def _put_back(container, held) -> None:
    if is_a(container, types.CellType):
        if held:
            container.cell_contents = held[0][1]
    elif is_a(container, types.FunctionType):
        container.__globals__.update(held)
    elif is_a(container, list | deque):
        container.clear()
        container.extend(value for _, value in held)
    elif is_a(container, set):
        container.clear()
        container.update(value for _, value in held)
    elif is_a(container, dict):
        container.clear()
        for name, value in held:
            if type(name) is not Attribute:
                container[name] = value
        _put_back_attributes(container, [(str(name), value) for name, value in held if type(name) is Attribute])
    elif not is_a(container, functools.partial):
        _put_back_attributes(container, held)


def _put_back_attributes(container, held) -> None:
    own, slots = held_by(container), slots_of[type(container)]
    if is_a(own, dict):
        own.clear()
        own.update((name, value) for name, value in held if name not in slots)
    for name, value in held:
        if name in slots:
            object.__setattr__(container, name, value)


def _key(name):
    if type(name) is Attribute:
        return "attribute", str(name)
    return name if is_a(name, int | str) else id(name)


def _bits(value):
    """What is compared of a value; None for objects, which are looked into by themselves."""
    if is_a(value, Tensor):
        return _bits(value._array), value._requires_grad
    if is_a(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    return repr(value) if is_number[type(value)] else None


def _than(expected, found) -> str:
    if isinstance(expected, str | int) and isinstance(found, str | int):
        return f"is {found} instead of {expected}"
    return "has other values" if expected is not None and found is not None else "is there in one of them only"


def _differs(expected, found, where: str) -> str:
    """Where two results differ, in words; "" where they have the same bits."""
    if isinstance(expected, list | tuple) and type(expected) is type(found):
        if len(expected) != len(found):
            return tr("{} has another length", where)
        return next((d for i, (a, b) in enumerate(zip(expected, found)) if (d := _differs(a, b, f"{where}[{i}]"))), "")
    if isinstance(expected, dict) and type(expected) is type(found):
        if list(expected) != list(found):
            return tr("{} has other keys", where)
        return next((d for name in expected if (d := _differs(expected[name], found[name], f"{where}[{name!r}]"))), "")
    one, two = _bits(expected), _bits(found)
    return "" if one == two else f"{where} {_than(one, two)}"
