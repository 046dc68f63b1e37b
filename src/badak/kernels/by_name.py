"""A kernel that no list names is found by the name of its file: `x` and `x_backward` in the file of `x`."""

import importlib
import sys
from functools import cache
from importlib.machinery import PathFinder
from typing import Any


def found(package: str, name: str) -> Any:
    """The kernel of this name, of a backend's package; AttributeError where there is no such file."""
    family = f"{package}.{name.removesuffix('_backward')}"
    if name[0] == "_" or not _has_file(family):
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    module = importlib.import_module(family)
    if not hasattr(module, name):
        return module
    kernels = kernels_of(family)
    vars(sys.modules[package]).update(kernels)  # in the place of the module, which Python has put there
    return kernels[name]


def kernels_of(family: str) -> dict[str, Any]:
    """The kernels of a file: the public functions that it defines."""
    names = vars(importlib.import_module(family))
    return {name: value for name, value in names.items() if getattr(value, "__module__", "") == family and name[0] != "_"}


@cache
def _has_file(family: str) -> bool:
    """Whether the package has a module of this name; the finders that programs install are not asked."""
    return PathFinder.find_spec(family, sys.modules[family.rpartition(".")[0]].__path__) is not None
