"""What a step can reach besides its arguments' values: is it as it was, apart from what the recorder was told?

The walk begins at the function and its arguments, goes through closures, the globals that the code names, attributes and
containers, and ends at numbers, classes and Python's modules. What it finds is compared in every gap between two announced
effects: there, nothing may have changed, for a replay would not do it again. Memory is compared by a digest.
"""

import dis
import functools
import gc
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import is_

import numpy as np

from badak.autograd.node import Node, Version
from badak.compiler.provenance import Living
from badak.compiler.pure import written_in_python
from badak.core.errors import tr
from badak.core.public_api.homes import home
from badak.tensor import Tensor
from badak.tensor.attributes import held_by, is_a
from badak.tensor.of_values import OfValues

NUMBERS = (int, float, complex, bool, str, bytes, type(None))
_ENDS = (*NUMBERS, type, types.ModuleType, types.BuiltinFunctionType, types.CodeType, Iterator, Node, Version, np.dtype, np.generic)
MOST = 500_000  # containers that are walked through; a step that reaches more is not recorded
_SMALL = 1 << 10  # bytes of an array that are hashed at once
_BLOCK = 1 << 16  # int64s that are digested at once
_KEYS = np.random.default_rng(0x5EED).integers(-(1 << 62), 1 << 62, _BLOCK) | 1


def memory_of(array):
    """The outermost array on the memory that this one sees."""
    while is_a(array.base, np.ndarray):
        array = array.base
    return array


def digest(array) -> int:
    """A number that changes when one of the array's bytes does, or two change places."""
    if array.nbytes <= _SMALL:
        return hash(array.tobytes())
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
        if is_a(inner, types.CodeType):
            found |= named_globals(inner)
    return found


def is_ours(thing) -> bool:
    """Whether a class or a function stands in badak, or in a library that it rests on."""
    return is_known(home(thing))


def is_known(module: str) -> bool:
    """Whether a module is badak's, NumPy's or Python's: what these read is known."""
    first = module.split(".")[0]
    return first in ("badak", "torch", "numpy") or (first in sys.stdlib_module_names and first != "__main__")


class StateSnapshot:
    """All that the step can reach from `roots`, as it was when last looked at. `arguments`: tensors to pass over."""

    def __init__(self, roots, arguments=()):
        self._seen: dict = {id(x): x for x in arguments}
        self._arguments = set(self._seen)
        self.meets_argument = False  # whether one of them can be reached from the roots as well
        self._containers: dict = {}  # id: (where, container, what it held)
        self._memory = Living()  # (where, weak reference, digest) of each array: the program may free it
        self._tensors = Living()  # where they were found, of tensors
        self.too_many = False  # whether it ends before all was found
        self._walk([("", root) for root in roots])

    def note(self, array, where: str = "a tensor") -> None:
        """Compare this memory, too, from now on."""
        array = memory_of(array)
        if id(array) not in self._memory.of and array.dtype.hasobject is False:
            self._note(array, where)

    def _note(self, array, where: str) -> None:
        self._memory.put(array, (where, weakref.ref(array), digest(array)))

    def is_argument(self, thing) -> bool:
        """Whether it is one of the caller's arguments."""
        return id(thing) in self._arguments

    def memory(self) -> dict:
        """id: array, of all memory that was found."""
        return {id(array): array for _, array, _ in self._arrays()}

    def has(self, thing) -> bool:
        """Whether this tensor or container is one of those that were found."""
        return self._seen.get(id(thing)) is thing or (id(thing) in self._tensors.of and is_a(thing, Tensor))

    def holds_memory_of(self, tensors) -> bool:
        """Whether one of these tensors sees memory that was found."""
        return any(id(memory_of(x._array)) in self._memory.of for x in tensors)

    def _arrays(self, only=None) -> list:
        """(where, array, digest) of all memory, or of one array alone, if it is there."""
        known = self._memory.of
        found = known.values() if only is None else [known[id(only)]] if id(only) in known else []
        return [(where, array, before) for where, there, before in list(found) if (array := there()) is not None]

    def changed(self, only=None) -> str:
        """What has changed since it was last looked at, in words; "" where nothing has. only: an object, or an array."""
        for where, container, held in _those(self._containers, only):
            if not held.is_still(container):
                return tr("{} changes while it runs, and nothing says that a replay has to do it again", where)
        for where, array, before in self._arrays(memory_of(only) if is_a(only, np.ndarray) else only):
            if digest(array) != before:
                return f"the memory of {where} changes, and nothing says that a replay has to do it again"
        return ""

    def look_again(self, only=None) -> None:
        """Take what there is now for what has to stay. only: an object with its arrays, or an array."""
        if not isinstance(only, np.ndarray | type(None)):
            for part in held_by(only).values():
                if is_a(part, np.ndarray):
                    self.look_again(part)
        only = memory_of(only) if is_a(only, np.ndarray) else only
        for where, array, _ in self._arrays(only):
            self._note(array, where)
        waiting: list = []
        for where, container, held in _those(self._containers, only):
            if not held.is_still(container):
                now = _held(container)
                self._containers[id(container)] = where, container, now
                waiting += _parts(where, container, now)
        self._walk(waiting)

    def places(self) -> list:
        """(where, container, what it held) of everything that was found."""
        return [(where, container, held.pairs()) for where, container, held in self._containers.values()]

    def tensors(self) -> list:
        """The tensors that were found."""
        found = [x for x in self._seen.values() if is_a(x, Tensor)]
        return found + [x for there in self._tensors.of.values() if (x := there()) is not None]

    def _walk(self, waiting) -> None:
        with uncollected():
            self._walk_on(deque(waiting))

    def _walk_on(self, pending: deque) -> None:
        seen = self._seen
        while pending:
            where, thing = pending.popleft()
            if id(thing) in seen or id(thing) in self._tensors.of or _ends[type(thing)]:
                self.meets_argument = self.meets_argument or id(thing) in self._arguments
                continue
            if is_a(thing, np.ndarray):
                self.note(thing, where or "an array")
                continue
            if is_a(thing, Tensor):
                self._tensors.put(thing, weakref.ref(thing))
                if is_a(thing, OfValues):
                    pending.extend((where, part) for part in held_by(thing).values())
                    continue
                if thing._described is None:
                    self.note(thing._array, where or "a tensor")
                pending.append((f"{where}.grad", thing._grad))
                continue
            seen[id(thing)] = thing
            if len(self._containers) >= MOST:
                self.too_many = True
                return
            held = _held(thing)
            if held is not None:
                self._containers[id(thing)] = where or type(thing).__name__, thing, held
            pending.extend(_parts(where, thing, held))


