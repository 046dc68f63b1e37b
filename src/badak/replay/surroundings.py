"""What a step can reach besides its arguments' values: is it as it was, apart from what the recorder was told?

The walk begins at the function and its arguments, goes through closures, the globals that the code names, attributes and
containers, and ends at numbers, classes and Python's modules. What it finds is compared in every gap between two announced
effects: there, nothing may have changed, for a replay would not do it again. Memory is compared by a digest.
"""

import dis
import functools
import sys
import types
from collections import deque
from collections.abc import Iterator

import numpy as np

from badak.graph import Node, Version
from badak.naming.homes import home
from badak.tensor import Tensor
from badak.tensor.attributes import held_by

NUMBERS = (int, float, complex, bool, str, bytes, type(None))
_ENDS = (*NUMBERS, type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, Iterator, Node, Version, np.dtype, np.generic)
_MOST = 20_000  # containers that are walked through
_BLOCK = 1 << 16  # int64s that are digested at once
_KEYS = np.random.default_rng(0x5EED).integers(-(1 << 62), 1 << 62, _BLOCK) | 1


def memory_of(array):
    """The outermost array on the memory that this one sees."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def digest(array) -> int:
    """A number that changes when one of the array's bytes does, or two change places."""
    dense = array if array.flags.c_contiguous else array.T
    data = np.frombuffer(array.tobytes(), np.uint8) if not dense.flags.c_contiguous else dense.reshape(-1).view(np.uint8)
    whole = data[: data.size // 8 * 8].view(np.int64)
    total = hash(data[whole.size * 8 :].tobytes())
    for start in range(0, whole.size, _BLOCK):
        part = whole[start : start + _BLOCK]
        total = hash((total, int(np.dot(part, _KEYS[: part.size]))))
    return total


@functools.lru_cache(1000)
def named_globals(code: types.CodeType) -> frozenset[str]:
    """The globals that a function and the functions within it ask for by name."""
    found = frozenset(str(step.argval) for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            found |= named_globals(inner)
    return found


def is_ours(thing) -> bool:
    """Whether a class or a function stands in badak, or in a library that it rests on."""
    return is_known(home(thing))


def is_known(module: str) -> bool:
    """Whether a module is badak's, NumPy's or Python's: what these read is known."""
    first = module.split(".")[0]
    return first in ("badak", "torch", "numpy") or (first in sys.stdlib_module_names and first != "__main__")


class Surroundings:
    """All that the step can reach from `roots`, as it was when last looked at. `arguments`: tensors to pass over."""

    def __init__(self, roots, arguments=()):
        self._seen: dict = {id(x): x for x in arguments}
        self._arguments = set(self._seen)
        self.meets_argument = False  # whether one of them can be reached from the roots as well
        self._containers: dict = {}  # id: (where, container, what it held)
        self._memory: dict = {}  # id: (where, array, digest)
        self._walk([("", root) for root in roots])

    def note(self, array, where: str = "a tensor") -> None:
        """Compare this memory, too, from now on."""
        array = memory_of(array)
        if id(array) not in self._memory and array.dtype.hasobject is False:
            self._memory[id(array)] = where, array, digest(array)

    def is_argument(self, thing) -> bool:
        """Whether it is one of the caller's arguments."""
        return id(thing) in self._arguments

    def memory(self) -> dict:
        """id: array, of all memory that was found."""
        return {key: array for key, (_, array, _) in self._memory.items()}

    def changed(self, only=None) -> str:
        """What has changed since it was last looked at, in words; "" where nothing has. only: an object, or an array."""
        for where, container, held in self._containers.values():
            if (only is None or only is container) and not _alike(held, _held(container)):
                return f"{where} changes while it runs, and nothing says that a replay has to do it again"
        only = memory_of(only) if isinstance(only, np.ndarray) else only
        for where, array, before in self._memory.values():
            if (only is None or only is array) and digest(array) != before:
                return f"the memory of {where} changes, and nothing says that a replay has to do it again"
        return ""

    def look_again(self, only=None) -> None:
        """Take what there is now for what has to stay. only: an object with its arrays, or an array."""
        if not isinstance(only, np.ndarray | type(None)):
            for part in held_by(only).values():
                if isinstance(part, np.ndarray):
                    self.look_again(part)
        only = memory_of(only) if isinstance(only, np.ndarray) else only
        for key, (where, array, _) in list(self._memory.items()):
            if only is None or only is array:
                self._memory[key] = where, array, digest(array)
        waiting = []
        for key, (where, container, _) in list(self._containers.items()):
            if only is None or only is container:
                self._containers[key] = where, container, _held(container)
                waiting += _parts(where, container)
        self._walk(waiting)

    def places(self) -> list:
        """(where, container, what it held) of everything that was found."""
        return list(self._containers.values())

    def tensors(self) -> list:
        """The tensors that were found."""
        return [x for x in self._seen.values() if isinstance(x, Tensor)]

    def _walk(self, waiting) -> None:
        pending = deque(waiting)
        while pending and len(self._containers) < _MOST:
            where, thing = pending.popleft()
            if isinstance(thing, _ENDS) or id(thing) in self._seen:
                self.meets_argument = self.meets_argument or id(thing) in self._arguments
                continue
            self._seen[id(thing)] = thing
            if isinstance(thing, np.ndarray):
                self.note(thing, where or "an array")
            elif isinstance(thing, Tensor):
                self.note(thing._array, where or "a tensor")
                pending.append((f"{where}.grad", thing._grad))
            else:
                held = _held(thing)
                if held is not None:
                    self._containers[id(thing)] = where or type(thing).__name__, thing, held
                pending.extend(_parts(where, thing))


class Attribute(str):
    """The name of an attribute of a dict, which may also have an entry of that name."""


def _held(thing):
    """What a container holds, to be compared: a list of pairs; None for what holds nothing that changes."""
    if isinstance(thing, types.CellType):
        return [("", thing.cell_contents)] if _is_filled(thing) else []
    if isinstance(thing, types.FunctionType):
        names = sorted(named_globals(thing.__code__)) if not is_ours(thing) else []
        return [(name, thing.__globals__[name]) for name in names if name in thing.__globals__]
    if isinstance(thing, dict):
        return [*thing.items(), *((Attribute(name), value) for name, value in _attributes(thing))]
    if isinstance(thing, list | deque):
        return list(enumerate(thing))
    if isinstance(thing, set):
        return [(each, each) for each in sorted(thing, key=id)]
    if isinstance(thing, tuple | frozenset | types.MethodType | functools.partial):
        return None
    if _is_replay(thing):
        return None
    return _attributes(thing) or None


def _is_replay(thing) -> bool:
    """Whether it belongs to a compiled step, whose recordings are not the program's."""
    return type(thing).__module__.startswith("badak.replay.")


def _attributes(thing) -> list:
    own = held_by(thing)
    found = list(own.items()) if isinstance(own, dict) else []
    for kind in type(thing).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(thing, name):
                found.append((name, getattr(thing, name)))
    return found


def _is_filled(cell) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:
        return False


def _parts(where: str, thing) -> list:
    """(where, part) of all that can be reached from here in one step."""
    if is_ours(thing) and isinstance(thing, types.FunctionType):
        return []
    if _is_replay(thing):
        return [("", getattr(thing, "function", None))]
    if isinstance(thing, types.FunctionType):
        cells = [(name, cell) for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or ())]
        return [*cells, *(_held(thing) or ()), (f"a default of {thing.__name__}", thing.__defaults__ or ())]
    if isinstance(thing, types.MethodType):
        return [("", thing.__self__), ("", thing.__func__)]
    if isinstance(thing, functools.partial):
        return [("", thing.func), ("", thing.args), ("", thing.keywords)]
    if isinstance(thing, tuple | frozenset):
        return [(f"{where}[{i}]", part) for i, part in enumerate(thing)]
    held = _held(thing) or ()
    if isinstance(thing, types.CellType):
        return [(where, part) for _, part in held]
    if isinstance(thing, dict | list | deque | set):
        return [(f"{where}[{key!r}]" if isinstance(key, int | str) else where, part) for key, part in held]
    prefix = where or type(thing).__name__
    return [(f"{prefix}.{name}", part) for name, part in held]


def same(one, two) -> bool:
    """Whether two values are the same object, or equal numbers or texts to the last bit."""
    return one is two or (type(one) is type(two) and isinstance(one, NUMBERS) and repr(one) == repr(two))


def _alike(before, now) -> bool:
    return len(before) == len(now or ()) and all(
        same(a, b) and same(one, two) for (a, one), (b, two) in zip(before, now or ())
    )
