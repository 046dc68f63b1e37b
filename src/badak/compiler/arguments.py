"""What goes into a recorded step."""

import copy
import dataclasses
import weakref
from collections import defaultdict
from typing import Any

import numpy as np

from badak.compiler.snapshot import slots_of
from badak.core.errors import tr
from badak.core.memory import holder_of, lies_in
from badak.core.modes import modes
from badak.tensor import Tensor
from badak.tensor.attributes import held_by
from badak.tensor.tensor import STATE

_SCATTERED = 1 << 20  # bytes that an argument may reach over without filling an eighth of them
MORE = tr("an argument has a .grad or attributes of the program's, or is on the meta device")
_NUMBERS = (int, float, complex, bool, str, bytes, type(None))


class Arguments:
    """The arguments of a call: the tensors among them, and a key that says what they are apart from the tensors' values.

    Containers and dataclasses are taken apart. A tensor that requires a gradient, a module and any other object is part of
    the key as the very object that it is.
    """

    def __init__(self, args, kwargs):
        self.tensors: list[Tensor] = []  # that vary from call to call
        self.objects: list = []  # that go by their identity
        self.trouble = ""  # why a call with these cannot be replayed
        self.args, self.kwargs = args, kwargs
        self._places: dict = {}  # id of a tensor or a container: its number, so that what is given twice stays one
        self.key = self._key(args), self._key(kwargs), modes.grad, modes.inference
        self.simple = not kwargs and len(self.tensors) == len(args) == len(self._places)

    def _key(self, value) -> Any:
        kind = type(value)
        if kind is float:
            return kind, value.hex()  # which tells 0.0 from -0.0, and knows nan
        if kind in _NUMBERS:
            return kind, value
        if kind is not tuple and kind is not dict or value:
            if id(value) in self._places:
                return "again", self._places[id(value)]
            if kind is not tuple and (value is not self.args and value is not self.kwargs):
                self._places[id(value)] = len(self._places)
        if type(value) is Tensor and not (is_plain(value) or value.requires_grad):
            self.trouble = self.trouble or MORE
            return kind, "more"
        if type(value) is Tensor and not value.requires_grad:  # which may have other values in the next call
            self.tensors.append(value)
            array = value._array
            flags = array.flags
            return array.shape, array.dtype, None if flags.c_contiguous else array.strides, flags.writeable, value._inference
        parts = _parts(value)
        if parts is not None:
            if isinstance(value, dict) and any(_holds_tensors(name) for name in value):
                self.trouble = self.trouble or tr("an argument is a dict with tensors as keys")
            found = tuple([(self._key(name), self._key(part)) for name, part in parts])
            return (kind, found, self._key_of_attributes(value)) if kind not in _BARE else (kind, found)
        if isinstance(value, np.ndarray):
            self.trouble = self.trouble or "an argument is an array of NumPy, whose values it may read: badak.from_numpy(array)"
        if isinstance(value, set | frozenset):
            if all(type(part) in _NUMBERS for part in value):
                return kind, frozenset(map(self._key, value))
            self.trouble = self.trouble or "an argument is a set of more than numbers and texts"
        self.objects.append(value)
        return kind, id(value), _Itself(value)

    def _key_of_attributes(self, value) -> tuple:
        """What a container says besides its parts: its class is the program's, or knows what is missing in it."""
        more = {name: each for name, each in attributes_of(value).items() if not _is_part(value, name, each)}
        if any(isinstance(each, Tensor) or _parts(each) is not None for each in more.values()):
            self.trouble = self.trouble or tr(
                "an argument is a {} with attributes that hold more than numbers", type(value).__name__
            )
        return tuple([(name, self._key(each)) for name, each in more.items()])

    def on(self, tensors):
        """(args, kwargs) with these tensors in the places of the others; containers are new ones."""
        self._used: list = []  # (the caller's container, the one that the step was given)
        made = {id(mine): given for mine, given in zip(self.tensors, tensors)}
        return self._replaced(self.args, made), self._replaced(self.kwargs, made)

    def _replaced(self, value, made):
        if id(value) in made:
            return made[id(value)]
        parts = _parts(value)
        if parts is None or type(value) in _NUMBERS:
            return value
        twin = _with_parts(value, [part if name is None else self._replaced(part, made) for name, part in parts])
        if type(value) is not tuple:
            made[id(value)] = twin
            self._used.append((value, twin))
        return twin

    def twins(self) -> list:
        """The containers that stand for the caller's."""
        return [twin for _, twin in self._used]

    def give_back(self, tensors) -> bool:
        """Do to the caller's containers what the step did to those that it was given; whether it did anything."""
        mine = {id(given): x for given, x in zip(tensors, self.tensors)}
        mine |= {id(twin): value for value, twin in self._used}
        changed = False
        for value, twin in self._used:
            before = [(name, part) for name, part in _parts(value)]
            now = [(name, mine.get(id(part), _back(part, mine))) for name, part in _parts(twin)]
            if [(name, id(part)) for name, part in before if not isinstance(part, tuple)] != [
                (name, id(part)) for name, part in now if not isinstance(part, tuple)
            ]:
                changed = True
                _set_parts(value, now)
        return changed

    def own(self, result, tensors, aliases):
        """The result of a step that was given these tensors, with the caller's own in it.

        They and their aliases become other names of the caller's memory: the step may have kept them, too.
        """
        mine = {id(twin): value for value, twin in self._used}
        for given, x in zip(tensors, self.tensors):
            old, counter = given._array, given._version_counter
            given._array, given._version_counter = x._array, x._watch()
            for alias in aliases:
                if holder_of(alias._array) is holder_of(old):
                    alias._array = _moved(alias._array, old, x._array)
                    if counter is not None and alias._version_counter is counter:
                        alias._version_counter = given._version_counter
                if alias._whole is given:
                    see(alias, x, alias._view_steps)
            mine[id(given)] = x
        return _with_own(result, mine)