@contextmanager
def uncollected() -> Iterator[None]:
    """Python's collector waits: each of its rounds would look at all that the walk has found, many times."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _those(found: dict, only) -> list:
    """All entries by id, or that of one thing alone, if it is there."""
    if only is None:
        return list(found.values())
    entry = found.get(id(only))
    return [entry] if entry is not None and entry[1] is only else []


class ByKind(dict):
    """What a function says of a class, asked once."""

    def __init__(self, ask: Callable):
        super().__init__()
        self.ask = ask

    def __missing__(self, kind):
        if len(self) > 10_000:  # classes that are made again and again
            self.clear()
        self[kind] = found = self.ask(kind)
        return found


# whether things of this kind are numbers or texts and nothing else: those of a class of the program's may have attributes
is_number = ByKind(lambda kind: issubclass(kind, NUMBERS) and not written_in_python(kind))
# whether the walk ends at things of this kind
_ends = ByKind(
    lambda kind: issubclass(kind, _ENDS) and not issubclass(kind, np.void) and is_number[kind] == issubclass(kind, NUMBERS)
)


class Attribute(str):
    """The name of an attribute of a dict, which may also have an entry of that name."""


class Held:
    """What a container holds, to be compared: values, and what they are called; None for those of a list."""

    __slots__ = ("names", "plain", "values")

    def __init__(self, values: list, names: list | None = None, plain: bool = False):
        self.names, self.values, self.plain = names, values, plain  # plain: of an object's __dict__, and of nothing else

    def pairs(self) -> list:
        """(name, value) of all."""
        return list(zip(range(len(self.values)) if self.names is None else self.names, self.values))

    def is_still(self, container) -> bool:
        """Whether the container holds the same."""
        kind = type(container)
        if kind is list:
            return _alike(self.values, container)
        if kind is dict:
            return _alike(self.values, container.values()) and _alike(self.names or (), container)
        if self.plain:
            own = container.__dict__
            return _alike(self.values, own.values()) and _alike(self.names or (), own)
        now = _held(container)
        if now is None:
            return not self.values
        return _alike(self.values, now.values) and (self.names is now.names or _alike(self.names or (), now.names or ()))


def _held(thing) -> Held | None:
    """What a container holds; None for what holds nothing that changes."""
    if _plain[type(thing)]:
        return _attributes(thing)
    if is_a(thing, list | deque):
        return Held(list(thing))
    if type(thing) is dict:
        return Held(list(thing.values()), list(thing))
    if is_a(thing, dict):
        own = _attributes(thing)
        names, values = list(thing), list(thing.values())
        return Held(values, names) if own is None else Held(values + own.values, names + list(map(Attribute, own.names or ())))
    if is_a(thing, types.CellType):
        return Held([thing.cell_contents] if _is_filled(thing) else [])
    if is_a(thing, types.FunctionType):
        named = sorted(named_globals(thing.__code__)) if not is_ours(thing) else []
        names = [name for name in named if name in thing.__globals__]
        return Held([thing.__globals__[name] for name in names], names)
    if is_a(thing, set):
        values = sorted(thing, key=id)
        return Held(values, values)
    if is_a(thing, np.void):
        return Held([thing.tobytes()])
    if is_a(thing, tuple | frozenset | types.MethodType | functools.partial):
        return None
    return None if _is_replay(thing) else _attributes(thing)


_KNOWN = (
    list, deque, dict, set, tuple, frozenset, types.CellType, types.FunctionType, types.MethodType, functools.partial, np.void,
)  # fmt: skip
# whether things of this kind are no containers of Python's, and none of ours that watch
_plain = ByKind(lambda kind: not issubclass(kind, _KNOWN) and not kind.__module__.startswith("badak.compiler."))


def _is_replay(thing) -> bool:
    """Whether it belongs to a compiled step, whose recordings are not the program's."""
    return type(thing).__module__.startswith("badak.compiler.")


