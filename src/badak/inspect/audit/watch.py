"""One forward, watched: what every submodule was given and gave, and who sees whom in the attentions.

The forward of each module is wrapped while it runs, so that a submodule that is called as `module.forward(x)` is seen as well.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from badak.core import events
from badak.core.events import Observer
from badak.nn import Module
from badak.ops.attention import Attention
from badak.ops.embedding import Embedding
from badak.ops.softmax import Softmax
from badak.tensor import Tensor

HIDDEN = -1e3  # a score that is at most this is hidden; masks of -1e4 are added to scores that may be above 0


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


class Seen(NamedTuple):
    """Which keys an attention lets its queries see, as far as it can be known: (..., T, S), True = seen."""

    path: str
    keep: np.ndarray
    blind: np.ndarray  # (..., T): queries that see nothing


class Lookup(NamedTuple):
    """A table was asked for rows."""

    path: str
    indices: np.ndarray
    vocabulary: int
    table: np.ndarray
    reads: frozenset[str] = frozenset()  # the tensors of the batch that its indices come from, where that is known


class Watch(Observer):
    """`with Watch(model) as watch: model(...)`; `watch.calls` has the calls in the order in which they began.

    edit: {path: function of (output, call) that gives another output}. facts: note attentions and look-ups, too.
    """

    def __init__(self, model: Module, edit: dict[str, Callable] | None = None, facts: bool = False):
        self.model, self.edit, self.facts = model, edit or {}, facts
        self.calls: list[Call] = []
        self.attentions: list[Seen] = []
        self.lookups: list[Lookup] = []
        self.result: Any = None  # what the model gave, and its tensors as arrays
        self.outputs: list[np.ndarray] = []
        self._stack: list[Call] = []
        self._ends = count()
        self._undo: list[tuple] = []

    def __enter__(self) -> "Watch":
        for path, module in self.model.named_modules():
            attributes: dict = module.__dict__
            self._undo.append((attributes, "forward" in attributes, attributes.get("forward")))
            attributes["forward"] = self._watched(path, module)
        if self.facts:
            events.watch(self)
        return self

    def __exit__(self, *error: object) -> None:
        if self.facts:
            events.watch(self, False)
        for attributes, had, forward in self._undo:
            if had:
                attributes["forward"] = forward
            else:
                attributes.pop("forward", None)
        self._undo.clear()

    def _watched(self, path: str, module: Module) -> Callable:
        forward, edit = module.forward, self.edit.get(path)

        def watched(*args, **kwargs):
            parent = self._stack[-1] if self._stack else None
            call = Call(len(self.calls), path, module, parent, arrays_of((args, kwargs)))
            self.calls.append(call)
            if parent is not None:
                parent.children.append(call)
            self._stack.append(call)
            try:
                result = forward(*args, **kwargs)
            except Exception as error:
                error.__dict__.setdefault("badak_module", path)  # the innermost
                raise
            finally:
                self._stack.pop()
            if edit is not None:
                result = edit(result, call)
            call.outputs, call.ended = arrays_of(result), next(self._ends)
            return result

        return watched

    # What operations tell

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        path = self._stack[-1].path if self._stack else ""
        if op is Embedding:
            ids = next(x for x in arrays if x is not None and x.dtype.kind in "iu")
            table = next(x for x in arrays if x is not None and x.dtype.kind not in "iu")
            self.lookups.append(Lookup(path, ids, table.shape[0], table))
        elif op is Attention:
            self._attends(path, saved, arrays, attributes)
        elif op is Softmax and arrays[0].ndim >= 3 and attributes.get("dim", -1) in (-1, arrays[0].ndim - 1):
            scores = arrays[0]
            keep = scores > HIDDEN
            self.attentions.append(Seen(path, keep, np.asarray(~keep.any(axis=-1))))

    def _attends(self, path: str, saved, arrays, attributes) -> None:
        q, k, _, keep, bias, *_ = arrays
        shape = (*q.shape[:3], k.shape[2])
        seen: Any = np.ones(shape[2:], bool)
        if attributes.get("causal") is not None:
            seen = np.tril(seen, attributes["causal"])
        if keep is not None:
            seen = seen & keep
        if bias is not None:
            seen = seen & (bias > HIDDEN)
        self.attentions.append(Seen(path, seen, np.asarray(~np.broadcast_to(seen, shape).any(axis=-1))))


class BackWatch(Observer):
    """What a backward brings to the tables: `tables` has (indices, gradient of the rows that were given)."""

    def __init__(self) -> None:
        self.tables: list[tuple[np.ndarray, np.ndarray]] = []

    def on_backward(self, node, dys, dxs) -> None:
        if node.op is Embedding and node.saved is not None and dys[0] is not None:
            self.tables.append((node.saved.ids, dys[0].copy()))


def arrays_of(value: Any) -> list[np.ndarray]:
    """Copies of the tensors in nested tuples, lists, dicts and objects that are such."""
    return [x._array.copy() for x in tensors_in(value)]


def tensors_in(value: Any, depth: int = 4) -> Iterator[Tensor]:
    """The tensors in nested tuples, lists, dicts, and in objects with named parts, of whatever class."""
    if isinstance(value, Tensor):
        yield value
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each, depth - 1)
    elif depth and isinstance(value, (tuple, list)):
        for each in value:
            yield from tensors_in(each, depth - 1)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from tensors_in(getattr(value, each.name, None), depth - 1)
    elif depth and not isinstance(value, (type, Module, str, bytes, np.ndarray)):
        for each in [*_slots(value), *getattr(value, "__dict__", {}).values()]:
            yield from tensors_in(each, depth - 1)


def _slots(value: Any) -> Iterator[Any]:
    for kind in type(value).__mro__:
        names = getattr(kind, "__slots__", ())
        yield from (getattr(value, name, None) for name in ([names] if isinstance(names, str) else names) if name[:2] != "__")
