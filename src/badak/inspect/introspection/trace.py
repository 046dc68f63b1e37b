"""From a function down to its operations, and from an operation down to its kernels."""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from badak.core.public_api import home
from badak.inspect.introspection.names import everything, name_of, space
from badak.inspect.introspection.reading import Reading, read
from badak.inspect.introspection.source import PACKAGE, Place, defined, function_of, place_of, tree_of
from badak.kernels import reference
from badak.nn import Module
from badak.ops.op import Op
from badak.optim import Optimizer
from badak.tensor import Tensor

_CARRIERS = (  # what carries a call and computes nothing of its own: arguments, records, errors, dtypes
    "badak.tensor.apply", "badak.tensor.promote", "badak.tensor.data", "badak.tensor.inplace", "badak.tensor.dtypes",
    "badak.core.events", "badak.core.modes", "badak.core.i18n",
    "badak.core.public_api", "badak.core.errors", "badak.tensor.tensor", "badak.tensor.returns", "badak.compiler",
    "badak.tensor.convert", "badak.tensor.upcast", "badak.tensor.meta", "badak.inspect.introspection", "badak.core.signals",
    "badak.nn.module", "badak.compat.torch.wrapper",
    "badak.autograd", "badak.tensor.anomaly", "badak.tensor.values", "badak.tensor.casting", "badak.nn.parameter", "badak.nn.tree",
    "badak.nn.functional.mask_warnings", "badak.nn.attention_checks", "badak.nn.transformer_checks", "badak.optim.settings",
)  # fmt: skip
_DEEPEST = 8
_FAST = PACKAGE / "kernels" / "numba"


@dataclass
class Trace:
    """Where a function leads: `ops` that it applies itself, `made_of` public names that it calls, kernels that it asks directly."""

    ops: list[type[Op]] = field(default_factory=list)
    made_of: list[str] = field(default_factory=list)
    kernels: list[str] = field(default_factory=list)
    _seen: set = field(default_factory=set)

    def visit(self, function: FunctionType, owner: type | None = None, depth: int = 0) -> None:
        """Follow a function into what it calls, as far as that has no public name."""
        if (function, owner) in self._seen or depth > _DEEPEST:
            return
        self._seen.add((function, owner))
        found = read(function, owner)
        self.ops += [op for op in found.ops if op not in self.ops]
        self.kernels += [name for name in found.kernels if name not in self.kernels]
        for layer in found.layers:
            self.note(layer)
        for each in found.functions:
            inner = owner if owner is not None and _is_method(owner, each) else None
            if inner is None and self.note(each):
                continue
            if (home(function) == home(each) and depth == 0) or not home(each).startswith(_CARRIERS):
                self.visit(each, inner, depth + 1)
        for name in (*found.methods, *found.operators):
            method = getattr(Tensor, name, None)
            if function_of(method) is not None and reaches(method):
                self._add(f"Tensor.{name}")

    def note(self, thing: Any) -> bool:
        """Take note of a public name that is called; False for what has none. What leads to no operation is left out."""
        place, _ = name_of(thing)
        if place not in everything().get(place.rpartition(".")[2], ()):
            return False
        if reaches(thing):
            self._add(place)
        return True

    def _add(self, name: str) -> None:
        if name not in self.made_of:
            self.made_of.append(name)


def _is_method(cls: type, function: FunctionType) -> bool:
    return any(function_of(value) is function for base in cls.__mro__ for value in vars(base).values())


_running: set = set()  # what is being traced, so that a function that calls itself ends


@cache
def _trace(function: FunctionType | type) -> Trace:
    trace = Trace()
    if isinstance(function, type):
        for name in entries(function):
            method = function_of(getattr(function, name))
            if method is not None:
                trace.visit(method, function)
        if issubclass(function, Module):  # the layers that it holds; how their weights begin is another matter
            made = function_of(function.__init__)
            for layer in read(made, function).layers if made else ():  # type: ignore[arg-type]
                trace.note(layer)
    else:
        trace.visit(function)
    own = name_of(function)[0]
    trace.made_of = [name for name in trace.made_of if name != own]
    return trace


