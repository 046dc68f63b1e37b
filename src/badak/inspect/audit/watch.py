"""One forward, watched: what every submodule was given and gave."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from badak.autograd.hooks import RemovableHandle
from badak.core.events import Observer
from badak.core.tracing import Recorder
from badak.nn import Module, Parameter
from badak.ops.embedding import Embedding
from badak.ops.index import Index
from badak.tensor import Tensor
from badak.tensor.of_values import OfValues


@dataclass
class Call:
    """One call of one module: its place, who called it, copies of what went in and out."""

    index: int
    path: str
    module: Module
    parent: "Call | None"
    inputs: list[np.ndarray] = field(default_factory=list)
    outputs: list[np.ndarray] = field(default_factory=list)
    children: list["Call"] = field(default_factory=list)
    ended: int = 0


class Watch(Recorder):
    """`with Watch(model) as watch: model(...)`; `watch.calls` has the calls in the order in which they began.

    edit: {path: function of (output, call) that gives another output}.
    """

    def __init__(self, model: Module, edit: dict[str, Callable] | None = None):
        super().__init__()
        self.model, self.edit = model, edit or {}
        self.calls: list[Call] = []
        self.result: Any = None  # what the model gave, and its tensors as arrays
        self.outputs: list[np.ndarray] = []
        self._paths = {id(module): path for path, module in model.named_modules()}
        self._ends = count()
        self._edits: list[RemovableHandle] = []

    def __enter__(self) -> "Watch":
        for path, edit in self.edit.items():
            edited = partial(self._edited, edit)
            self._edits.append(self.model.get_submodule(path).register_forward_hook(edited))
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        while self._edits:
            self._edits.pop().remove()

    def _edited(self, edit: Callable, module: Module, args: tuple, output: Any) -> Any:
        return edit(output, self.stack[-1])

    def entered(self, module, args, kwargs) -> Call | None:
        path = self._paths.get(id(module))
        if path is None:
            return None
        parent = self.stack[-1] if self.stack else None
        call = Call(len(self.calls), path, module, parent, arrays_of((args, kwargs)))
        self.calls.append(call)
        if parent is not None:
            parent.children.append(call)
        return call

    def roots(self) -> list[Call]:
        """The calls that no other called: that of the model, mostly."""
        return [call for call in self.calls if call.parent is None]

    def left(self, call, output, error) -> None:
        if error is None:
            call.outputs, call.ended = arrays_of(output), next(self._ends)
        elif isinstance(error, Exception):
            error.__dict__.setdefault("badak_module", call.path)  # the innermost


class BackWatch(Observer):
    """What a backward brings to the tables: `tables` has (indices, gradient of the rows that were given)."""

    def __init__(self) -> None:
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []
        self.leaves: list[Tensor] = []  # that get a gradient, and are no parameters

    def on_accumulate(self, leaf, dy, owned, proceed) -> None:
        if not isinstance(leaf, Parameter):
            self.leaves.append(leaf)
        proceed(dy, owned)

    def on_backward(self, node, dys, dxs) -> None:
        if node.op is Embedding and node.saved is not None and dys[0] is not None:
            self.tables.append((node.saved.ids, dys[0].copy()))
        key = node.saved.key if node.op is Index and node.saved is not None and dys[0] is not None else ()
        ids = key[0] if isinstance(key, tuple) and len(key) == 1 else None
        if isinstance(ids, np.ndarray) and ids.dtype.kind in "iu" and ids.ndim > 1:
            self.tables.append((ids, dys[0].copy()))  # rows of a bare parameter


def within(path: str, module: str) -> bool:
    """Whether a path is that of a module, or of something in it."""
    return module == "" or path == module or path.startswith(f"{module}.")


def arrays_of(value: Any) -> list[np.ndarray]:
    """Copies of the tensors in nested tuples, lists, dicts and objects that are such."""
    return [x._array.copy() for x in tensors_in(value)]


def tensors_in(value: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists, dicts, and in objects with named parts, of whatever class."""
    if isinstance(value, Tensor):
        yield from () if isinstance(value, OfValues) else (value,)
        return
    if getattr(type(value), "is_sliding", False) is True:  # of a cache of transformers: the last places alone, whichever they are
        return
    for each in _parts(value) if depth else ():
        yield from tensors_in(each, depth - 1)


def _parts(value: Any) -> Iterator[Any]:
    """What a container holds, and what stands in the named parts of an object."""
    if isinstance(value, (tuple, list, dict)):
        yield from value.values() if isinstance(value, dict) else value
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (getattr(value, each.name, None) for each in fields(value))
    elif not isinstance(value, (type, Module, str, bytes, np.ndarray)):
        yield from [*_slots(value), *getattr(value, "__dict__", {}).values()]


def _slots(value: Any) -> Iterator[Any]:
    for kind in type(value).__mro__:
        names = getattr(kind, "__slots__", ())
        yield from (getattr(value, name, None) for name in ([names] if isinstance(names, str) else names) if name[:2] != "__")
