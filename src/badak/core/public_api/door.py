"""The `__getattr__` and `__dir__` of badak's packages: what stands elsewhere is brought, what is missing is explained."""

import importlib
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from types import ModuleType, SimpleNamespace
from typing import Any

from badak.core.public_api.homes import show_later
from badak.core.public_api.import_time import wants_placeholder
from badak.core.public_api.missing import Missing, missing, placeholder_or_error
from badak.core.public_api.table import PLACES, is_module, is_pytorch, names_of, reach
from badak.core.public_api.version import version

_ELSEWHERE: dict[str, set[str]] = {"badak": {"__version__"}}  # a module -> names that its `__getattr__` brings
_INSIDE: dict[str, dict[str, str]] = {}  # a place that stands elsewhere -> names that PyTorch has there, and where they are
for _name, _target in PLACES.items():
    _ELSEWHERE.setdefault(_name.rpartition(".")[0], set()).add(_name.rpartition(".")[2])
    if (_parent := _name.rpartition(".")[0]) in PLACES:
        _INSIDE.setdefault(_parent, {})[_name.rpartition(".")[2]] = _target


def door(module: str, like: str = "") -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a module `badak.<...>` takes as its `__getattr__` and `__dir__`; like: a module whose names it has as well."""
    space = module.partition(".")[2]

    def __getattr__(name: str) -> Any:  # noqa: N807  (it becomes one)
        if f"{module}.{name}" == "badak.__version__":
            return version()
        if name == "__all__":
            return _for_star(space, reach(PLACES.get(module, module)))
        target = PLACES.get(f"{module}.{name}")
        if target in (None, f"{module}.{name}") and _is_unloaded(module, name):
            return importlib.import_module(f"{module}.{name}")
        there = reach(target) if target else getattr(sys.modules.get(like), name, None)
        add_door(there, f"{module}.{name}")
        for inner, elsewhere in _INSIDE.get(f"{module}.{name}", {}).items() if there is not None else ():
            vars(there).setdefault(inner, reach(elsewhere))
        return placeholder_or_error(space, name, sys.modules.get(module)) if there is None else there

    def __dir__() -> list[str]:  # noqa: N807
        names = {*vars(reach(PLACES.get(module, module))), *vars(sys.modules.get(like, object)), *_ELSEWHERE.get(module, ())}
        names |= {name for name in names_of(space) if name not in names and _is_unloaded(module, name)}
        return sorted(names)

    return __getattr__, __dir__


def door_to(module: str, table: Mapping[str, Any]) -> Callable[[str], Any]:
    """The `__getattr__` of a module whose names stand in a table."""

    def __getattr__(name: str) -> Any:  # noqa: N807
        try:
            return table[name]
        except KeyError:
            raise AttributeError(f"module {module!r} has no attribute {name!r}") from None

    return __getattr__


def _is_unloaded(module: str, name: str) -> bool:
    """Whether it is a module of PyTorch's that badak has in this place, and that nothing has imported yet."""
    dotted = f"{module}.{name}"
    if dotted in sys.modules or not is_module(dotted.partition(".")[2]):
        return False
    return PathFinder.find_spec(dotted, vars(sys.modules.get(module, object)).get("__path__", [])) is not None


class Namespace(SimpleNamespace):
    """What stands for a module of PyTorch that is a few names: once `add_door` has named it, it answers for the others, too."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "__name__" not in vars(self):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return placeholder_or_error(self.__name__.partition(".")[2], name, self)


def door_of_absent(package: str, names: str) -> Callable[[str], Any]:
    """The `__getattr__` of a package next to torch of which badak lacks these names."""

    def __getattr__(name: str) -> Any:  # noqa: N807
        if name not in names.split():
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        if wants_placeholder():
            return Missing(f"{package}.{name}")
        raise missing(f"{package}.{name}")

    return __getattr__


def _for_star(space: str, module: object) -> list[str]:
    """What `from torch.<space> import *` brings: PyTorch's names there that badak has, and badak's own."""
    names = sorted({*names_of(space), *(name for name, thing in vars(module).items() if name[:1] != "_" and _is_own(thing))})
    return [name for name in names if (found := getattr(module, name, None)) is not None and not isinstance(found, Missing)]


def _is_own(thing: object) -> bool:
    """Whether it is a class or function of badak's, or a value: no module, nothing that a module merely imports."""
    space = "" if isinstance(thing, ModuleType) else getattr(thing, "__module__", None) or "torch"
    return space.split(".")[0] in ("badak", "torch") and not space.startswith("badak.core")


def add_door(thing: object, name: str) -> None:
    """Make a module that PyTorch knows as badak.<...> answer for the names that it has not, as the packages do."""
    if isinstance(thing, Namespace):
        vars(thing).setdefault("__name__", name)
    elif isinstance(thing, ModuleType):
        show_later(name.removeprefix("badak."), thing)
    if isinstance(thing, ModuleType) and type(thing) is ModuleType and "__getattr__" not in vars(thing):
        if is_pytorch(name.removeprefix("badak.")):
            vars(thing)["__getattr__"], vars(thing)["__dir__"] = door(name)
