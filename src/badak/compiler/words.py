"""What Python objects hold, as words of their memory: thousands are compared in the time of a few calls of Python.

CPython gives a dict another version with every change, a cell and a function hold addresses of what is in them, a list the
address of its items. Where these words stand is found out by trial; where a Python keeps them elsewhere or not at all, there
are no words of that kind, and places are compared as objects.
"""

import ctypes
import functools
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from operator import is_
from types import CellType, FunctionType
from typing import Any

from badak import kernels
from badak.compiler.places import (
    Added,
    Cell,
    Class,
    ClassEntry,
    Code,
    Entry,
    Items,
    Kind,
    Mapping,
    Members,
    Order,
    Place,
    Size,
    TypeOf,
    dict_of,
)

_MANY = 12_345  # entries of a dict, as no other word of it has
_RESTLESS = 2  # changes of a dict, of what nobody has read, after which it is compared by what was read


class Words:
    """Those of the places that can be told by words; `others` are the rest."""

    def __init__(self, held: Iterable[list], restless: Counter):
        self.others: list[list] = []
        self._restless = restless  # how often the version of a dict was another one, by id
        found: dict[int, int] = {}
        make = getattr(kernels.active(), "WordList", None) if _layout().usable else None
        for each in held:
            rows = self._rows_of(*each) if make else None
            if rows is None:
                self.others.append(each)
            else:
                found.update(rows)
        self._list = make(found.items()) if make and found else None

    def same(self) -> bool:
        """Whether they are what they were."""
        return self._list is None or self._list.differs() is None

    def have_changed(self) -> bool:
        """Whether one of them is another one. It is counted: what changes often, and is not what was read, is no word."""
        if self._list is None or (first := self._list.differs()) is None:
            return False
        self._restless[self._list.rows.item(first, 0)] += 1
        return True

    def _rows_of(self, place: Place, before: list) -> list[tuple[int, int]] | None:
        """(address, word) of all that this place holds; None where it has to be looked at."""
        rows = _ROWS.get(type(place), _no_rows)(place.container)
        if rows is None or any(self._restless[address] >= _RESTLESS for address, _ in rows):
            return None
        now = place.now()
        return rows if len(now) == len(before) and all(map(is_, before, now)) else None


# ------------------------------------------------------------------ the words of one place


