"""Classes of the running program, for whole objects in files (weights_only=False).

What a file names is a key and no more. Which classes it can find is the program's choice:

- every subclass of a class that badak trusts (nn.Module, Tensor), found among those that the program has defined or imported;
- functions that badak hands over (activations, as an attribute of a model);
- enums, dataclasses and plain classes that the program has defined itself: in `__main__`, or in a module whose source lies
  neither in the standard library nor among the installed packages; and badak's own dataclasses (a model's config).

The class must stand in its module under its own name, of one part. None of its code runs: an instance is made by
`object.__new__`, its attributes are put into its `__dict__` or slots, and a class with `__new__`, `__setstate__`, `__del__`,
`__call__`, `__getattribute__` or a metaclass of its own is refused. An attribute cannot take the place of a method.
"""

import abc
import enum
import functools
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from badak.core.public_api.homes import home
from badak.io.errors import line, shown
from badak.io.unpickler import Name, anything
from badak.tensor import Tensor

RUNNING = {"__new__", "__setstate__", "__del__", "__getattribute__", "__class__"}  # a class with one of these is refused,
CALLED = {"__call__"}  # and with this one, unless badak trusts its base: it could pose as an activation
PLAIN_VALUES = (int, str, float, bytes, bool, type(None))  # of an enum's members
LIBRARY = Path(enum.__file__).resolve().parent  # where the standard library lies
INSTALLED = ("site-packages", "dist-packages")
SETTABLE = (types.MemberDescriptorType, functools.cached_property)  # what a class may have under the name of an attribute

Fill = Callable[[Any, dict, dict], None]  # fill(made, attributes, built): see nn/pickled.py
_trusted: dict[type, Fill] = {}
_functions: dict[str, Any] = {}


def trust(base: type, filler: Fill) -> None:
    """Let subclasses of `base` be rebuilt: `filler` checks their attributes and sets them (for packages above this one)."""
    _trusted[base] = filler


def hand_over(functions: list[Any]) -> None:
    """Let files hold these functions as values (for packages above this one)."""
    _functions.update({f"{function.__module__}.{function.__qualname__}": function for function in functions})


class Program:
    """The classes that one file may find, and what has been made of them."""

    def __init__(self) -> None:
        self.below: dict[type, dict[str, type]] = {}
        self.built: dict[int, Any] = {}  # id of an instance that has its state -> what its filler notes of it

    def find(self, module: str, name: str) -> Name | str:
        """The program's class or badak's function of that name, as the table of allowed names has it; or why not."""
        dotted = f"{module}.{name}"
        if dotted in _functions:
            return Name(dotted, value=_functions[dotted])
        kinds: dict[type, Fill | None] = {Tensor: None, **_trusted}
        for base, filler in kinds.items():
            if base not in self.below:
                self.below[base] = _subclasses(base)
            cls = self.below[base].get(dotted)
            if cls is not None:  # of a tensor, which is made as a plain one, it is a value only
                made = self._trusted_name(dotted, cls, filler) if filler else Name(dotted, value=cls)
                return _why_not(cls, base) or made
        cls = _own(module, name)
        if type(cls) is str:
            return cls
        if type(cls) is enum.EnumMeta:
            return Name(dotted, lambda value: _member(cls, value), anything, value=cls)
        return _why_not(cls, object) or Name(dotted, new=lambda: object.__new__(cls), build=fill, value=cls)

    def _trusted_name(self, dotted: str, cls: type, filler: Fill) -> Name:
        def build(made: Any, state: Any) -> None:
            attributes, slots = _parts(state)
            if slots:
                raise ValueError("attributes in slots")
            for name in attributes:
                _check_attribute(cls, name)
            filler(made, attributes, self.built)

        def finished(made: Any) -> bool:
            return id(made) in self.built

        return Name(dotted, new=lambda: object.__new__(cls), build=build, finished=finished, value=cls)


