"""What stands in a tensor's `_array` within vmap: the arrays of all examples, which looks like that of one.

It has the shape, dtype and strides of one example, so that functions check what they are given as always, and no numbers: `apply`
runs an operation on all examples (`vmap.py`), and whoever asks for the numbers meets `Unbatched`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import NoDataError


class Level:
    """One vmap under way: how many examples it has, and what random numbers are to each of them."""

    def __init__(self, size: int, randomness: str) -> None:
        self.size, self.randomness = size, randomness
        self.depth = 0  # how many are around it
        self.alone = 0  # how many loops over its examples are under way


class Unbatched(NoDataError):
    """A function needs the numbers of one example: it runs for one after the other."""

    level: Level | None = None

    @classmethod
    def at(cls, level: Level | None) -> "Unbatched":
        error = cls("vmap: a function asks for the numbers of one example", "a loop over the examples")
        error.level = level
        return error


class NoNumber(Unbatched):
    """As Unbatched, where a number was to go to Python: the program cannot run so at all."""


def no_number(how: str) -> NoNumber:
    """The complaint about a number that goes to Python."""
    if how in ("bool()", "in"):
        return NoNumber(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet.",
            "badak.where(condition, a, b), or a loop over the examples",
        )
    return NoNumber(
        "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please "
        "try to rewrite what you're doing with other operations.",
        "the tensor itself: operations take one of no dims as they take a number",
    )


class Standin:
    """What looks like the array `like`, and has no numbers; `complaint` makes what is raised for whoever asks for one."""

    __slots__ = ()
    like: np.ndarray
    complaint: Callable[[], Exception]

    shape = property(lambda self: self.like.shape)
    dtype = property(lambda self: self.like.dtype)
    ndim = property(lambda self: self.like.ndim)
    size = property(lambda self: self.like.size)
    nbytes = property(lambda self: self.like.nbytes)
    itemsize = property(lambda self: self.like.itemsize)
    strides = property(lambda self: self.like.strides)
    flags = property(lambda self: self.like.flags)

    def __getattr__(self, name: str) -> Any:
        raise self.complaint()

    def _refuse(self, *args: Any, **named: Any) -> Any:
        raise self.complaint()

    __array__ = __array_ufunc__ = __array_function__ = __getitem__ = __setitem__ = __len__ = __iter__ = __bool__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __and__ = __or__ = __invert__ = __neg__ = _refuse
    __hash__ = object.__hash__


class Batched(Standin):
    """The arrays of `level.size` examples: `full` is a tensor, its first axis counts them."""

    __slots__ = ("full", "level", "like")

    def __init__(self, full: Any, level: Level) -> None:
        array = full._array
        like: np.ndarray = array.like if type(array) is Batched else array
        self.full, self.level = full, level
        self.like: np.ndarray = like[0, ...] if len(like) else np.empty(like.shape[1:], like.dtype)  # one example

    def complaint(self) -> Exception:
        return Unbatched.at(self.level)

    def reshape(self, *shape: Any, copy: bool | None = None) -> "Batched":
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        made = self.like.reshape(shape, copy=copy)  # raises where it is no view and should be one
        return Batched(self.full.detach().reshape(self.level.size, *made.shape), self.level)

    def detached(self, tensor_of: Callable) -> Any:
        """The tensor of it without history."""
        return tensor_of(Batched(self.full.detach(), self.level))

    def squeeze(self, axis: int) -> "Batched":
        return Batched(self.full.detach().squeeze(axis % self.ndim + 1), self.level)

    def __array_function__(self, function: Any, types: Any, args: tuple, kwargs: dict) -> Any:
        if function is np.expand_dims and type(args[1]) is int:
            return Batched(self.full.detach().unsqueeze(args[1] % (self.ndim + 1) + 1), self.level)
        if function is np.moveaxis:
            source, to = (a % self.ndim + 1 for a in args[1:])
            return Batched(self.full.detach().movedim(source, to), self.level)
        raise Unbatched.at(self.level)
