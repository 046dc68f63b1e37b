"""Parameters that a model holds and does not know: the commonest reason why a model does not learn.

A module registers parameters and modules that are its attributes. It cannot see into a plain list or dict, and not at all
into what was only a local name of its `__init__`. Registering them silently would change the keys of its state_dict, so
badak says what it sees instead.
"""

import ast
import inspect
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from badak.core.errors import tr, warn_once
from badak.nn.parameter import Parameter

Containers = Iterable[tuple[Any, str, Any]]  # (module, name, value), as the walk over a model finds plain containers


def warn_of_unregistered(model: Any, containers: Containers) -> None:
    """Warn, once per class and attribute, of lists and dicts of modules or parameters that `model` does not register."""
    for cause, fix, key in forgotten(model, containers):
        warn_once(key, cause, fix, code=17)


def describe_unregistered(model: Any, containers: Containers) -> tuple[str, str | None]:
    """(cause, fix) for a model without a registered parameter: what was found that looks like forgotten ones."""
    cause = tr("no parameters: model {} has none registered.", type(model).__name__)
    for found, fix, _ in forgotten(model, containers):
        return tr("{} {}", cause, found), fix
    for module in model.modules():
        made = _local_modules(type(module))
        if made:
            words = tr(", ").join(tr("{} {} layer{}", n, name, "s" * (n > 1)) for name, n in Counter(made.values()).items())
            where = "" if module is model else f"{type(module).__name__}."
            name = next(iter(made))
            return tr("{} Found {} in local names of {}__init__ (missing self.?).", cause, words, where), f"self.{name} = ..."
    return cause, tr("assign nn.Parameter or modules such as nn.Linear to attributes of self in __init__")


def forgotten(model: Any, containers: Containers) -> list[tuple[str, str, tuple]]:
    """(cause, fix, key) of each plain list, tuple or dict that holds modules or parameters which nobody registered."""
    known = {id(p) for module in model.modules() for p in module._parameters.values()}
    found = []
    for module, name, value in containers:
        items = list(_flat(value))
        modules = [item for item in items if hasattr(item, "_modules")]
        loose = [item for item in items if isinstance(item, Parameter) and id(item) not in known]
        below = {id(p): p for m in modules for sub in m.modules() for p in sub._parameters.values() if p is not None}
        lost = [p for key, p in below.items() if key not in known]
        if lost or loose:
            found.append(_complaint(module, name, value, modules if lost else loose, lost or loose))
    return found


def _flat(value, depth: int = 0) -> Iterator[Any]:
    """What stands in a list, tuple or dict, and in those within it."""
    for item in value.values() if type(value) is dict else value:
        if type(item) in (list, tuple, dict) and depth < 3:
            yield from _flat(item, depth + 1)
        else:
            yield item


def _complaint(module, name: str, value, items: list, lost: list) -> tuple[str, str, tuple]:
    owner, kind = f"{type(module).__name__}.{name}", type(value).__name__
    of_modules = items is not lost
    n, p = len(items), len(lost)
    holder = ("nn.Module" if of_modules else "nn.Parameter") + ("Dict({...})" if kind == "dict" else "List([...])")
    if of_modules:
        cause = tr("{} is a {} with {} modules: their {} parameters are not registered and will not train.", owner, kind, n, p)
    else:
        cause = tr("{} is a {} with {} parameters: they are not registered and will not train.", owner, kind, n)
    return cause, holder + ".", (tr("plain container"), type(module), name)


def _local_modules(cls: type) -> dict[str, str]:
    """{local name: class name} of the modules that `cls.__init__` makes and binds to plain names, as its source has it."""
    init: Any = vars(cls).get("__init__")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(init)))
    except (OSError, TypeError, SyntaxError):
        return {}
    scope = getattr(init, "__globals__", {})
    made = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            target = _resolve(node.value.func, scope)
            for name in node.targets:
                if isinstance(name, ast.Name) and isinstance(target, type) and hasattr(target, "named_modules"):
                    made[name.id] = target.__name__
    return made


def _resolve(node: ast.AST, scope: dict) -> object:
    if isinstance(node, ast.Name):
        return scope.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_resolve(node.value, scope), node.attr, None)
    return None