class _Itself:
    """An object, equal to itself alone. It is kept only where it cannot be watched: it may hold a whole batch."""

    def __init__(self, thing):
        try:
            self.thing = weakref.ref(thing)
        except TypeError:
            self.thing = lambda: thing

    def __eq__(self, other):
        thing = self.thing()
        return thing is not None and thing is other.thing()

    def __hash__(self):
        return 0


def _parts(value):
    """(name, part) of everything in a list, tuple, dict or dataclass; None for what is none of them."""
    if isinstance(value, list | tuple):
        return list(enumerate(value))
    if isinstance(value, dict):
        return list(value.items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value) if hasattr(value, field.name)]
    return None


def _holds_tensors(value) -> bool:
    return isinstance(value, Tensor) or any(_holds_tensors(part) for _, part in _parts(value) or ())


_BARE = frozenset({tuple, list, dict})


def attributes_of(value) -> dict:
    """What a container of a class of its own has besides what it holds."""
    own = dict(held_by(value) or ())
    own.update((name, getattr(value, name)) for name in slots_of[type(value)] if hasattr(value, name))
    return own | {"default_factory": value.default_factory} if isinstance(value, defaultdict) else own


def _is_part(value, name: str, each) -> bool:
    """Whether an attribute is what the container holds by that name, too."""
    if isinstance(value, dict):
        return dict.get(value, name, value) is each
    return dataclasses.is_dataclass(value) and name in value.__dataclass_fields__


def _with_parts(value, parts):
    """A container as this one, of these parts."""
    if isinstance(value, tuple):
        made = type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        for name, each in attributes_of(value).items() if type(value) is not tuple else ():
            object.__setattr__(made, name, each)
        return made
    twin = copy.copy(value)
    _set_parts(twin, [(name, part) for (name, _), part in zip(_parts(value), parts)])
    return twin


def _set_parts(value, parts) -> None:
    if isinstance(value, list):
        value[:] = [part for _, part in parts]
    elif isinstance(value, dict):
        value.clear()
        for name, part in parts:  # one by one: a dict that keeps its entries as attributes too does so
            value[name] = part
    else:
        for name, part in parts:
            object.__setattr__(value, name, part)


def _back(part, mine):
    """A tuple with the caller's own things in it."""
    if not isinstance(part, tuple):
        return part
    return _with_parts(part, [mine.get(id(each), _back(each, mine)) for each in part])


def _with_own(value, mine):
    """A result with the caller's own things in it."""
    parts = _parts(value)
    if id(value) in mine or parts is None:
        return mine.get(id(value), value)
    now = [(name, _with_own(part, mine)) for name, part in parts]
    if all(part is own for (_, part), (_, own) in zip(parts, now)):
        return value
    if isinstance(value, tuple):
        return _with_parts(value, [own for _, own in now])
    _set_parts(value, now)
    return value


def see(view: Tensor, x: Tensor, steps: tuple) -> None:
    """Let a tensor be the view of x that these steps lead to."""
    view._whole = x if x._whole is None else x._whole
    view._view_steps, view._made_at = (*x._view_steps, *steps), view._whole._rebased


def _moved(view, old, new):
    """What this view of `old` is of `new`, an array of the same strides."""
    return lies_in(view, new, view.ctypes.data - old.ctypes.data) if view.size else view


def room_for(array):
    """New memory with the shape and the strides of an array, in whose order NumPy sums; None where it is scattered too far."""
    if array.flags.c_contiguous:
        return np.empty(array.shape, array.dtype)
    reach = sum((size - 1) * abs(stride) for size, stride in zip(array.shape, array.strides)) + array.itemsize
    if reach > max(8 * array.nbytes, _SCATTERED) or any(stride < 0 for stride in array.strides):
        return None
    return np.ndarray(array.shape, array.dtype, np.empty(reach, np.uint8), 0, array.strides)


def shown(memory, x: Tensor) -> Tensor:
    """A tensor of this memory that may be written to where x may, and is an inference tensor where x is one."""
    if not x._array.flags.writeable:
        memory = memory.view()
        memory.flags.writeable = False
    made = Tensor._of(memory)
    made._inference = x._inference
    return made


def is_plain(x: Tensor) -> bool:
    """Whether a tensor has values, no .grad, and nothing that a program has set on it."""
    return x._grad is None and x._described is None and STATE.issuperset(held_by(x))


def state_of(x: Tensor) -> tuple:
    """What a step may change of an argument: what it is, and after that what values it has."""
    own = tuple([(name, id(each)) for name, each in held_by(x).items() if name not in STATE])
    return (id(x._array), x.requires_grad, id(x._grad), own), (x._array.tobytes(), x._watch().count)
