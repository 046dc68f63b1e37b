"""What stands in the `_array` of a wrapper: a tensor of sizes, strides and a dtype, made by `Tensor._make_wrapper_subclass`.

It looks like the array that the tensor would have, and has no numbers. `apply` hands an operation with a wrapper to its class, and
whoever asks for the numbers meets `NoMemory`: the call goes to the class as a whole (`compat/torch/wrapper.py`).
"""

from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import GraphError, NoDataError, tr
from badak.tensor.attributes import held_by, slots_of
from badak.tensor.batched import Standin

answers: list[Callable] = []  # what gives a call to the class of a wrapper: `compat/torch/wrapper.py` puts it here
walks: list[Callable] = []  # whether a graph has a wrapper; the walk back through it. As well


class NoMemory(NoDataError):
    """A function needs the numbers of a wrapper, which has none."""

    @staticmethod
    def again(function: Callable, name: str, args: tuple, kwargs: dict) -> Any:
        return answers[0](function, name, args, kwargs)


class Wrapped(Standin):
    """The array that a wrapper would have, on this device. of: the wrapper, where the array goes from one function to the next."""

    __slots__ = ("like", "offset", "device", "of")

    def __init__(self, like: np.ndarray, offset: int, device: Any, of: Any = None) -> None:
        self.like, self.offset, self.device, self.of = like, offset, device, of

    def complaint(self) -> Exception:
        return no_memory()


def answers_itself(cls: type, tensor: type) -> bool:
    """Whether a class that derives from `tensor` has a __torch_dispatch__ of its own."""
    asked: Any = cls.__torch_dispatch__  # type: ignore[attr-defined]
    return getattr(asked, "__func__", asked) is not tensor.__torch_dispatch__.__func__  # type: ignore[attr-defined]


def array_of(x: Any) -> Any:
    """The array of a tensor; that of a wrapper leads back to it."""
    array = x._array
    return Wrapped(array.like, array.offset, array.device, x) if type(array) is Wrapped else array


def swap(a: Any, b: Any) -> None:
    """Let each of two tensors become the other."""
    for x in (a, b):
        end = held_by(x).get("_leaf_end")
        if end is not None and getrefcount(end) > 3:  # of the dict, of this name and of this call
            cause = tr("swap_tensors: a graph waits for the gradient of one of the tensors")
            raise GraphError(cause, "backward() first, or no forward before it")
        held_by(x).pop("_leaf_end", None)
        events.redefine(x, "swap_tensors")
    slots = [slots_of(x) for x in (a, b)]
    held = [dict(held_by(x)) for x in (a, b)]
    a.__class__, b.__class__ = b.__class__, a.__class__
    for x, old, new, attributes in ((a, slots[0], slots[1], held[1]), (b, slots[1], slots[0], held[0])):
        held_by(x).clear()
        held_by(x).update(attributes)
        for name in old.keys() - new.keys():
            delattr(x, name)
        for name, value in new.items():
            setattr(x, name, value)


def within(x: Any) -> Wrapped:
    """What stands in a wrapper."""
    array: Wrapped = x._array
    return array


def no_memory() -> NoMemory:
    """The complaint about a number of a wrapper."""
    return NoMemory(
        tr("a tensor made by _make_wrapper_subclass has no numbers of its own"),
        "the tensors that it wraps, in its __torch_dispatch__",
    )


def is_wrapper(x: Any) -> bool:
    """Whether it is a tensor without memory that a class of the program stands for."""
    return type(held_by(x).get("_array")) is Wrapped