def _attributes(thing) -> Held | None:
    """What stands in the __dict__ and the slots of an object; None for nothing."""
    own, slots = held_by(thing), slots_of[type(thing)]
    names, values = (list(own), list(own.values())) if is_a(own, dict) else ([], [])
    if not slots and not is_a(thing, Tensor | dict):
        return Held(values, names, type(own) is dict) if names else None
    for name in slots:
        if hasattr(thing, name):
            names.append(name)
            values.append(getattr(thing, name))
    return Held(values, names) if names else None


def _slots_of(kind: type) -> tuple[str, ...]:
    """The names of the slots of a class, of those above it too."""
    found = [one.__dict__.get("__slots__", ()) for one in kind.__mro__]
    names = [name for slots in found for name in ((slots,) if is_a(slots, str) else slots)]
    return tuple(name for name in names if not name.startswith("__"))


slots_of = ByKind(_slots_of)


def _is_filled(cell) -> bool:
    try:
        return cell.cell_contents is cell.cell_contents
    except ValueError:
        return False


def _parts(where: str, thing, held: Held | None) -> list:
    """(where, part) of all that can be reached from here in one step, ends left out."""
    if held is not None and _plain[type(thing)]:
        prefix = where or type(thing).__name__
        return [(f"{prefix}.{name}", x) for name, x in zip(held.names or (), held.values) if not _ends[type(x)]]
    if type(thing) is list:
        return [(f"{where}[{i}]", x) for i, x in enumerate(thing) if not _ends[type(x)]]
    if is_a(thing, types.FunctionType):
        if is_ours(thing):
            return []
        cells = [(name, cell) for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or ())]
        return [*cells, *(held.pairs() if held else ()), (tr("a default of {}", thing.__name__), thing.__defaults__ or ())]
    if is_a(thing, types.MethodType):
        return [("", thing.__self__), ("", thing.__func__)]
    if is_a(thing, functools.partial):
        return [("", thing.func), ("", thing.args), ("", thing.keywords)]
    if is_a(thing, tuple | frozenset):
        return [(f"{where}[{i}]", part) for i, part in enumerate(thing) if not _ends[type(part)]]
    if held is None:
        return [("", getattr(thing, "function", None))] if _is_replay(thing) else []
    if is_a(thing, types.CellType):
        return [(where, part) for part in held.values]
    parts = [(name, part) for name, part in held.pairs() if not _ends[type(part)]] if held.values else []
    return [(f"{where}[{key!r}]" if is_a(key, int | str) else where, part) for key, part in parts]


def same(one, two) -> bool:
    """Whether two values are the same object, or equal numbers or texts to the last bit: two NaN are not, as for Python."""
    return one is two or (type(one) is type(two) and is_number[type(one)] and repr(one) == repr(two) and one == two)


def _alike(before, now) -> bool:
    """Whether all of two rows of values are the same."""
    return len(before) == len(now) and (all(map(is_, before, now)) or all(map(same, before, now)))
