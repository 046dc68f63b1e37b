"""Which module a class says that it comes from, once badak stands in for torch: PyTorch's, where `torch.nn` alone is no answer.

Programs look: `type(layer).__module__`, `str(type(x))`, pickles. badak itself asks `home`, which stays the same.
"""

import sys
from typing import Any

from badak.core.public_api.table import defining_modules, place

_SPACES = "amp autograd distributions nn optim optim.lr_scheduler optim.swa_utils utils.data return_types".split()
_own: dict[Any, str] = {}  # the classes that show another module: their own


def home(thing: Any) -> str:
    """The module that a class or function stands in; "" for what stands in none."""
    try:
        found = _own.get(thing)
    except TypeError:  # it has no hash
        found = None
    return found or getattr(thing, "__module__", None) or ""


def show_as_torch() -> None:
    """From now on badak's public classes show the modules in which PyTorch defines them."""
    badak = sys.modules["badak"]
    for space in ("", *_SPACES):
        public = f"torch.{space}".rstrip(".")
        there = sys.modules.get(place(f"badak.{space}") or public) or vars(badak).get(space)
        known = defining_modules(public)
        for name, value in list(vars(there).items()) if there else ():
            if isinstance(value, type) and value.__name__ == name and value not in _own and name[0] != "_":
                if (module := value.__module__).split(".")[0] == "badak" and (
                    not space or name in known or module != "badak.core.errors"
                ):
                    _own[value] = value.__module__
                    value.__module__ = known.get(name, public)
