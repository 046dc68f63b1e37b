"""einops with badak's tensors: its PyTorch backend serves them, once it is told that badak is a framework.

einops looks among the subclasses of its backends for one whose framework is imported. So it is enough that such a class
exists, and it is made when einops is imported, before or after badak.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

_MODULE = "einops._backends"


def teach(backends: ModuleType) -> None:
    """Give einops a backend for badak."""

    class BadakBackend(backends.TorchBackend):  # type: ignore[name-defined]
        """einops' PyTorch backend, over badak."""

        framework_name = "badak"

        def __init__(self):
            self.torch = sys.modules["badak"]

    backends.BadakBackend = BadakBackend  # type: ignore[attr-defined]


class _Teaching(Loader):
    """einops' own loader, and the lesson after it."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name: str):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        teach(module)


class EinopsFinder(MetaPathFinder):
    """Asked first; speaks up only when einops imports its backends."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = PathFinder.find_spec(name, path, target) if name == _MODULE else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Teaching(spec.loader)
        return spec


if _MODULE in sys.modules:
    teach(sys.modules[_MODULE])
else:
    sys.meta_path.insert(0, EinopsFinder())  # type: ignore[arg-type]
