"""Where the arrays of a step come from, said in a way that means the same in two recordings of it.

An array is known by the memory it sees, which its owner holds. Memory is an argument of the step, or made by one of its
entries, or a constant (made from the program's text alone), or else "outside": parameters, buffers, and whatever the recorder
has not seen being made. Outside memory goes by its identity, so that what a step makes anew each time, unseen, has another
origin in the next recording: then the two differ, and nothing is replayed.
"""

import numpy as np

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.dtype, np.generic)


def owner_of(array):
    """The object that holds the memory of an array."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def is_table(array):
    """Whether nobody may write the memory of an array: a table of a kernel, which stays as it is."""
    owner = owner_of(array)
    return isinstance(owner, np.ndarray) and not owner.flags.writeable


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
    """The origins of all memory that one recording has met."""

    def __init__(self):
        self.bytes = 0  # of memory that entries have made
        self._known: dict = {}  # id of the owner: (kind, number, ...)
        self._owners: list = []
        self.alive: list = []  # whatever goes by its id in descriptions

    def note(self, array, *origin) -> None:
        """Note where the memory of an array comes from, unless that is known."""
        owner = owner_of(array)
        if id(owner) not in self._known:
            self._known[id(owner)] = origin
            self._owners.append(owner)
            if origin[0] == "outside":
                self.alive.append(owner)
            self.bytes += array.nbytes if origin[0] == "made" else 0

    def correct(self, array, *origin) -> None:
        """Give memory whose origin is known another."""
        self._known[id(owner_of(array))] = origin

    def outside(self) -> dict:
        """id: owner of all memory that was there before the step, its arguments apart."""
        return {id(owner): owner for owner in self._owners if self._known[id(owner)][0] == "outside"}

    def of(self, array) -> tuple:
        """The origin of an array's memory; unknown memory is outside."""
        owner = owner_of(array)
        if id(owner) not in self._known:
            self.note(array, "outside", id(owner))
        return self._known[id(owner)]

    def is_outside(self, array) -> bool:
        """Whether the memory was there before the step, or nobody saw it being made."""
        return self.of(array)[0] == "outside"

    def knows(self, array) -> bool:
        """Whether the origin of the memory is known."""
        return id(owner_of(array)) in self._known

    def describe(self, value):
        """A value as something that can be compared with that of another recording."""
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
