"""What the functions for text are given: texts, token numbers, counts. What is none of them is refused here."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

import numpy as np

from badak.errors import ArgumentError, KindError, RangeError
from badak.io.errors import shown


def whole(where: str, name: str, value: Any, least: int = 1) -> int:
    """A whole number of `least` or more; KindError or ArgumentError for another value."""
    rule, fix = f"{where}: {name} must be a whole number of {least} or more", f"{name}={max(least, 1)}"
    if isinstance(value, bool | float | str) or not hasattr(value, "__index__"):
        raise KindError(f"{rule}; got {shown(value)}", fix)
    if index(value) < least:
        raise ArgumentError(f"{rule}; got {shown(index(value))}", fix)
    return index(value)


def place(where: str, what: str, number: Any, length: int) -> int:
    """A number in 0 .. length - 1, where -1 is the last one; RangeError beyond, which is an IndexError and ends a loop."""
    if isinstance(number, bool) or not hasattr(number, "__index__"):
        raise KindError(f"{where}: expected the number of a {what}; got {shown(number)}", "a whole number")
    if not -length <= index(number) < length:
        raise RangeError(f"{where}: {what} {shown(index(number))} of {length}", f"a number in 0..{length - 1}")
    return index(number) % length


def text(where: str, value: Any) -> str:
    """A text; KindError for another value."""
    if not isinstance(value, str):
        raise KindError(f"{where}: expected a text; got {type(value).__name__}", f"{where}('a text')")
    return value


def several(where: str, values: Any, what: str, example: str) -> Iterable[Any]:
    """Things that can be gone through one by one: a text alone would be taken for its characters."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise KindError(f"{where}: expected {what}; got {shown(values)}", example)
    return values


def numbers(where: str, ids: Any) -> Sequence[int]:
    """Token numbers, of a list, an array or a Tensor; KindError where they are none."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    values = list(several(where, ids, "token numbers", "[3, 1, 2]"))
    wrong = [one for one in values if isinstance(one, bool) or not hasattr(one, "__index__")]
    if wrong:
        raise KindError(f"{where}: expected token numbers; got {shown(wrong[0])}", "whole numbers of one axis: [3, 1, 2]")
    return [index(one) for one in values]


def array_of_tokens(where: str, ids: Any) -> np.ndarray:
    """An array (N,) of token numbers, in memory or on the disk."""
    if not isinstance(ids, np.ndarray) or ids.ndim != 1 or ids.dtype.kind not in "iu":
        got = f"{ids.dtype} {ids.shape}" if isinstance(ids, np.ndarray) else type(ids).__name__
        raise KindError(f"{where}: expected ids as a NumPy array (N,) of whole numbers; got {got}", "numpy.array([3, 1, 2])")
    return ids
