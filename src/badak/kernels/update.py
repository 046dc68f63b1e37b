"""What an update of parameters is: a pure function of numbers, written once.

    function(p, g, slot, ..., scalar, ...) -> (p, slot, ...)

takes an element of a parameter, of its gradient and of everything that is remembered of it, and gives their new values. The
reference kernels call it with whole arrays in the place of numbers, the Numba kernels compile it and go through all parameters in
one call. A slot that is not in use is None, on both sides.

So that both mean the same, a function uses + - * /, `fma`, `quotient`, `largest`, `sqrt`, `sign` and comparisons of scalars, and no
number written out except in comparisons: in compiled code 1 - x would be another dtype.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, ClassVar

import numpy as np

sqrt = np.sqrt
sign = np.sign  # -1, 0, 1 or NaN


def fma(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the CPU can, and in every lane and remainder of a loop alike."""
    return a * b + c


def quotient(a: Any, b: Any) -> Any:
    """a / b for a square root a and a number b from 1e-8 to 1 (or 0) that many elements share.

    Compiled, it has the same bits without a division for each element; a must not be so small that what a product of it
    leaves over would be rounded, which no root is.
    """
    return a / b


def largest(a: Any, b: Any) -> Any:
    """The larger of two floats, NaN if one is. (A comparison would keep the loop over a row from vectorising.)"""
    return np.maximum(a, b)


class Update:
    """An update by its name, function and slots: {name of a slot: whether some optimizers do without it}."""

    all: ClassVar[list["Update"]] = []  # what a kernel set compiles ahead

    def __init__(self, name: str, function: Callable[..., tuple], slots: dict[str, bool]):
        self.name, self.function, self.slots = name, function, slots
        self.scalars = function.__code__.co_varnames[2 + len(slots) : function.__code__.co_argcount]
        Update.all.append(self)

    def variants(self) -> list[tuple[bool, ...]]:
        """For every way to use it: which slots are there."""
        return list(product(*((True, False) if optional else (True,) for optional in self.slots.values())))


def present(slots: Sequence[Any]) -> tuple[bool, ...]:
    """Which slots are there."""
    return tuple(slot is not None for slot in slots)
