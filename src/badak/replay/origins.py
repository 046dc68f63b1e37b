"""Where the arrays of a step come from, in words that mean the same in two recordings of it.

An array is known by the memory it sees. Memory is an argument of the step, or made by one of its entries, or else "outside":
parameters, buffers, and whatever the recorder has not seen being made. Outside memory goes by its identity, so that what a
step makes anew each time, unseen, has another name in the next recording: then the two differ, and nothing is replayed.
"""

import numpy as np

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic)


def owner_of(array):
    """The object that holds the memory of an array."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def arrays_in(value):
    """The arrays in a value of lists, tuples, dicts and slices."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, slice):
        yield from arrays_in([value.start, value.stop, value.step])


class Origins:
    """The names of all memory that one recording has met."""

    def __init__(self):
        self.bytes = 0  # of memory that entries have made
        self._names: dict = {}  # id of the owner: (kind, number, ...)
        self._memory: list = []  # the owners
        self.alive: list = []  # whatever goes by its id in words

    def name(self, array, *words) -> None:
        """Give the memory of an array a name, unless it has one."""
        owner = owner_of(array)
        if id(owner) not in self._names:
            self._names[id(owner)] = words
            self._memory.append(owner)
            if words[0] == "outside":
                self.alive.append(owner)
            self.bytes += array.nbytes if words[0] == "made" else 0

    def rename(self, array, *words) -> None:
        """Give memory that has a name another."""
        self._names[id(owner_of(array))] = words

    def outside(self) -> dict:
        """id: owner of all memory that was there before the step, its arguments apart."""
        return {id(owner): owner for owner in self._memory if self._names[id(owner)][0] == "outside"}

    def of(self, array) -> tuple:
        """The name of an array's memory; unknown memory is outside."""
        owner = owner_of(array)
        if id(owner) not in self._names:
            self.name(array, "outside", id(owner))
        return self._names[id(owner)]

    def knows(self, array) -> bool:
        """Whether the memory has a name."""
        return id(owner_of(array)) in self._names

    def describe(self, value):
        """A value in words that can be compared with those of another recording."""
        if isinstance(value, np.ndarray):
            place = value.__array_interface__["data"][0]
            owner = owner_of(value)
            start = owner.__array_interface__["data"][0] if isinstance(owner, np.ndarray) else place
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
