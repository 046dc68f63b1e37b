"""What a public function takes for a switch or an integer: PyTorch's kinds, where Python would take anything.

A switch is True or False (0 and 1 are taken, too); an integer is what Python can index with, and int64 can hold. The text
"a" is true to Python, and 2.5 becomes 2 where an int is made of it: neither is what the caller meant.
"""

from collections.abc import Callable
from operator import index
from typing import Any

from badak.core.public_api.taken import parameters_of

SPACES = frozenset("badak badak.Tensor badak.nn.functional badak.linalg badak.fft badak.special".split())  # C code in PyTorch
_ANYTHING = frozenset("inplace hard reduction".split())  # asked by PyTorch's own Python, or by a check that knows more

Kind = tuple[int, str, bool, bool]  # where it stands among the arguments, its name, whether it is a switch, whether None is one


def kinds_of(function: Callable) -> tuple[Kind, ...]:
    """The parameters of a function that are switches or integers."""
    try:
        parameters = parameters_of(function)
    except (TypeError, ValueError):
        return ()
    found = []
    for name, place, default, annotation in parameters:
        is_switch = annotation in (bool, "bool") or type(default) is bool
        is_whole = annotation in (int, "int", int | None, "int | None") and type(default) is not bool
        if (is_switch or is_whole) and name not in _ANYTHING:
            found.append((place, name, is_switch, default is None))
    return tuple(found)


def wrong_one(kinds: tuple[Kind, ...], args: tuple, kwargs: dict[str, Any]) -> tuple[str, str, str] | None:
    """(name, what it must be, what it is) of the first argument of another kind."""
    count = len(args)
    for place, name, is_switch, or_none in kinds:
        if place < count:
            value = args[place]
        elif name in kwargs:
            value = kwargs[name]
        else:
            continue
        if value is None:
            if or_none:
                continue
            return name, "bool" if is_switch else "int", "None"
        if is_switch:
            if type(value) is not bool and not _is_switch(value):
                return name, "bool", type(value).__name__
        elif type(value) is int:
            if not -(2**63) <= value < 2**63:
                return name, "int of 64 bits", "a larger one"
        elif not _is_whole(value):
            return name, "int", type(value).__name__
    return None


def _is_whole(value: Any) -> bool:
    """What Python can index with, but for a bool: a number of NumPy, or a tensor of one."""
    try:
        index(value)
    except (TypeError, RuntimeError):
        return False
    return type(value) is not bool and getattr(value, "ndim", 0) == 0 and not str(getattr(value, "dtype", "")).endswith("bool")


def _is_switch(value: Any) -> bool:
    """0, 1, a bool of NumPy, or a tensor of one."""
    return getattr(value, "ndim", 0) == 0 and not isinstance(value, str | float) and value in (0, 1)
