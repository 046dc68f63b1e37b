"""What the code of a step reads besides tensors: numbers of closures, globals, attributes of plain objects.

A recording holds as long as they are what they were. Found in the code: a name, and the attributes that it asks for one after
the other, as in `self.config.dropout`. Modules say themselves when they change.
"""

import builtins
import dis
import types
from collections.abc import Callable

from badak.replay.surroundings import NUMBERS, is_known, is_ours, same
from badak.tensor.attributes import held_by

_MISSING = object()
_NAMES = "LOAD_GLOBAL", "LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF"


def plain_values(thing) -> dict:
    """The attributes of an object that are numbers or texts."""
    own = held_by(thing)
    return {name: value for name, value in own.items() if isinstance(value, NUMBERS)} if isinstance(own, dict) else {}


def class_values(thing) -> list[str]:
    """The names of numbers and texts that an object has from its class alone."""
    found = {name for kind in type(thing).__mro__ for name, value in vars(kind).items() if isinstance(value, NUMBERS)}
    return sorted(name for name in found if not name.startswith("__") and name not in held_by(thing))


class Guard:
    """A place, in a dict or a cell, and what was found there."""

    __slots__ = ("name", "place", "value", "what")

    def __init__(self, place, name, what: str):
        self.place, self.name, self.what = place, name, what
        self.value = self.now()

    def now(self):
        """What is found there now."""
        if self.name is None:
            return self.place.cell_contents
        return self.place.get(self.name, _MISSING)

    def holds(self) -> bool:
        """Whether it is still the same."""
        try:
            now = self.now()
        except ValueError:  # an empty cell
            return False
        return now is self.value or same(now, self.value)


class Reads:
    """What functions read: `guards`, and the `modules` that they name."""

    def __init__(self):
        self.guards: dict = {}  # (id of the place, name): guard
        self.modules: dict = {}  # id: module
        self._seen: dict = {}

    def add(self, function: Callable) -> None:
        """Follow a function."""
        function = getattr(function, "function", function)
        own: dict = {}  # of its arguments, those that are known
        if isinstance(function, types.MethodType) and isinstance(function.__func__, types.FunctionType):
            own = dict(zip(function.__func__.__code__.co_varnames[:1], (function.__self__,)))
            function = function.__func__
        if isinstance(function, types.FunctionType) and not is_ours(function):
            key = function, tuple((name, id(value)) for name, value in own.items())
            if key not in self._seen:
                self._seen[key] = own
                self._code(function.__code__, function, own)

    def add_module(self, module) -> None:
        """Follow a module and what is below it: its forward, where that is the user's."""
        if id(module) in self.modules:
            return
        self.modules[id(module)] = module
        forward = getattr(type(module), "forward", None)
        if isinstance(forward, types.FunctionType):
            self.add(types.MethodType(forward, module))
        for child in module.__dict__["_modules"].values():
            if child is not None:
                self.add_module(child)

    def add_object(self, thing, before: dict) -> None:
        """Follow an argument; of a plain object, the numbers that were the same `before`, by name."""
        own = held_by(thing)
        if isinstance(thing, types.FunctionType | types.MethodType):
            self.add(thing)
        elif isinstance(own, dict) and "_modules" in own:
            self.add_module(thing)
        elif isinstance(own, dict) and not is_ours(thing):
            for name, value in before.items():
                if same(own.get(name, _MISSING), value):
                    self._guarded(own, name, f"{type(thing).__name__}.{name}")
            for name in class_values(thing):  # which one of its own would hide
                self._guarded(own, name, f"{type(thing).__name__}.{name}")

    def add_value(self, thing, name: str, value) -> None:
        """An object whose attribute has to have this value before a replay."""
        guard = Guard(held_by(thing), name, f"{type(thing).__name__}.{name}")
        guard.value = value
        self.guards[id(guard.place), name] = guard

    def _code(self, code, function, known) -> None:
        steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG", "PRECALL")]
        for i, step in enumerate(steps):
            if step.opname.startswith(_NAMES) and (found := self._root(step, function, known)) is not _MISSING:
                for after in steps[i + 1 :]:
                    if after.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
                        break
                    found = self._attribute(found, str(after.argval))
                self._reached(found)
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                own = set(inner.co_varnames)
                self._code(inner, function, {name: value for name, value in known.items() if name not in own})

    def _root(self, step, function, known):
        name = step.argval[-1] if isinstance(step.argval, tuple) else step.argval
        if step.opname == "LOAD_GLOBAL" and name in function.__globals__:
            return self._guarded(function.__globals__, name, name)
        if step.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF") and name in function.__code__.co_freevars:
            cell = function.__closure__[function.__code__.co_freevars.index(name)]
            return self._guarded(cell, None, name)
        return known.get(name, _MISSING) if step.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else _MISSING

    def _guarded(self, place, name, what: str):
        guard = self.guards.get((id(place), name))
        if guard is None:
            try:
                guard = Guard(place, name, what)
            except ValueError:  # an empty cell
                return _MISSING
            if not is_ours(guard.value) or not isinstance(guard.value, types.ModuleType | type | types.FunctionType):
                self.guards[id(place), name] = guard
        return guard.value

    def _attribute(self, thing, name: str):
        own = held_by(thing)
        if thing is _MISSING or isinstance(thing, type | types.FunctionType) or own is None:
            return _MISSING
        if isinstance(thing, types.ModuleType) and (is_ours(thing) or is_known(thing.__name__)):
            return _MISSING
        if "_modules" in own:
            self.add_module(thing)
            return next((own[part][name] for part in ("_modules", "_parameters") if name in own[part]), own.get(name, _MISSING))
        if name in own:
            return self._guarded(own, name, f"{type(thing).__name__}.{name}")
        method = getattr(type(thing), name, None)
        if isinstance(method, types.FunctionType):
            return types.MethodType(method, thing)
        return _MISSING

    def _reached(self, thing) -> None:
        if isinstance(thing, types.FunctionType | types.MethodType) and thing not in vars(builtins).values():
            self.add(thing)
        elif isinstance(own := held_by(thing), dict) and "_modules" in own:
            self.add_module(thing)
