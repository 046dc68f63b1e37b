"""Places in which a program keeps what its code reads: a container, an attribute, a variable, memory. What is there now?

A place is compared by the identity of what it holds, and where that is another, numbers and texts by their value.
"""

import array
import functools
import io
import itertools
import random
import threading
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import numpy as np

from badak.compiler.snapshot import ByKind, is_number, same
from badak.tensor.attributes import held_by, is_a
from badak.tensor.tensor import STATE

MISSING = object()


_MOST_BYTES = 1 << 20  # of an array that is compared before each replay, which takes 0.1 ms


class Place:
    """A container of Python, and how to say what it holds. `where`: in words."""

    def __init__(self, container: Any, where: str, name: Any = None):
        self.container, self.where, self.name = container, where, name

    @property
    def key(self) -> tuple:
        return type(self), id(self.container), self.name

    def now(self) -> list:
        """What it holds now."""
        raise AssertionError("a Place defines now")

    def trouble(self, before: list) -> str:
        """Why it can never be compared between two calls, where it can not. before: what it held before the call."""
        return ""


class Items(Place):
    """A list or deque."""

    def now(self) -> list:
        thing = self.container  # which may be of a class that shows itself otherwise
        return [*(list.__iter__(thing) if is_a(thing, list) else deque.__iter__(thing))]


class Mapping(Place):
    """A dict: its names and its values."""

    def now(self) -> list:
        thing = self.container
        names = [*(OrderedDict if is_a(thing, OrderedDict) else dict).__iter__(thing)]
        return names + [dict.__getitem__(thing, name) for name in names]


class Class(Place):
    """All that a class says."""

    def now(self) -> list:
        own = vars(self.container)
        return [*own, *own.values()]


class Order(Place):
    """The classes that a class asks one after the other: its bases can be other ones."""

    def now(self) -> list:
        return [*type.__dict__["__mro__"].__get__(self.container)]


class ClassEntry(Place):
    """One name in a class."""

    def now(self) -> list:
        return [vars(self.container).get(self.name, MISSING)]


class Members(Place):
    """A set, whose order says nothing."""

    def now(self) -> list:
        return sorted(set.__iter__(self.container), key=id)


class Entry(Place):
    """One name in a dict: a global, or an attribute."""

    def now(self) -> list:
        return [self.container.get(self.name, MISSING)]


class Slot(Place):
    """An attribute that stands in no dict; `name` is its descriptor."""

    def now(self) -> list:
        return [self._now()]

    def _now(self) -> Any:
        with suppress(AttributeError, NameError):  # which annotations may raise, where they are read late
            return self.name.__get__(self.container)  # type: ignore[union-attr]
        return MISSING


class Cell(Place):
    """A variable of a closure."""

    def now(self) -> list:
        with suppress(ValueError):
            return [self.container.cell_contents]
        return [MISSING]


class Code(Place):
    """A function: its code and its defaults."""

    def now(self) -> list:
        f = self.container
        return [f.__code__, *(f.__defaults__ or ()), *(f.__kwdefaults__ or {}), *(f.__kwdefaults__ or {}).values()]


class TypeOf(Place):
    """An object's class, and the dict of its attributes, both of which can be another one."""

    def now(self) -> list:
        return [type(self.container), dict_of(self.container)]


class Kind(Place):
    """An object's class alone."""

    def now(self) -> list:
        return [type(self.container)]


class Size(Place):
    """How many entries a dict has."""

    def now(self) -> list:
        return [len(self.container)]


class Added(Place):
    """The names of what a program has set on a tensor; `container` is the dict that has them, next to those of its state."""

    def now(self) -> list:
        return [name for name in self.container if name not in STATE]


class Variable(Place):
    """A context variable."""

    def now(self) -> list:
        return [self.container.get(MISSING)]


class OfThread(Place):
    """A threading.local: what the thread that asks has put there."""

    def now(self) -> list:
        own = held_by(self.container)
        return [*own, *own.values()]


class Target(Place):
    """Whether what a weak reference refers to is still there."""

    def now(self) -> list:
        return [self.container() is not None]


class Partial(Place):
    """A functools.partial, whose state can be set."""

    def now(self) -> list:
        thing = self.container
        return [thing.func, *thing.args, *thing.keywords, *thing.keywords.values()]


class Memory(Place):
    """The bytes of an array, or of what else is made of bytes."""

    def now(self) -> list:
        thing = self.container
        if is_a(thing, np.void):
            return [thing.tobytes(), *(thing.item() if thing.dtype.hasobject else ())]
        if not is_a(thing, np.ndarray):
            return [bytes(thing)]
        if thing.nbytes > _MOST_BYTES:
            return []
        plain = np.ndarray.tobytes(thing) if not thing.dtype.hasobject else tuple(np.ndarray.ravel(thing).tolist())
        return [plain, np.ndarray.shape.__get__(thing), thing.dtype.str, thing.flags.num]

    def trouble(self, before: list) -> str:
        size = self.container.nbytes if is_a(self.container, np.ndarray | np.void) else len(self.container)
        if size > _MOST_BYTES:
            return f"it can reach {self.where}, an array of {size >> 10:,} KiB, which would have to be compared before each replay"
        return ""


