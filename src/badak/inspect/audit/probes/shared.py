"""One layer twice: a stack whose layers are one module."""

import re

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.inspect.audit.watch import Call, within
from badak.nn import Module
from badak.nn.containers import ModuleDict, ModuleList, Sequential
from badak.nn.embedding import Embedding

MEANT = re.compile(r"share|albert|universal|recurren|recurs|recycl|loop", re.IGNORECASE)
FIX = tr("make each layer again: nn.ModuleList([Layer() for _ in range(n)]), not [layer] * n")


def ask(subject: Subject) -> list[Finding]:
    """Look for one module under two names of a list, for one map or norm under two of a block, and for one with an attention that
    is given what it gave just before."""
    found, seen = [], set()
    for path, module in subject.model.named_modules():
        listed = isinstance(module, (ModuleList, Sequential, ModuleDict))
        first: dict[int, str] = {}
        again: dict[str, list[str]] = {}
        for name, child in module._modules.items():
            if child is None or not any(True for _ in child.parameters()):
                continue
            if not listed and not serves_twice(subject, path, child):
                continue
            where = f"{path}.{name}".lstrip(".")
            if id(child) in first:
                again.setdefault(first[id(child)], []).append(where)
                seen.add(id(child))
            else:
                first[id(child)] = where
        found += [twice(one, others) for one, others in again.items()]
    return found + called_again(subject, seen)


def called_again(subject: Subject, seen: set[int]) -> list[Finding]:
    """Modules that were called with what they gave."""
    found = []
    for path, count in chains(subject).items():
        module = subject.model.get_submodule(path)
        if id(module) in seen:
            continue
        if meant(subject.model, module, path):
            subject.notes.append(tr("{} is called {} times in a row, as its name says: one layer's weights for all", path, count))
            continue
        cause = tr("{} is called {} times in a row, each time with what it gave: one layer's weights for all of them", path, count)
        fix = tr("{}; where it is meant, as in ALBERT, say so in a name or a docstring: shared_layer", FIX)
        found.append(Finding("shared", path, cause, fix, {"calls": count}))
    return found


def serves_twice(subject: Subject, path: str, module: Module) -> bool:
    """Whether a map or a norm is called twice by the module that holds it; a second name alone may be for convenience."""
    if any(True for _ in module.children()) or isinstance(module, Embedding):
        return False
    holder = type(subject.model.get_submodule(path))
    if any(MEANT.search(word) for word in (path, holder.__name__, holder.__doc__ or "")):
        return False
    calls = [call for call in subject.reference.calls if call.module is module and call.parent is not None]
    parents = [call.parent.index for call in calls if call.parent is not None and call.parent.path == path]
    return len(parents) > len(set(parents))


def twice(one: str, others: list[str]) -> Finding:
    several = tr("{} and {} are one module: {} layers with the weights of one", one, ", ".join(others), len(others) + 1)
    return Finding("shared", others[0], several, FIX, {"names": len(others) + 1, "first": one})


def chains(subject: Subject) -> dict[str, int]:
    """{path: how often} of modules with an attention that were called in a row, with the very numbers that they gave."""
    attends = {each.path for each in subject.reference.attentions}
    count: dict[str, int] = {}
    last: dict[tuple[int, str], Call] = {}
    for call in subject.reference.calls:
        if not call.path or not any(within(each, call.path) for each in attends):
            continue
        key = (-1 if call.parent is None else call.parent.index, call.path)
        before = last.get(key)
        last[key] = call
        if before is not None and given(before, call):
            count[call.path] = count.get(call.path, 1) + 1
    return {path: n for path, n in count.items() if not any(path.startswith(other + ".") for other in count)}


def given(before: Call, call: Call) -> bool:
    """Whether a call was given what the one before it gave."""
    if not before.outputs or not call.inputs or before.outputs[0].ndim < 3:
        return False
    return np.array_equal(before.outputs[0], call.inputs[0])


def meant(model: Module, module: Module, path: str) -> bool:
    """Whether names or docstrings say that a layer is shared."""
    config = getattr(model, "config", None)
    kinds = [kind for kind in (type(model), type(module)) if not kind.__module__.startswith("badak.")]
    words = [path, *(kind.__name__ for kind in kinds), *(kind.__doc__ or "" for kind in kinds)]
    words += [name for name in (*vars(model), *vars(model)["_modules"], *getattr(config, "__dict__", {})) if "embed" not in name]
    return any(MEANT.search(word) for word in words) or hasattr(config, "num_hidden_groups")
