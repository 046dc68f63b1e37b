"""Classes of the running program, for whole objects in files that badak itself wrote.

Nothing is imported for a file, no function of a file's choice is called, and no code of the classes runs: an instance is
made empty, and its attributes are set. That works for modules, dataclasses, enums and plain classes; a class with a `__new__`,
`__setstate__` or `__del__` of its own is refused, and so are the standard library's (a process, a socket, ...).
"""

import enum
import sys
import types
from typing import Any

from badak.io.unpickler import Name

_bases: list[type] = []  # classes whose subclasses badak knows how to give their state


def trust(base: type) -> None:
    """Let subclasses of `base` be rebuilt with base's own `__setstate__` (for rooms above this one)."""
    _bases.append(base)


def find(module: str, name: str) -> Name | str:
    """The program's class or badak's function of that name, as the table of allowed names has it; or why not."""
    thing = _imported(module, name)
    if thing is None:
        return "the program has not imported it"
    if isinstance(thing, types.FunctionType):
        known = module.startswith(("badak.nn.functional.", "badak.tensor."))
        return Name(f"{module}.{name}", value=thing) if known else "it is a function"
    if not isinstance(thing, type):
        return "it is no class"
    return _of_class(f"{module}.{name}", thing)


def _of_class(name: str, cls: type) -> Name | str:
    if issubclass(cls, enum.Enum):
        return Name(name, lambda value: cls(value), value=cls)
    base = next((base for base in _bases if issubclass(cls, base)), None)
    if base is not None and cls.__setstate__ is not base.__setstate__:  # type: ignore[attr-defined]
        return "it has a __setstate__ of its own"
    if cls.__module__.split(".")[0] in sys.stdlib_module_names and cls.__module__ != "__main__":
        return "it belongs to the standard library"
    if cls.__new__ is not object.__new__ or hasattr(cls, "__del__") or (base is None and hasattr(cls, "__setstate__")):
        return "it has a __new__, __setstate__ or __del__ of its own, which would run"

    def build(made: Any, state: Any) -> None:
        attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
        if base is not None:
            base.__setstate__(made, attributes)  # type: ignore[attr-defined]
            return
        for key, value in {**(attributes or {}), **(slots or {})}.items():
            object.__setattr__(made, key, value)

    return Name(name, new=lambda: object.__new__(cls), build=build, value=cls)


def _imported(module: str, name: str) -> Any:
    found = sys.modules.get(module)
    for part in name.split("."):
        if found is None or part.startswith("__"):
            return None
        found = vars(found).get(part)
    return found
