"""What Python and NumPy keep for the whole process, or for a thread, and not in what a program hands around.

Such state is asked again before each replay: of a step that names what depends on it, or can reach something that does.
"""

import abc
import codecs
import datetime
import decimal
import encodings
import functools
import gc
import locale
import os
import re
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from badak.compiler.places import Answer, Items, Mapping, Opaque, Place
from badak.compiler.snapshot import ByKind
from badak.tensor.attributes import is_a


class _State(NamedTuple):
    """where: in words; ask: what it is now; words: names by which code asks for what depends on it; kinds: things that do."""

    where: str
    ask: Callable[[], list]
    words: frozenset[str]
    kinds: tuple[Any, ...] = ()
    things: tuple[Any, ...] = ()

    @property
    def place(self) -> Place:
        return Answer(self.ask, self.where, "now", self.ask)


def _numpy() -> list:
    """What NumPy does about overflows and the like, in this thread: it may warn, too. And how its numbers are printed."""
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()
    return [*np.geterr().values(), np.geterrcall(), np.get_printoptions()["legacy"], *filters]


def _decimal() -> list:
    """What decimal numbers are computed by, in this thread, and what computing them has noted there."""
    now = decimal.getcontext()
    return [now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, *now.traps.values(), *now.flags.values()]


def _dates() -> list:
    """The time zone of the process."""
    return [os.environ.get("TZ"), time.timezone, time.altzone, *time.tzname]


def _texts() -> list:
    """How numbers become texts, and texts numbers: `f"{x:n}"` asks for the locale, as names of months and patterns may do."""
    return [locale.setlocale(locale.LC_ALL), getattr(sys, "get_int_max_str_digits", int)()]


def _handled() -> list:
    """The error that is being handled where the step is called, if there is one: like no other, and not kept."""
    return [None if sys.exc_info()[1] is None else object()]


def _clock() -> list:
    """What time it is: like no other, and not kept."""
    return [object()]


def _state(where: str, ask: Callable[[], list], words: str = "", kinds: tuple = (), things: tuple = ()) -> _State:
    return _State(where, ask, frozenset(words.split()), kinds, things)


_STATES = [
    _state("the context of decimal numbers", _decimal, "", (decimal.Decimal,), (decimal, decimal.Decimal)),
    _state("what NumPy does with errors", _numpy, "", (np.ndarray, np.generic), (np,)),
    _state("the registered subclasses of abstract classes", lambda: [abc.get_cache_token()], "", (abc.ABCMeta,)),
    _state("the time zone", _dates, "", (datetime.date, datetime.tzinfo), (datetime, datetime.date, datetime.datetime)),
    _state("the clock", _clock, "", (), (np.datetime64,)),
    _state("how Python writes numbers", _texts, "__format__ format format_map strftime int str repr", (re.Pattern,)),
    _state("the error that is being handled", _handled, "exc_info exception __context__ format_exc print_exc"),
]
_CODECS = frozenset("encode decode".split())
_CODING = (str, bytes, bytearray, codecs)


# what depends on things of a class
_of_kind = ByKind(lambda kind: [state for state in _STATES if issubclass(kind, state.kinds)])
_by_thing = {id(thing): state for state in _STATES for thing in state.things}


def behind(thing: Any) -> Iterable[Place]:
    """What the process keeps that a thing which a step can reach answers by."""
    for state in _of_kind[type(thing)]:
        yield state.place
    if is_a(thing, type | types.ModuleType):
        if id(thing) in _by_thing:
            yield _by_thing[id(thing)].place
        if any(thing is each for each in _CODING):
            yield from codec_registries()


def asked_by(names: frozenset[str]) -> Iterable[Place]:
    """What the process keeps that code with these names asks for."""
    for state in _STATES:
        if not state.words.isdisjoint(names):
            yield state.place
    if not _CODECS.isdisjoint(names):
        yield from codec_registries()


@functools.cache
def codec_registries() -> list[Place]:
    """Who is asked for encodings, and what is done about errors: what `codecs.register` and `register_error` change.

    Python shows neither, but the collector knows who holds the entries that it begins with, unless `gc.freeze` came before.
    """
    holders = gc.get_referrers(codecs.lookup_error("strict"), encodings.search_function)
    handlers = [each for each in holders if type(each) is dict and each.keys() >= {"strict", "ignore", "surrogateescape"}]
    searched = [each for each in holders if type(each) is list and encodings.search_function in each]
    if len(handlers) == len(searched) == 1:
        return [Mapping(handlers[0], "what is done about errors of encodings"), Items(searched[0], "where encodings are found")]
    return [Opaque(codecs, "the registry of encodings")]
