"""What `import` asks once badak stands in for torch: torch.<...> is badak.<...>, some names stand elsewhere, and what is
missing gets a placeholder (`import_time.py` says when). `import badak` alone puts no such finder in place.
"""

import importlib
import sys
from functools import lru_cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from badak.core.errors import PACKAGE, StateError, package, tr
from badak.core.public_api.door import Namespace, add_door
from badak.core.public_api.homes import show_as_torch
from badak.core.public_api.import_time import wants_placeholder
from badak.core.public_api.missing import Missing
from badak.core.public_api.table import PLACES, is_module, is_pytorch, place, pytorch_place, reach
from badak.core.public_api.version import version


class Given(Loader):
    """Hands out a module that there is already, under one more name."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def create_module(self, spec: Any) -> Any:
        return None

    def exec_module(self, module: Any) -> None:
        if isinstance(self.module, ModuleType | Namespace) and not hasattr(self.module, "__path__"):
            self.module.__path__ = []  # so that `from it import name` asks the finders for a name that it has not
        if isinstance(self.module, Namespace):
            vars(self.module).setdefault("__spec__", module.__spec__)  # which an import of what is below asks for
        sys.modules[module.__name__] = self.module


class BadakFinder(MetaPathFinder):
    """Asked last for badak.<...>: what stands elsewhere, and stand-ins for what PyTorch has."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if not name.startswith("badak."):
            return None
        dotted = _pytorch_name(name)
        parent, _, last = name.rpartition(".")
        found = getattr(sys.modules.get(parent), last, None)
        if found is None or getattr(type(found), "is_placeholder", False):  # as anything below a placeholder is
            found = _elsewhere(name, dotted) or found
        if found is None and is_pytorch(dotted) and wants_placeholder():
            found = Missing(dotted)
        return _spec(name, found)


def _spec(name: str, found: Any) -> ModuleSpec | None:
    """What the import system gets for what was found; nothing for a class or a function, which is no module."""
    if found is None or isinstance(found, type | FunctionType):
        return None
    add_door(found, f"badak.{name.partition('.')[2]}")
    return ModuleSpec(name, Given(found), is_package=True)


def _pytorch_name(name: str) -> str:
    """What comes after "torch." in PyTorch's name of badak.<...>, whose module may be known by several names."""
    parent, _, last = name.rpartition(".")
    known = _known_as(parent, len(sys.modules))
    return f"{known}.{last}" if known else pytorch_place(name).partition(".")[2]


@lru_cache(maxsize=256)
def _known_as(name: str, modules: int) -> str:
    """What comes after "torch." in the name of a module, while so many are loaded; "" where it is badak's alone.

    Some libraries import within `try`, for each tensor that they write, what is not there: one look at all modules has to do.
    """
    module = sys.modules.get(name)
    known = (key[6:] for key, value in list(sys.modules.items()) if value is module and key.startswith("torch."))
    return next(known, "")


def _elsewhere(name: str, dotted: str) -> Any:
    there = place(name) or PLACES.get(f"badak.{dotted}")
    return reach(there) if there and there != name else None


class TorchDistribution(Distribution):
    """What `importlib.metadata` says of torch, once badak stands in for it: its version, and no files."""

    def read_text(self, filename: str) -> str | None:
        """The metadata of a package that consists of a name and a version."""
        return tr("Metadata-Version: 2.1\nName: torch\nVersion: {}\n", version()) if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Any:
        """Where a file of badak lies."""
        return Path(PACKAGE, path)


class TorchFinder(MetaPathFinder):
    """Asked first for torch and torch.<...>, once badak stands in for it."""

    def find_distributions(self, context: DistributionFinder.Context | None = None) -> list[Distribution]:
        """The distribution named torch, which packages ask for its version."""
        return [TorchDistribution()] if getattr(context, "name", None) == "torch" else []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == "functorch" or name.startswith("functorch."):  # which PyTorch's wheel brings, too
            return _spec(name, reach(f"badak.compat.torch.{name}"))
        if name != "torch" and not name.startswith("torch."):
            return None
        return _spec(name, reach("badak" + name[5:]))


def _load(dotted: str) -> None:
    """Import torch.<dotted>; where PyTorch has a function of that name in its place, as autograd.gradcheck, that stays."""
    parent, _, last = f"torch.{dotted}".rpartition(".")
    before = vars(importlib.import_module(parent)).get(last)
    importlib.import_module(f"torch.{dotted}")
    if before is not None:
        setattr(sys.modules[parent], last, before)


def stand_in_for_torch() -> None:
    """From now on `import torch` gives badak. Raises StateError where the real one is imported already."""
    if package() == "torch":
        return
    if "torch" in sys.modules:
        raise StateError("torch is imported already, so badak cannot stand in for it", "import badak.as_torch first")
    sys.meta_path.insert(0, TorchFinder())
    sys.meta_path.append(BadakFinder())
    torch = importlib.import_module("torch")
    importlib.import_module("badak.distributions")  # which badak loads when it is asked for, and PyTorch at once
    torch.__dict__["torch"] = torch  # annotations say torch.torch.Tensor
    torch.__name__ = "torch"  # libraries that replace functions look for it
    for name in list(sys.modules):  # `import torch` loads these, and programs look for them here
        dotted = name.removeprefix("badak.")
        if name != dotted and dotted.count(".") < 2 and is_module(dotted) and not dotted.startswith("ops"):
            _load(dotted)
    show_as_torch()
