"""Which module a class says that it comes from, once badak stands in for torch: PyTorch's, where `torch.nn` alone is no answer.

Programs look: `type(layer).__module__`, `str(type(x))`, pickles. badak itself asks `home`, which stays the same.
"""

import sys
from typing import Any

from badak.core.public_api.table import defining_modules, place

_SPACES = "amp autograd distributions nn optim optim.lr_scheduler optim.swa_utils utils.data return_types".split()
_LATER = """autograd.function autograd.graph cuda.amp fx jit nn.attention.flex_attention nn.utils.parametrize nn.utils.prune
    nn.utils.rnn profiler utils.checkpoint utils.hooks""".split()  # which are loaded when they are asked for
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
    for space in ("", *_SPACES, *_LATER):
        names = place(f"badak.{space}") or f"torch.{space}".rstrip("."), f"badak.{space}"
        _show(space, next(filter(None, map(sys.modules.get, names)), None) or vars(badak).get(space))


def show_later(space: str, module: Any) -> None:
    """The same for the module badak.<space>, which was brought just now."""
    if _own and space in _LATER:
        _show(space, module)


def _show(space: str, there: Any) -> None:
    public = f"torch.{space}".rstrip(".")
    known = defining_modules(public)
    for name, value in list(vars(there).items()) if there else ():
        if isinstance(value, type) and value.__name__ == name and value not in _own and name[0] != "_":
            module = value.__module__
            if module.split(".")[0] == "badak" and (not space or name in known or module != "badak.core.errors"):
                _own[value] = module
                value.__module__ = known.get(name, public)
