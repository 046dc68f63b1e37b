"""Modules and parameters in sequences and dicts, so that the model that holds them knows them."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, IndexOutOfRangeError, tr
from badak.nn.errors import ModuleNameError, kind
from badak.nn.module import Module, framed, indent
from badak.tensor.tensor import Tensor


class _Ordered(Module):
    """Modules in an order, under their numbers as names: what Sequential and ModuleList have in common."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return self._sliced(idx)
        return self._modules[self._get_abs_string_index(idx)]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._get_abs_string_index(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._get_abs_string_index(idx)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, module: Module):
        """Put `module` at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Take out the module at `key`, and close the gap."""
        module = self[key]
        del self[key]
        return module

    def _put(self, modules: list[Module]) -> None:
        for place, module in enumerate(modules, len(self)):
            self.add_module(str(place), module)

    def _sliced(self, part: slice) -> Any:
        modules = list(self._modules.values())[part]
        if type(self) is not ModuleList:  # a class of the user's is made its own way
            return self.__class__(modules)
        made = ModuleList()
        made.__dict__["_modules"] = {str(place): module for place, module in enumerate(modules)}  # new: no recording met it
        return made

    def _get_abs_string_index(self, idx: int) -> str:
        """The name of the module at place `idx`, which may count from the end."""
        place = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexOutOfRangeError(tr("index {} is out of range: {} has {} modules", place, type(self).__name__, len(self)))
        return list(self._modules)[place]

    def _renumber(self, modules: list[Module]) -> None:
        events.redefine(self, tr("{} was given other modules", type(self).__name__))
        self.__dict__["_modules"] = {str(place): module for place, module in enumerate(modules)}

    def _insert(self, index: int, module: Module) -> None:
        if not isinstance(module, Module):
            raise ArgumentTypeError(tr("{} is not a Module subclass", kind(module)))
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)


class Sequential(_Ordered):
    """Modules applied one after the other: y = m[-1](... m[1](m[0](x))).

    Takes the modules, or one OrderedDict of them by name.

    Args:
        *args: modules, or one OrderedDict of them

    Returns: module; `forward(x)` is the output of the last one

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        >>> len(model), tuple(model(badak.zeros(2, 4)).shape)
        (3, (2, 1))
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        if len(args) == 1 and isinstance(args[0], list | tuple):
            cause = tr("{} is not a Module subclass", kind(args[0]))
            raise ArgumentTypeError(cause, "the modules themselves: nn.Sequential(*modules)")
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Tensor) -> Any:
        for module in self:
            input = module(input)
        return input

    def _sliced(self, part: slice) -> "Sequential":
        return self.__class__(OrderedDict(list(self._modules.items())[part]))  # the names stay

    def insert(self, index: int, module: Module) -> "Sequential":
        """Put `module` before place `index`; the ones after it are renumbered."""
        if not -len(self) <= index <= len(self):
            raise IndexOutOfRangeError(tr("Index out of range: {} for {} modules", index, len(self)))
        self._insert(index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> "Sequential":
        """Put the modules of `sequential` at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: "Sequential") -> "Sequential":
        return Sequential(*self, *_sequential(other))

    def __iadd__(self, other: "Sequential") -> "Sequential":
        self._put(_sequential(other))
        return self

    def __mul__(self, other: int) -> "Sequential":
        return Sequential(*(module for _ in range(_factor(other)) for module in self))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> "Sequential":
        self._put(list(self._modules.values()) * (_factor(other) - 1))
        return self


class ModuleList(_Ordered):
    """A list of modules. Unlike a plain list as an attribute, the model knows what is in it.

    Args:
        modules: the modules to begin with

    Returns: list-like module: index, iterate, append

    Example:
        >>> layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        >>> len(list(layers.parameters()))
        6
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def insert(self, index: int, module: Module) -> None:
        """Put `module` before place `index`, as list.insert."""
        self._insert(index, module)

    def extend(self, modules: Iterable[Module]) -> "ModuleList":
        """Put the modules of an iterable at the end."""
        self._put(list(_iterable(modules, "ModuleList.extend", tr("an iterable"))))
        return self

    def __add__(self, other: Iterable[Module]) -> "ModuleList":
        return ModuleList([*self, *other])

    def __iadd__(self, modules: Iterable[Module]) -> "ModuleList":
        return self.extend(modules)

    def __repr__(self) -> str:
        """Neighbours that print alike are folded into one line: (0-5): 6 x Linear(...)."""
        children, place = [], 0
        for text, run in groupby(repr(module) for module in self):
            count = len(list(run))
            one = f"({place}): {indent(text)}"
            children.append(one if count == 1 else f"({place}-{place + count - 1}): {count} x {indent(text)}")
            place += count
        return framed(self._get_name(), "", children)


class ModuleDict(Module):
    """A dict of modules, in the order of insertion.

    Args:
        modules: names and modules to begin with

    Returns: dict-like module: index by name, iterate, items

    Example:
        >>> nn.ModuleDict({"a": nn.Linear(2, 2)})["a"].in_features
        2
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return _look_up(self, self._modules, key)

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        _look_up(self, self._modules, key)
        events.redefine(self, tr("{}.{} was deleted", type(self).__name__, key))
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take everything out."""
        events.redefine(self, tr("{} was cleared", type(self).__name__))
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take out the module under `key`."""
        module = self[key]
        del self[key]
        return module

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Pairs of name and module."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add all of a mapping, or of an iterable of pairs."""
        for key, module in pairs(modules, "ModuleDict"):
            self[key] = module


def pairs(source: object, where: str) -> list[tuple]:
    """The (key, value) pairs of a mapping or of an iterable of pairs, checked."""
    if hasattr(source, "items"):
        return list(source.items())
    found = []
    for place, item in enumerate(_iterable(source, f"{where}.update", tr("an iterable of key/value pairs"))):
        item = tuple(_iterable(item, tr("{} update sequence element #{}", where, place), tr("a pair")))
        if len(item) != 2:
            raise ArgumentError(tr("{} update sequence element #{} has length {}; 2 is required", where, place, len(item)))
        found.append(item)
    return found


def _iterable(value: object, where: str, what: str) -> Iterable:
    if not isinstance(value, Iterable):
        raise ArgumentTypeError(tr("{} should be called with {}, but got {}", where, what, kind(value)), "a list of them: [a, b]")
    return value


def _look_up(holder: Module, members: Mapping, key: str) -> Any:
    if key not in members:
        cause = tr("{} has no {!r}", type(holder).__name__, key)
        raise ModuleNameError(cause, tr("it has {}", ", ".join(map(str, members)) or "nothing"))
    return members[key]


def _sequential(other: object) -> list[Module]:
    if not isinstance(other, Sequential):
        cause = tr("add operator supports only objects of Sequential class, but {} is given.", type(other))
        raise ArgumentError(cause, "extend() takes any iterable")
    return list(other)


def _factor(other: object) -> int:
    if not isinstance(other, int):
        raise ArgumentTypeError(tr("unsupported operand for *: Sequential and {}", kind(other)), "an int of 1 or more")
    if other <= 0:
        raise ArgumentError(tr("Non-positive multiplication factor {} for Sequential", other), "1 or more")
    return other
