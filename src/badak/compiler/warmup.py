"""The first call of a step, which only runs, is watched for what the recordings after it have to know."""

import contextlib
import weakref
from collections.abc import Iterator

from badak.compiler.snapshot import StateSnapshot
from badak.core.events import Observer
from badak.core.memory import holder_of
from badak.tensor import Tensor


class WarmUp(Observer):
    """Notes the modules of a call, the memory that its operations read, and what it writes, as far as they outlive the call."""

    eager = True

    def __init__(self):
        self.modules: dict = {}
        self._read: dict = {}  # id: a weak reference to the owner
        self._written: dict = {}
        self._asked: dict = {}  # the same of memory that the program asked of where it lies
        self.redefines = False  # whether a tensor became another one than before

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        for array in arrays:
            if array is not None:
                _note(array, self._read)

    def on_call(self, effect, args, kwargs, proceed):
        args = tuple([list(x) if isinstance(x, Iterator) else x for x in args])
        for array in written_by(effect, args, kwargs):
            _note(array, self._written)
        return proceed(*args, **kwargs)

    def lets_write_over(self, node) -> bool:
        return True

    def on_module_access(self, module) -> None:
        self.modules[id(module)] = module

    def on_memory_asked(self, x) -> None:
        _note(x._array, self._asked)

    def asks_of(self, owners: set[int]) -> bool:
        """Whether the program asked where memory lies that has one of these owners."""
        return not owners.isdisjoint(_alive(self._asked))

    def on_redefine(self, thing, how: str) -> None:
        self.redefines = self.redefines or isinstance(thing, Tensor)

    def memory(self) -> tuple[dict, dict]:
        """({id: owner} of what was read, {id: owner} of what was written), of what is still there."""
        return _alive(self._read), _alive(self._written)


def written_by(effect, args, kwargs) -> list:
    """The arrays that a function with a decorator of events may write."""
    if effect.kind == "writes":
        return [args[0]._array]
    return list(StateSnapshot([args, kwargs]).memory().values()) if effect.kind == "state" and not effect.alone else []


def target_of(effect, args):
    """What a function with a decorator of events changes, where it is one array or object; None where it may be anything."""
    if effect.kind == "writes":
        return args[0]._array
    return args[0] if effect.alone else None


def _note(array, known: dict) -> None:
    owner = holder_of(array)
    if id(owner) not in known:
        with contextlib.suppress(TypeError):  # bytes, say, which nobody writes to
            known[id(owner)] = weakref.ref(owner)


def _alive(known: dict) -> dict:
    return {key: owner for key, found in known.items() if (owner := found()) is not None}
