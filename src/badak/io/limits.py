"""What a pickle may cost: keys that are quick to hash and to compare, and copies in proportion to the bytes of the file.

A few bytes can name a value again and again: as one tuple of tuples of tuples, which takes for ever to hash; as keys chosen
so that all have one hash, which makes a dict of n keys take n^2 steps; as one text of a megabyte, copied a thousand times.
"""

import enum
from collections import deque
from typing import Any

import numpy as np

KEY_ITEMS, KEY_DEPTH = 100, 8  # of a tuple or frozenset as a key: values in all, levels
KEY_LETTERS, KEY_BITS = 100_000, 1024  # of a text, of an integer
CROWD = 100  # times that one table may be given keys of one hash
FACTOR, SPARE = 128, 1 << 24  # bytes that calls may copy: for each byte read so far, and besides
CALL, ITEM = 64, 32  # bytes that a call is taken to cost, and each item of a container that it is given

SCATTERED = (str, bytes, type(None), bool)  # their hashes cannot be chosen, or are few
KEYS: set[type] = {*SCATTERED, int, float, complex, type}  # what hashes without code of the program; other packages add theirs
HASHES = (enum.Enum.__hash__, int.__hash__, str.__hash__)
EQUALS = (object.__eq__, int.__eq__, str.__eq__)
SIZED = (str, bytes, bytearray)
CONTAINERS = (list, tuple, dict, set, frozenset, deque)


class Keys:
    """The keys of all dicts and sets of one pickle."""

    def __init__(self) -> None:
        self.measured: dict[int, tuple[Any, int, int]] = {}  # id of a tuple -> (it, values within, levels below)
        self.crowds: dict[int, tuple[Any, dict[int, int]]] = {}  # id of a table -> (it, {hash: keys})

    def check(self, key: Any, table: Any) -> Any:
        """`key`, to be put into `table`. Raises ValueError for one that is no plain value, too large, or one of a crowd."""
        self._measure(key, 0)
        if not (type(key) in SCATTERED or type(key) is int and -(1 << 60) < key < 1 << 60):
            crowd = self.crowds.setdefault(id(table), (table, {}))[1]
            place = hash(key)
            crowd[place] = crowd.get(place, 0) + 1
            if crowd[place] > CROWD:
                raise ValueError(f"more than {CROWD} keys of one hash")
        return key

    def _measure(self, key: Any, level: int) -> tuple[int, int]:
        """(values within, levels below) of a key that stands `level` deep."""
        if not issubclass(type(key), (tuple, frozenset)):  # a Size is a tuple
            _check_plain(key)
            return 1, 0
        if id(key) in self.measured:
            _, items, height = self.measured[id(key)]
        elif level == KEY_DEPTH or len(key) > KEY_ITEMS:
            items, height = KEY_ITEMS + 1, 0
        else:
            items, height = 1, 0
            for item in key:
                within, below = self._measure(item, level + 1)
                items, height = items + within, max(height, below + 1)
                if items > KEY_ITEMS:
                    break
            self.measured[id(key)] = key, items, height
        if items > KEY_ITEMS or level + height > KEY_DEPTH:
            raise ValueError(f"a key of more than {KEY_ITEMS} values, or nested deeper than {KEY_DEPTH}")
        return items, height


def _check_plain(key: Any) -> None:
    kind = type(key)
    if kind is int and key.bit_length() > KEY_BITS or kind in (str, bytes) and len(key) > KEY_LETTERS:
        raise ValueError(f"a key of more than {KEY_BITS} bits or {KEY_LETTERS:,} letters")
    member = issubclass(kind, enum.Enum) and kind.__hash__ in HASHES and kind.__eq__ in EQUALS
    if not (kind in KEYS or member or issubclass(kind, np.generic)):
        raise ValueError(f"a {kind.__name__} as a key")


class Budget:
    """How many bytes the calls of one pickle may still copy."""

    def __init__(self) -> None:
        self.spent = 0

    def charge(self, args: Any, read: int) -> None:
        """Pay for a call with `args`, after `read` bytes of the pickle. Raises ValueError where that is too much."""
        self.spent += CALL
        for value in args:
            if type(value) in SIZED:
                self.spent += len(value)
            elif issubclass(type(value), CONTAINERS):
                self.spent += ITEM * len(value)
        if self.spent > SPARE + FACTOR * read:
            raise ValueError(f"its calls copy more than {FACTOR} bytes for each byte of it")
