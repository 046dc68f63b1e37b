"""The public names, and what each of them stands for."""

import difflib
import inspect
from functools import lru_cache
from types import ModuleType
from typing import Any

import badak
from badak.core.errors import ArgumentError, tr
from badak.core.public_api import home
from badak.inspect.introspection.source import function_of

SPACES = (
    "", "nn.functional", "nn", "optim", "optim.lr_scheduler", "linalg", "fft", "special", "nn.init", "nn.utils", "autograd",
    "distributions", "utils.data", "Tensor",
)  # fmt: skip
_SHORT = {"F": "nn.functional", "functional": "nn.functional", "torch": "", "badak": "", "bk": "", "T": "Tensor"}


def space(dotted: str) -> Any:
    """badak.<dotted>."""
    found: Any = badak
    for part in filter(None, dotted.split(".")):
        found = getattr(found, part)
    return found


def public_names(module: Any) -> list[str]:
    """The names that a namespace offers: not private, not its submodules."""
    if isinstance(module, type):
        return sorted(
            name for base in module.__mro__[:-1] for name in vars(base) if name[0] != "_" and callable(getattr(base, name))
        )
    names = vars(module).get("__all__") or [name for name in vars(module) if not name.startswith("_")]
    things = {name: getattr(module, name) for name in names if not inspect.ismodule(getattr(module, name))}
    if not hasattr(module, "__path__") and "__all__" not in vars(module):  # a file: what it imports is not its own
        own = {name: thing for name, thing in things.items() if home(function_of(thing) or thing) in ("", module.__name__)}
        things = own or things
    return sorted(things, key=str.lower)


@lru_cache(maxsize=1)
def everything() -> dict[str, tuple[str, ...]]:
    """Each public name -> the places below badak where it stands, the most used first."""
    found: dict[str, tuple[str, ...]] = {}
    for dotted in SPACES:
        for name in public_names(space(dotted)):
            place = f"{dotted}.{name}".lstrip(".")
            found[name] = (*found.get(name, ()), *([place] if place not in found.get(name, ()) else []))
    return found


def find(name: str) -> tuple[str, Any, tuple[str, ...]]:
    """(where it stands below badak, what it is, the other places of that name). ArgumentError for an unknown name."""
    *spaces, last = name.strip().removesuffix("()").split(".")
    while spaces and spaces[0] in _SHORT:
        spaces = [*filter(None, _SHORT[spaces[0]].split(".")), *spaces[1:]]
        if spaces[:2] == ["nn", "functional"] or spaces[:1] == ["Tensor"]:
            break
    if spaces:
        dotted = ".".join([*spaces, last])
        try:
            thing = space(dotted)
        except AttributeError:
            thing = None
        if thing is not None and not isinstance(thing, ModuleType):
            return dotted, thing, tuple(place for place in everything().get(last, ()) if place != dotted)
    elif last in everything():
        first, *others = everything()[last]
        return first, space(first), tuple(others)
    near = difflib.get_close_matches(last, everything(), n=4, cutoff=0.6) or difflib.get_close_matches(
        last.lower(), everything(), n=4, cutoff=0.5
    )
    fix = (
        tr("did you mean {}?", ", ".join(everything()[each][0] for each in near))
        if near
        else tr("docs/reference/api lists the public names")
    )
    raise ArgumentError(tr("source: no public name of badak is called {!r}", name[:60]), fix)


def name_of(thing: Any) -> tuple[str, tuple[str, ...]]:
    """The public name of a function or class, and its other places; its own name where it has no public one."""
    own = thing if isinstance(thing, type) else function_of(thing)
    last = getattr(own, "__name__", "")
    places = everything().get(last, ())
    for place in places:
        there = space(place)
        if (there if isinstance(there, type) else function_of(there)) is own:
            return place, tuple(other for other in places if other != place)
    return getattr(own, "__qualname__", type(thing).__name__), ()