class Answer(Place):
    """What a function of badak says that is asked for nothing but its object: it is asked again. `name`: of the function's code."""

    __slots__ = ("ask",)

    def __init__(self, container: Any, where: str, name: Any, ask: Callable):
        super().__init__(container, where, name)
        self.ask = ask

    def now(self) -> list:
        found = self.ask()
        return list(found) if is_a(found, list | tuple) else [found]


class Consumed(Place):
    """An iterator, a generator of random numbers, an open file: whoever reads it moves it on."""

    def now(self) -> list:
        return [_position(self.container)]

    def trouble(self, before: list) -> str:
        if before[0] is MISSING:
            kind = type(self.container).__name__
            return f"it can reach {self.where}, a {kind}: what it reads there cannot be compared between calls"
        return ""


class Opaque(Place):
    """An object of a class written in C that nobody here knows, or that holds what cannot be asked for."""

    def now(self) -> list:
        return []

    def trouble(self, before: list) -> str:
        kind = type(self.container)
        name = f"{kind.__module__}.{kind.__qualname__}"
        return f"it can reach {self.where}, a {name}: what it reads there cannot be compared between calls"


_ITERTOOLS = tuple(kind for kind in vars(itertools).values() if is_a(kind, type))
_CONSUMED = (
    random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator, io.IOBase, types.GeneratorType,
    types.CoroutineType, types.AsyncGeneratorType, *_ITERTOOLS,
)  # fmt: skip


def _position(thing: Any) -> Any:
    """Where something that is consumed has come to; MISSING where it does not say."""
    with suppress(Exception):  # each kind refuses in its own way
        if is_a(thing, io.IOBase):
            return thing.tell() if thing.seekable() else MISSING
        if is_a(thing, random.Random):
            return thing.getstate()
        if is_a(thing, np.random.RandomState):
            return repr(thing.get_state(legacy=False))
        if is_a(thing, np.random.Generator):
            return repr(thing.bit_generator.state)
        if is_a(thing, np.random.BitGenerator):
            return repr(thing.state)
        kind = next(each for each in type(thing).__mro__ if "__reduce__" in vars(each))
        if kind.__module__ in _TELL:
            return _told(vars(kind)["__reduce__"](thing)[1:])
    return MISSING


_TELL = "builtins", "itertools", "collections", "_collections", "array"  # whose iterators say all by `__reduce__`


def _told(state: Any) -> Any:
    """What an iterator says of itself, of which parts are made again whenever it is asked."""
    if type(state) in (tuple, list):
        return tuple(map(_told, state))
    return repr(state) if is_number[type(state)] or type(state) is range else id(state)


_EMPTY: dict = {}


def dict_of(thing: Any) -> dict:
    """The very dict of an object's attributes; of one that has none, an empty one that stays."""
    found = held_by(thing)
    return found if is_a(found, dict) else _EMPTY


_KINDS: tuple[tuple[Any, type[Place]], ...] = (
    (list | deque, Items), (dict, Mapping), (set, Members), (np.ndarray | np.void | bytearray | array.array, Memory),
    (types.FrameType, Opaque), (types.CellType, Cell), (weakref.ref, Target), (ContextVar, Variable), (functools.partial, Partial),
    (threading.local, OfThread),
)  # fmt: skip


def place_of(thing: Any, where: str) -> Place | None:
    """The contents of a container of Python, as a place; None for what is none."""
    kind = next((kind for things, kind in _KINDS if is_a(thing, things)), Consumed)
    return kind(thing, where) if kind is not Consumed or is_consumed(type(thing)) else None


def is_consumed(kind: type) -> bool:
    """Whether reading things of this class moves them on, unseen: iterators that are written in C, generators of random numbers."""
    return _consumes[kind]


def _moves_on(kind: type) -> bool:
    if kind in (weakref.ProxyType, weakref.CallableProxyType):
        return False
    moves = next((vars(each)["__next__"] for each in kind.__mro__ if "__next__" in vars(each)), None)
    return issubclass(kind, _CONSUMED) or type(moves) is types.WrapperDescriptorType


_consumes = ByKind(_moves_on)


def alike(before: Any, now: Any) -> bool:
    """Whether two values are the same object, or equal numbers or texts, or tuples of these."""
    if same(before, now):
        return True
    if type(before) is not type(now) or not is_a(before, tuple):
        return False
    return len(before) == len(now) and all(map(alike, before, now))


def all_alike(before: list, now: list) -> bool:
    """Whether all of two rows of values are alike."""
    return len(before) == len(now) and all(map(alike, before, now))
