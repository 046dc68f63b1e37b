"""The `__getattr__` of badak's packages: what stands elsewhere is brought, what is missing is explained."""

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

from badak.core.public_api.missing import placeholder_or_error
from badak.core.public_api.table import PLACES, is_pytorch, reach
from badak.core.public_api.version import version

_INSIDE: dict[str, dict[str, str]] = {}  # a place that stands elsewhere -> names that PyTorch has there, and where they are
for _name, _target in PLACES.items():
    if (_parent := _name.rpartition(".")[0]) in PLACES:
        _INSIDE.setdefault(_parent, {})[_name.rpartition(".")[2]] = _target


def door(module: str, like: str = "") -> Callable[[str], object]:
    """The function that a module `badak.<...>` takes as its `__getattr__`; like: a module whose names it has as well."""
    space = module.partition(".")[2]

    def __getattr__(name: str) -> object:  # noqa: N807  (it becomes one)
        if f"{module}.{name}" == "badak.__version__":
            return version()
        target = PLACES.get(f"{module}.{name}")
        if target == f"{module}.{name}":
            return importlib.import_module(target)
        there = reach(target) if target else getattr(sys.modules.get(like), name, None)
        add_door(there, f"{module}.{name}")
        for inner, elsewhere in _INSIDE.get(f"{module}.{name}", {}).items():
            vars(there).setdefault(inner, reach(elsewhere))
        if there is None:
            return placeholder_or_error(space, name, sys.modules.get(module))
        return there

    return __getattr__


def add_door(thing: object, name: str) -> None:
    """Make a module that PyTorch knows as badak.<...> answer for the names that it has not, as the packages do."""
    if isinstance(thing, ModuleType) and type(thing) is ModuleType and "__getattr__" not in vars(thing):
        if is_pytorch(name.removeprefix("badak.")):
            vars(thing)["__getattr__"] = door(name)