def trace_of(thing: Any) -> Trace:
    """The trace of a function, or of what a class does when it is used."""
    own = thing if isinstance(thing, type) else function_of(thing)
    return Trace() if own is None else _trace(own)  # type: ignore[arg-type]


def entries(cls: type) -> list[str]:
    """The methods of a class that do its work: forward of a layer, step of an optimizer; else all that are its own."""
    if issubclass(cls, Module):
        return ["forward"] if cls is not Module else []
    if issubclass(cls, Optimizer):
        return [name for name in ("step", "_update") if hasattr(cls, name)]
    bases = [base for base in cls.__mro__ if home(base).startswith("badak.") and base is not Tensor]
    between = len(bases) > 2 and bases[1].__name__[0] == "_" != bases[2].__name__[0]  # what some families share, below their base
    read = bases[: 2 + between]
    return sorted({name for base in read for name in vars(base) if callable(getattr(cls, name, None)) and name != "__new__"})


def reaches(thing: Any) -> bool:
    """Whether a function or class leads to an operation."""
    own = thing if isinstance(thing, type) else function_of(thing)
    if own is None or own in _running:
        return False
    _running.add(own)
    try:
        trace = _trace(own)  # type: ignore[arg-type]
        return bool(trace.ops or trace.made_of or trace.kernels)
    finally:
        _running.discard(own)


def all_ops(thing: Any, seen: set | None = None) -> set[type[Op]]:
    """The operations of a function, and of all names that it is made of."""
    seen = set() if seen is None else seen
    trace, found = trace_of(thing), set(trace_of(thing).ops)
    for name in trace.made_of:
        if name not in seen:
            seen.add(name)
            found |= all_ops(space(name), seen)
    return found


@cache
def kernels_of(op: type[Op], direction: str) -> Reading:
    """What the forward or the backward of an operation asks for: `kernels`, and functions of `numpy`."""
    found, seen = Reading(), set()

    def visit(function: FunctionType, owner: type | None) -> None:
        if function in seen:
            return
        seen.add(function)
        reading = read(function, owner)
        found.kernels += [name for name in reading.kernels if name not in found.kernels]
        found.numpy += [name for name in reading.numpy if name not in found.numpy]
        for each in reading.functions:
            if home(each).startswith("badak.ops.") and not home(each).startswith("badak.ops._check"):
                visit(each, None)

    for source in op.sources.get(direction, (getattr(op, direction),)):
        function = function_of(source)
        if function is not None and function is not function_of(getattr(Op, direction)):
            visit(function, None)
        elif isinstance(source, np.ufunc):
            found.numpy.append(source.__name__)
    return found


def plain_place(kernel: str) -> Place | None:
    """Where the reference kernel of that name is written; "file.function" for one that the set does not list."""
    file, _, name = kernel.rpartition(".")
    if file:
        return defined(PACKAGE / "kernels" / "reference" / f"{file}.py", name)
    return place_of(getattr(reference, name, None)) if hasattr(reference, name) else None


def fast_places(kernel: str) -> list[tuple[str, Place]]:
    """(name, place) of the fast kernel, and of the compiled functions that it runs; none where it is the reference one."""
    files = [_FAST / f"{kernel.removesuffix('_backward')}.py", *sorted(_FAST.glob("*.py"))]  # its own is asked first
    for path in files:
        if path.is_file() and defined(path, kernel):
            names = [kernel, *_compiled(path, kernel, set())]
            return [(name, place) for name in names if (place := defined(path, name))]
    return []


def _compiled(path: Path, name: str, seen: set[str]) -> list[str]:
    """The compiled functions of a file that one of its functions leads to, in order."""
    nodes = {node.name: node for node in tree_of(path).body if isinstance(node, ast.FunctionDef)}
    found = []
    for each in ast.walk(nodes[name]) if name in nodes else ():
        if isinstance(each, ast.Name) and each.id in nodes and each.id not in seen and each.id != name:
            seen.add(each.id)
            if nodes[each.id].decorator_list:
                found.append(each.id)
            found += _compiled(path, each.id, seen)
    return found
