"""A copy of a module with the same parameters and buffers, and attributes and a mode of its own: what a script or a trace keeps."""

from collections.abc import Callable
from types import MethodType
from typing import Any

from badak.compat.torch.tracing.module import place
from badak.core.nests import changed
from badak.nn import Module
from badak.nn.members import MEMBERS
from badak.tensor import Tensor


def twin_of(module: Module, class_of: Callable[[Module], type] = type) -> Module:
    """The copy of a module and its children. class_of: the class that a copy has."""
    classes: dict[type, type] = {}
    copies: dict[int, Module] = {}

    def copied(one: Module) -> Module:
        if id(one) not in copies:
            kind = type(one)
            if kind not in classes:
                classes[kind] = class_of(one)
            twin: Module = object.__new__(classes[kind])
            copies[id(one)] = twin
            twin.__dict__.update(one.__dict__)
            for name in MEMBERS:
                twin.__dict__[name] = dict(one.__dict__[name])
            for name, child in one._modules.items():
                twin.__dict__["_modules"][name] = None if child is None else copied(child)
        return copies[id(one)]

    made = copied(module)
    for one in copies.values():
        for name, value in one.__dict__.items():
            if name not in MEMBERS:
                one.__dict__[name] = _own(value, copies)
    return made


def _own(value: Any, copies: dict[int, Module]) -> Any:
    """An attribute of a copy: lists and dicts of its own, and the copies for the modules that were copied."""
    if isinstance(value, MethodType):
        return MethodType(value.__func__, copies.get(id(value.__self__), value.__self__))
    if isinstance(value, Module) or type(value) in (list, tuple, dict):
        return changed(value, Module, lambda x: copies.get(id(x), x))
    return value.copy() if isinstance(value, dict | set) else value


class Kept:
    """A program as it was when it was traced, for inputs that its graph does not fit."""

    def __init__(self, function: Callable) -> None:
        owner = function if isinstance(function, Module) else getattr(function, "__self__", None)
        self._twin = twin_of(owner) if isinstance(owner, Module) else None
        self._function: Any = function
        if self._twin is not None:
            self._function = self._twin if function is owner else MethodType(function.__func__, self._twin)  # type: ignore[attr-defined]

    def __call__(self, held: dict[str, Tensor], args: tuple, kwargs: dict) -> Any:
        """What it gives, with these parameters and buffers."""
        if self._twin is not None:
            own = dict([*self._twin.named_parameters(), *self._twin.named_buffers()])
            place(self._twin, {name: x for name, x in held.items() if name in own and own[name] is not x})
        return self._function(*args, **kwargs)
