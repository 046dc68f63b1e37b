"""What the functions for text are given: texts, token numbers, counts. What is none of them is refused here."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, tr
from badak.io.errors import shown


def whole(where: str, name: str, value: Any, least: int = 1) -> int:
    """An integer of `least` or more; ArgumentTypeError or ArgumentError for another value."""
    rule, fix = tr("{}: {} must be an integer of {} or more", where, name, least), tr("{}={}", name, max(least, 1))
    number = _number(value)
    if number is None:
        raise ArgumentTypeError(tr("{}; got {}", rule, shown(value)), fix)
    if number < least:
        raise ArgumentError(tr("{}; got {}", rule, shown(number)), fix)
    return number


def _number(value: Any) -> int | None:
    """The integer that `value` is, None where it is none."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def place(where: str, what: str, number: Any, length: int) -> int:
    """A number in 0 .. length - 1, where -1 is the last one; IndexOutOfRangeError beyond, which is an IndexError and ends a
    loop."""
    at = _number(number)
    if at is None:
        raise ArgumentTypeError(tr("{}: expected the number of a {}; got {}", where, what, shown(number)), "an integer")
    if not -length <= at < length:
        raise IndexOutOfRangeError(tr("{}: {} {} of {}", where, what, shown(at), length), tr("a number in 0..{}", length - 1))
    return at % length


def text(where: str, value: Any) -> str:
    """A text; ArgumentTypeError for another value."""
    if not isinstance(value, str):
        raise ArgumentTypeError(tr("{}: expected a text; got {}", where, type(value).__name__), f"{where}('a text')")
    return value


def several(where: str, values: Any, what: str, example: str) -> Iterable[Any]:
    """Things that can be gone through one by one: a text alone would be taken for its characters."""
    try:
        iter(values)
    except TypeError:
        raise ArgumentTypeError(tr("{}: expected {}; got {}", where, what, shown(values)), example) from None
    if isinstance(values, str | bytes):
        raise ArgumentTypeError(tr("{}: expected {}; got {}", where, what, shown(values)), example)
    return values


def numbers(where: str, ids: Any) -> Sequence[int]:
    """Token numbers, of a list, an array or a Tensor; ArgumentTypeError where they are none."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    values = list(several(where, ids, tr("token numbers"), "[3, 1, 2]"))
    found = [_number(one) for one in values]
    if None in found:
        wrong = values[found.index(None)]
        raise ArgumentTypeError(tr("{}: expected token numbers; got {}", where, shown(wrong)), "integers of one axis: [3, 1, 2]")
    return found  # type: ignore[return-value]


def array_of_tokens(where: str, ids: Any) -> np.ndarray:
    """An array (N,) of token numbers, in memory or on the disk."""
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iu":
        got = f"{ids.dtype} {ids.shape}" if isinstance(ids, np.ndarray) else type(ids).__name__
        cause = tr("{}: expected ids as a NumPy array (N,) of integers; got {}", where, got)
        raise ArgumentTypeError(cause, "numpy.array([3, 1, 2])")
    return ids
