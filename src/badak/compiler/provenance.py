"""Where the arrays of a step come from, said in a way that means the same in two recordings of it.

An array is known by the memory it sees, which its owner holds. Memory is an argument of the step, or made by one of its
entries, or a constant (made from the program's text alone), or else "outside": parameters, buffers, and whatever the recorder
has not seen being made. Outside memory goes by its identity, so that what a step makes again each time, unseen, has another
origin in the next recording: then the two differ, and nothing is replayed.

What the step makes is not kept alive by this: a recording frees it where the program does.
"""

import weakref
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np

from badak.core.memory import address, holder_of

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic)
_ROWS = list, tuple


def arrays_in(value, kind=np.ndarray):
    """The arrays in a value of lists, tuples, dicts and slices, in their order."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            yield part
        elif isinstance(part, _ROWS):
            waiting += part[::-1]
        elif isinstance(part, dict):
            waiting += [*part.values()][::-1]
        elif isinstance(part, slice):
            waiting += part.step, part.stop, part.start


class Living:
    """Something about objects, by their `id`, as long as they are there; those that no weak reference can watch stay."""

    def __init__(self):
        self.of: dict = {}
        self.bytes = 0  # of those that were counted
        self._watched: dict = {}
        self._sizes: dict = {}
        self._own = weakref.ref(self)

    def put(self, thing, what) -> None:
        """Let this be what is known of the thing."""
        key = id(thing)
        if key not in self._watched:
            try:
                self._watched[key] = weakref.ref(thing, partial(_forget, self._own, key))
            except TypeError:
                self._watched[key] = thing
        self.of[key] = what

    def count(self, thing, size: int) -> None:
        """Let `bytes` have this size in it, too, until the thing goes."""
        self._sizes[id(thing)] = size
        self.bytes += size


def _forget(living, key, _) -> None:
    known = living()
    if known is not None:
        known._watched.pop(key, None)
        known.of.pop(key, None)
        known.bytes -= known._sizes.pop(key, 0)


class Trace(list):
    """What happened. Where another trace says the same, its words are taken: both are not there together."""

    def __init__(self, like=()):
        super().__init__()
        self._like = like

    def append(self, what) -> None:
        at = len(self)
        super().append(self._like[at] if at < len(self._like) and self._like[at] == what else what)


class Part:
    """A part of a piece of memory that is an owner of its own: np.asarray(part) sees its bytes, and keeps it."""

    def __init__(self, memory):
        self.memory, self.nbytes, self.__array_interface__ = memory, memory.nbytes, memory.__array_interface__


class Memory:
    """A piece of memory that the step made. It is not kept alive, but for what `stays`: the array that a replay makes there."""

    def __init__(self, owner):
        self.owner, self.size, self.stays = weakref.ref(owner), owner.nbytes, None


class Place(NamedTuple):
    """An array of a step, said by where it lies in which piece of memory."""

    memory: Memory
    offset: int
    shape: tuple
    dtype: np.dtype
    strides: tuple

    def on(self, buffer, start: int = 0):
        """The array, where the memory begins at `start` of a buffer."""
        return np.ndarray(self.shape, self.dtype, buffer, start + self.offset, self.strides)


class Provenance:
    """The origins of all memory that one recording has met."""

    def __init__(self):
        self._keys = Living()  # the number of memory, by its owner
        self._pieces = Living()  # what `placed` calls the memory
        self._known: dict = {}  # number of memory: (kind, ...)
        self._next = count()
        self._outside: dict = {}
        self.alive: list = []  # whatever goes by its id in descriptions

    @property
    def bytes(self) -> int:
        """Of memory that entries have made and that is still there."""
        return self._keys.bytes

    def key(self, array) -> int:
        """The number of an array's memory, which is that of no other memory in this recording, then or later."""
        owner = holder_of(array)
        key = self._keys.of.get(id(owner))
        if key is None:
            key = next(self._next)
            self._keys.put(owner, key)
        return key

    def mark(self, array, *origin) -> None:
        """Note where the memory of an array comes from, unless that is known."""
        key = self.key(array)
        if key not in self._known:
            self._known[key] = origin
            owner = holder_of(array)
            if origin[0] == "made":
                self._keys.count(owner, array.nbytes)
            if origin[0] == "outside":
                self._outside[id(owner)] = owner
                self.alive.append(owner)

    def correct(self, array, *origin) -> None:
        """Give memory whose origin is known another."""
        self._known[self.key(array)] = origin

    def stands_for(self, array, key: int) -> None:
        """An array holds what was computed before in the memory of this number."""
        self._keys.put(holder_of(array), key)

    def outside(self) -> dict:
        """id: owner of all memory that was there before the step, its arguments apart."""
        return self._outside

    def of(self, array) -> tuple:
        """The origin of an array's memory; unknown memory is outside."""
        key = self.key(array)
        if key not in self._known:
            self.mark(array, "outside", id(holder_of(array)))
        return self._known[key]

    def is_outside(self, array) -> bool:
        """Whether the memory was there before the step, or nobody saw it being made."""
        return self.of(array)[0] == "outside"

    def _is_made(self, owner) -> bool:
        return self._known.get(self._keys.of.get(id(owner)), ("made",))[0] == "made"

    def knows(self, array) -> bool:
        """Whether the origin of the memory is known."""
        return self._keys.of.get(id(holder_of(array))) in self._known

    def placed(self, array):
        """A `Place` for an array in memory that the step made, be it scratch of a kernel; other arrays as they are."""
        owner = holder_of(array)
        if not array.size or not isinstance(owner, np.ndarray) or not owner.flags.writeable or not self._is_made(owner):
            return array
        if not (owner.flags.c_contiguous or owner.flags.f_contiguous):
            return array
        if id(owner) not in self._pieces.of:
            self._pieces.put(owner, Memory(owner))
        start = address(array) - address(owner)
        return Place(self._pieces.of[id(owner)], start, array.shape, array.dtype, array.strides)

    def piece(self, owner) -> Memory | None:
        """What places call this memory; None where there is none of them on it."""
        return self._pieces.of.get(id(owner))

    def goes_to(self, array, new) -> bool:
        """Let all that was done in the memory of an array have been done in `new`, if nothing but places knows of it."""
        memory = self._pieces.of.get(id(array))
        if memory is None or array.base is not None:
            return False
        memory.stays = new
        self.stands_for(new, self.key(array))
        return True

    def describe(self, value):
        """A value as something that can be compared with that of another recording."""
        if isinstance(value, np.ndarray):
            place = address(value)
            owner = holder_of(value)
            start = address(owner) if isinstance(owner, np.ndarray | Part) else place
            return ("array", *self.of(value), place - start, value.shape, value.strides, value.dtype.str)
        if isinstance(value, float) and value != value:
            return "nan"
        if isinstance(value, _PLAIN):
            return type(value).__name__, value
        if isinstance(value, list | tuple):
            return type(value).__name__, tuple(map(self.describe, value))
        if isinstance(value, dict):
            return "dict", tuple((self.describe(key), self.describe(part)) for key, part in value.items())
        if isinstance(value, slice):
            return "slice", self.describe((value.start, value.stop, value.step))
        if type(getattr(value, "_array", None)) is np.ndarray:
            return "tensor", self.describe(value._array)
        self.alive.append(value)
        return "object", id(value)