def _word(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


def _rows(thing: Any, *offsets: int | None) -> list[tuple[int, int]] | None:
    """The words at these offsets of an object; None where one is not known."""
    known = [id(thing) + offset for offset in offsets if offset is not None]
    return [(address, _word(address)) for address in known] if len(known) == len(offsets) else None


def _no_rows(thing: Any) -> None:
    return None


def _of_dict(own: Any) -> list | None:
    return _rows(own, _layout().version) if isinstance(own, dict) else None


def _of_mapping(own: Any) -> list | None:
    if type(own) is not dict:  # an OrderedDict may change its order alone
        return None
    return _of_dict(own) or (None if own else _of_count(own))


def _of_class(kind: type) -> list | None:
    found = gc.get_referents(vars(kind))
    return _of_dict(found[0]) if len(found) == 1 else None


def _of_list(items: Any) -> list | None:
    layout = _layout()
    rows = _rows(items, layout.size, layout.items) if type(items) is list else None
    if rows is None:
        return None
    first = rows[1][1]
    return rows + [(first + 8 * i, _word(first + 8 * i)) for i in range(len(items))]


def _of_order(kind: Any) -> list | None:
    return _rows(kind, _layout().order)


def _of_cell(cell: Any) -> list | None:
    return _rows(cell, _layout().contents)


def _of_function(f: Any) -> list | None:
    return _rows(f, *_layout().function) if not f.__kwdefaults__ else None


def _of_kind(thing: Any) -> list | None:
    """The class of an object, and the dict of its attributes."""
    own, rows = dict_of(thing), _rows(thing, _layout().kind)
    if own is dict_of(0):
        return rows
    at = type(thing).__dictoffset__
    more = _rows(thing, at if at > 0 else _layout().attributes)
    return rows + more if rows and more and more[0][1] == id(own) else None


def _of_members(members: Any) -> list | None:
    return _rows(members, _layout().members) if type(members) is set and not members else None


def _of_count(own: Any) -> list | None:
    return _rows(own, _layout().count)


def _of_class_alone(thing: Any) -> list | None:
    return _rows(thing, _layout().kind)


_ROWS: dict[type, Callable[[Any], list | None]] = {
    Entry: _of_dict, Mapping: _of_mapping, Class: _of_class, ClassEntry: _of_class, Items: _of_list, Cell: _of_cell,
    Code: _of_function, TypeOf: _of_kind, Kind: _of_class_alone, Size: _of_count,
    Added: _of_count, Members: _of_members, Order: _of_order,
}  # fmt: skip


# ------------------------------------------------------------------ where the words stand


class _Layout:
    """Bytes from an object's address to its words; None where none is found."""

    def __init__(self) -> None:
        free = not getattr(sys, "_is_gil_enabled", lambda: True)()
        self.usable = sys.implementation.name == "cpython" and ctypes.sizeof(ctypes.c_void_p) == 8 and not free
        if not self.usable:
            return
        mark, one, other = object(), _Plain(), _Plain()
        one.__dict__["x"] = other.__dict__["x"] = mark  # from now on they have dicts of their own
        self.kind = _where(one, id(_Plain), range(8, 40, 8))
        self.order = _where(_Plain, id(_Plain.__mro__), range(16, type.__basicsize__, 8))  # type: ignore[call-overload]
        self.contents = _where(CellType(mark), id(mark), range(8, CellType.__basicsize__, 8))
        before, after = (_where(x, id(x.__dict__), range(-8, -48, -8)) for x in (one, other))
        self.attributes = before if before == after and _Plain.__dictoffset__ < 0 else None
        f = _example
        span = range(8, FunctionType.__basicsize__, 8)
        f.__kwdefaults__ = {"b": 1}
        self.function = [_where(f, id(x), span) for x in (f.__code__, f.__defaults__, f.__kwdefaults__)]
        f.__kwdefaults__ = None
        self.size, self.items = _of_lists()
        self.count = _where(dict.fromkeys(range(_MANY)), _MANY, range(16, dict.__basicsize__, 8))
        members = set(range(_MANY + 1))
        members.discard(0)  # so that it has one place more than members
        self.members = _where(members, _MANY, range(16, set.__basicsize__, 8))
        self.version = next(filter(_is_version, range(16, dict.__basicsize__, 8)), None)


@functools.cache
def _layout() -> _Layout:
    return _Layout()


class _Plain:
    """An object like those of programs."""


def _example(a=1):
    """A function like those of programs."""


def _where(thing: Any, word: int, offsets: range) -> int | None:
    """Where in an object a word stands, if once."""
    found = [offset for offset in offsets if _word(id(thing) + offset) == word]
    return found[0] if len(found) == 1 else None


def _of_lists() -> tuple[int | None, int | None]:
    """Where a list has its length, and the address of its items."""
    items: list = []
    for _ in range(3):  # one by one, so that it has room for more
        items.append(_Plain())
    size = _where(items, 3, range(16, list.__basicsize__, 8))
    del items[1:]
    if size is None or _word(id(items) + size) != 1:
        return None, None
    words = {offset: _word(id(items) + offset) for offset in range(16, list.__basicsize__, 8)}
    found = [offset for offset, word in words.items() if word > 1 << 12 and _word(word) == id(items[0])]
    return (size, found[0]) if len(found) == 1 else (None, None)


def _is_version(offset: int) -> bool:
    """Whether this word of a dict is another one after every change, in all the ways that Python has to make one."""

    def moves(own: dict, change: Callable[[], Any]) -> bool:
        before = _word(id(own) + offset)
        change()
        return _word(id(own) + offset) != before

    own = {"a": 0, "b": 0, "c": 0}
    thing = _Plain()
    attributes, module = thing.__dict__, {"x": 0}
    [kind] = gc.get_referents(vars(_Plain))
    ways: list[tuple[dict, Callable[[], Any]]] = [
        (own, lambda: own.__setitem__("a", 1)), (own, lambda: own.update(a=2)), (own, lambda: own.setdefault("d", 1)),
        (own, lambda: own.pop("d")), (own, lambda: own.__delitem__("c")), (own, lambda: own.popitem()),
        (own, lambda: own.__ior__({"a": 3})), (own, lambda: own.clear()), (attributes, lambda: attributes.update(x=1)),
        (attributes, lambda: setattr(thing, "y", 1)), (attributes, lambda: delattr(thing, "y")),
        (module, lambda: exec("x = 1", module)), (module, lambda: exec("del x", module)),
        (kind, lambda: setattr(_Plain, "x", 1)), (kind, lambda: delattr(_Plain, "x")),
    ]  # fmt: skip
    code = compile("global x\nx = value", "<words>", "exec")

    def store(value: int) -> None:  # which Python makes quicker once it has run for a while
        thing.x = value  # type: ignore[attr-defined]

    def store_global(value: int) -> None:
        exec(code, module, {"value": value})

    often: list = [(attributes, functools.partial(store, i)) for i in range(200)]
    often += [(module, functools.partial(store_global, i)) for i in range(200)]
    reads: tuple[Any, ...] = own.get, own.copy, own.__len__, own.items, functools.partial(list, own)
    still = not any(moves(own, functools.partial(read, *["a"][: read == own.get])) for read in reads)
    return still and all(moves(*way) for way in ways + often)
