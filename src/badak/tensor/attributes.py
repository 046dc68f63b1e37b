"""vars(tensor): what a program has set on a tensor, without the state that makes it one."""

import copyreg
import gc
import threading
from collections.abc import MutableMapping
from typing import Any

from badak.tensor.interface import Methods

_everything = vars(Methods)["__dict__"].__get__


def is_a(thing: Any, kinds: Any) -> bool:
    """isinstance, in which the object itself has no say: it may show another class, or run code when it is asked."""
    return issubclass(type(thing), kinds)


def held_by(thing: Any) -> Any:
    """The very dict of an object's attributes, of a tensor with its state; None where there is none. Runs no code of the object."""
    if is_a(thing, Methods):
        return _everything(thing)
    if is_a(thing, type | threading.local):
        return thing.__dict__
    try:
        return object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None


def slots_of(tensor: Any) -> dict[str, Any]:
    """What stands in the slots of a derived class."""
    return {name: getattr(tensor, name) for name in copyreg._slotnames(type(tensor)) if hasattr(tensor, name)}  # type: ignore[attr-defined]


def state_of(tensor: Any) -> Any:
    """What a program has set on a tensor: a dict, with slots a pair of dicts, or what __getstate__ says; None for nothing."""
    kind = type(tensor)
    if getattr(kind, "__getstate__", None) is not getattr(object, "__getstate__", None):
        return tensor.__getstate__()
    attributes, slots = dict(vars(tensor)), slots_of(tensor)
    return (attributes, slots) if slots else attributes or None


def show_own_dict(cls: type, tensor: type) -> None:
    """Let `__dict__` be what it is for `tensor` in a class that derives from it and, before it, from classes of the program.

    These bring a `__dict__` of Python's, which has the state of the tensor in it. A class takes no attribute of this name but in
    its own body, so that it is put there past it.
    """
    first = next(vars(base)["__dict__"] for base in cls.__mro__ if "__dict__" in vars(base))
    if first is not vars(tensor)["__dict__"]:
        (body,) = gc.get_referents(vars(cls))
        body["__dict__"] = vars(tensor)["__dict__"]
        cls.__doc__ = cls.__doc__  # which lets Python look again


class Attributes(dict):
    """The attributes that are no part of a tensor's own state. What is written here the tensor has."""

    __slots__ = ("_held",)

    def __init__(self, held: dict[str, Any], state: frozenset[str]) -> None:
        super().__init__({name: value for name, value in held.items() if name not in state})
        self._held = held

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self._held[name] = value

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self._held[name]

    def __ior__(self, other: Any) -> "Attributes":  # type: ignore[misc, override]
        self.update(other)
        return self

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def pop(self, name: str, *default: Any) -> Any:  # MutableMapping's would ask for an attribute that a dict has not
        value = super().pop(name, *default)
        self._held.pop(name, None)
        return value

    update, setdefault = MutableMapping.update, MutableMapping.setdefault  # type: ignore[assignment]
    popitem, clear = MutableMapping.popitem, MutableMapping.clear  # type: ignore[assignment]