def fill(made: Any, state: Any) -> None:
    """Give an instance its attributes, without a call of `__setattr__`, of properties or of `__setstate__`."""
    attributes, slots = _parts(state)
    for name, value in {**attributes, **slots}.items():
        place = _check_attribute(type(made), name)
        if type(place) is types.MemberDescriptorType:
            place.__set__(made, value)
        else:
            object.__getattribute__(made, "__dict__")[name] = value


def _parts(state: Any) -> tuple[dict, dict]:
    """(attributes, those in slots) of a state: a dict, or a pair of dicts."""
    parts = state if type(state) is tuple and len(state) == 2 else (state, None)
    attributes, slots = ({} if part is None else part for part in parts)
    if type(attributes) is not dict or type(slots) is not dict:
        raise ValueError(f"a state of {shown(state)}")
    return attributes, slots


def _check_attribute(cls: type, name: Any) -> Any:
    """What the class itself has under the name of an attribute. Raises ValueError for a name that hides a method."""
    if type(name) is not str or name.startswith("__") and name.endswith("__"):
        raise ValueError(f"an attribute {shown(name)}")
    place = _in_class(cls, name)
    if not any(type(place) is kind for kind in SETTABLE) and _in_class(type(place), "__get__") is not None:
        raise ValueError(f"an attribute {line(name)!r} in the place of the class's own")
    return place


def _in_class(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _subclasses(base: type) -> dict[str, type]:
    """`base` and all below it by dotted name, those that stand in their module under that name."""
    found: dict[str, type] = {}
    waiting = [base]
    while waiting:
        cls = waiting.pop()
        waiting += type.__subclasses__(cls)
        if _stands(cls):
            found[f"{home(cls)}.{cls.__qualname__}"] = cls
    return found


def _stands(cls: type) -> bool:
    """Whether a class can be found in its module under its name."""
    module = sys.modules.get(home(cls)) if type(cls.__module__) is str else None
    return isinstance(module, types.ModuleType) and vars(module).get(cls.__qualname__) is cls


def _own(module: str, name: str) -> Any:
    """The class of that name that the program itself has defined; or why there is none."""
    found = sys.modules.get(module)
    if type(found) is not types.ModuleType:
        return "the program has not imported it"
    cls = vars(found).get(name)
    if cls is None:
        return "the program has not imported it"
    if type(cls) not in (type, abc.ABCMeta, enum.EnumMeta):
        return "it is no plain class"
    if home(cls) != module or cls.__qualname__ != name:
        return "that is not its own name"
    if module.split(".")[0] == "badak" and module != "badak.__main__":
        return cls if "__dataclass_fields__" in vars(cls) else "it is not for files"
    return cls if module == "__main__" or _is_source(vars(found).get("__file__")) else "it belongs to an installed package"


def _is_source(file: Any) -> bool:
    """Whether a module's file is the program's own, not the standard library's or an installed package's."""
    if type(file) is not str:
        return False
    path = Path(file).resolve()
    return path.suffix == ".py" and LIBRARY not in path.parents and not any(part in INSTALLED for part in path.parts)


def _why_not(cls: type, base: type) -> str:
    """Why a class below `base` cannot be made for a file; "" where it can."""
    if type(cls) not in (type, abc.ABCMeta):
        return "it has a metaclass of its own"
    for one in cls.__mro__:
        if one in base.__mro__:
            continue
        running = sorted((RUNNING if base is not object else RUNNING | CALLED) & set(vars(one)))
        if running:
            return f"it has a {running[0]} of its own, which could run"
        if type(vars(one).get("__dict__")) not in (type(None), types.GetSetDescriptorType):
            return "it has a __dict__ of its own"
    return "" if cls.__new__ is base.__new__ else "it is not made as a plain object"


def _member(cls: Any, value: Any) -> Any:
    """The member of an enum that has this value; none of the enum's code runs."""
    if any(type(value) is kind for kind in PLAIN_VALUES):
        for member in cls.__members__.values():
            if type(member._value_) is type(value) and member._value_ == value:
                return member
    raise ValueError(f"{shown(value)} is the value of no member")
