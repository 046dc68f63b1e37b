"""A seventh list: what Python and NumPy keep for the whole process, in no object that a program hands around.

Each function gives (step, change), as in `ways.py`.
"""

import codecs
import datetime
import os
import sys
import time
import warnings

import numpy as np

from tests.compiler.ways import way
from tests.compiler.ways_sixth import undone


def handler(letters):
    return lambda error: (letters, error.end)


def with_handler(name, ask):
    codecs.register_error(name, handler("a"))
    return (lambda x: x * len(ask())), lambda: codecs.register_error(name, handler("aaa"))


@way
def a_handler_of_what_cannot_be_encoded():
    return with_handler("badak_way_1", lambda: "\u00e9b".encode("ascii", "badak_way_1"))


@way
def a_handler_of_what_cannot_be_decoded():
    return with_handler("badak_way_2", lambda: b"\xe9b".decode("ascii", "badak_way_2"))


@way
def a_handler_of_bytes():
    return with_handler("badak_way_3", lambda: bytes("\u00e9b", "ascii", "badak_way_3"))


@way
def a_handler_of_str():
    return with_handler("badak_way_4", lambda: str(b"\xe9b", "ascii", "badak_way_4"))


@way
def an_encoding_of_the_program():
    def finding(letters):
        decode = lambda data, errors="strict": (letters, len(data))
        return lambda name: codecs.CodecInfo(None, decode, name=name) if name == "badak_way_5" else None

    first, second = finding("a"), finding("aaa")
    codecs.register(first)

    def change():
        codecs.unregister(first)
        codecs.register(second)

    def undo():
        codecs.unregister(first)
        codecs.unregister(second)

    return undone(lambda x: x * len(b"b".decode("badak_way_5")), undo), change


def in_a_zone(ask):
    def to(zone):
        if zone is None:
            os.environ.pop("TZ", None)
        else:
            os.environ["TZ"] = zone
        time.tzset()

    before = os.environ.get("TZ")
    to("UTC")
    return undone(lambda x: x * ask(), lambda: to(before)), lambda: to("KST-9")


@way
def the_zone_of_a_time():
    return in_a_zone(lambda: datetime.datetime.fromtimestamp(0).hour)


@way
def the_zone_of_a_date_that_is_kept():
    date = datetime.datetime(2020, 1, 1)
    return in_a_zone(lambda: date.timestamp() % 86400)


@way
def the_zone_that_a_date_is_moved_to():
    date = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    return in_a_zone(lambda: date.astimezone().hour)


@way
def how_long_a_number_may_be():
    text, before = "9" * 5000, sys.get_int_max_str_digits()

    def step(x):
        try:
            return x * (int(text) % 1000)
        except ValueError:
            return x * 7

    return undone(step, lambda: sys.set_int_max_str_digits(before)), lambda: sys.set_int_max_str_digits(0)


@way
def how_deep_calls_may_go():
    before = sys.getrecursionlimit()

    def deep(n):
        try:
            return deep(n + 1)
        except RecursionError:
            return n

    step = undone(lambda x: x * (2.0 if deep(0) > before + 1000 else 3.0), lambda: sys.setrecursionlimit(before))
    return step, lambda: sys.setrecursionlimit(before + 2000)


def numpys(step, **ways):
    before = np.seterr()
    np.seterr(**dict.fromkeys(ways, "ignore"))
    return undone(step, lambda: np.seterr(**before)), lambda: np.seterr(**ways)


@way
def what_numbers_of_numpy_raise():
    one, zero = np.float64(1), np.float64(0)

    def step(x):
        try:
            return x * (2.0 if one / zero > 1 else 3.0)
        except FloatingPointError:
            return x * 4

    return numpys(step, divide="raise")


@way
def what_integers_of_numpy_raise():
    most, one = np.int32(2**31 - 1), np.int32(1)

    def step(x):
        try:
            return x * (2.0 if most + one < 0 else 3.0)
        except FloatingPointError:
            return x * 4

    return numpys(step, over="raise")


@way
def a_warning_of_numpy_that_becomes_an_error():
    one, zero = np.ones(1), np.zeros(1)
    filters = warnings.filters[:]
    warnings.simplefilter("ignore", RuntimeWarning)
    step = undone(lambda x: x * float((one / zero)[0] > 1), lambda: warnings.filters.__setitem__(slice(None), filters))
    return step, lambda: warnings.simplefilter("error", RuntimeWarning)


@way
def how_a_number_of_numpy_is_written():
    number = np.float64(1.5)
    step = undone(lambda x: x * len(repr(number)), lambda: np.set_printoptions(legacy=False))
    return step, lambda: np.set_printoptions(legacy="1.25")
