"""A tensor that is a dense tensor of values, with a history of its own, and integers that say where they stand.

It has no array: what asks for one meets an error, so that no operation takes it for a dense tensor. `sparse/` and `nested/` say
what such tensors mean.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, ClassVar

from badak.core import events
from badak.core.errors import NotSupportedError, tr, undefined
from badak.core.public_api import overriding
from badak.tensor import dtypes
from badak.tensor.attributes import held_by
from badak.tensor.tensor import Tensor


class OfValues(Tensor):
    """What such tensors have in common."""

    _size: dtypes.Size
    _entries: Tensor  # the values
    word: ClassVar[str]  # what messages call it
    by_hand: ClassVar[str]  # why a recording of arrays does not take it: it does not see where the values stand

    def like(self, entries: Tensor, size: Any = None) -> "OfValues":
        """These values at the places of this tensor."""
        raise undefined(self, "def like(self, entries, size=None)")

    def same_values(self, dy: Tensor) -> "OfValues":
        """The gradient of this tensor, of the gradient of its values."""
        return self.like(dy)

    shape = property(lambda self: self._size)
    dtype = property(lambda self: self._entries.dtype)
    ndim = property(lambda self: len(self._size))

    @property
    def requires_grad(self) -> bool:
        return self._entries.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._entries.requires_grad_(wanted)

    is_leaf = property(lambda self: self._entries.is_leaf)
    grad_fn = property(lambda self: self._entries.grad_fn)

    @property
    def grad(self) -> Tensor | None:
        dy = self._entries.grad if self._entries.is_leaf else None
        return None if dy is None else self.same_values(dy)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            cause = tr("the gradient of a {} tensor cannot be set", self.word)
            raise NotSupportedError(cause, "x.grad = None, or values that require gradients")
        self._entries.grad = None

    @property
    def data(self) -> Tensor:  # type: ignore[override]
        return self.like(self._entries.detach())

    @data.setter
    def data(self, value: Tensor) -> None:
        raise NotSupportedError(tr("the data of a {} tensor cannot be set", self.word), "a new tensor of other values")

    def _edge(self):
        return self._entries._edge()

    def _accumulate(self, dy, owned: bool) -> None:
        self._entries._accumulate(dy, owned)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            twin = self.like(deepcopy(self._entries, memo))
            vars(twin).update({name: deepcopy(part, memo) for name, part in held_by(self).items() if name != "_entries"})
            memo[id(self)] = twin
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return _again, (type(self), dict(held_by(self)))

    def __len__(self) -> int:
        return self._size[0]

    def __format__(self, spec: str) -> str:
        return str(self)


def made(kind: type[OfValues], **state: Any) -> Any:
    """A tensor of that class with this state."""
    if kind not in overriding.active:
        overriding.add(kind)
    events.user_code(kind.by_hand)
    one: Any = object.__new__(kind)
    held_by(one).update(state)
    return one


def _again(kind: type[OfValues], state: dict) -> OfValues:
    return made(kind, **state)


def tensors_among(args: Any, kwargs: dict | None) -> list:
    """The arguments, and what stands in lists of them."""
    found: list[Any] = []
    for value in (*args, *(kwargs or {}).values()):
        found += value if isinstance(value, list | tuple) else [value]
    return found


@cache
def name_of(func: Callable) -> str:
    """The public name of a function: operators and properties do not carry theirs."""
    for name, value in vars(Tensor).items():
        if value is func or (isinstance(value, property) and func in (value.fget, value.fset)):
            return name
    return getattr(func, "__name__", str(func))
