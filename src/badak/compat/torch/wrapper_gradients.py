"""Gradients of wrappers (`wrapper.py`): a node remembers the call, and its backward goes to the class as the operations that the
gradient is made of, or as one function that computes the call again.
"""

import importlib
import weakref
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from badak.autograd.differentiate import grad
from badak.compat.torch.aten import Called, OpOverload
from badak.core.errors import GraphError, tr
from badak.core.modes import modes
from badak.core.nests import changed, inside
from badak.ops.op import NotRecordable, Saved
from badak.tensor import Tensor
from badak.tensor.apply import record
from badak.tensor.attributes import held_by, slots_of
from badak.tensor.double_backward.array import Recorded, tensor_of
from badak.tensor.double_backward.saved import SavedAgain, joined
from badak.tensor.double_backward.walk import backpropagate, walk
from badak.tensor.meta_storage import description
from badak.tensor.wrapped import NoMemory, is_wrapper

LINEAR = frozenset("chunk clone repeat select slice split split_with_sizes squeeze t unsqueeze".split())  # constant gradients
asking: list[Callable] = []  # what makes a private function one that asks the classes of wrappers: `wrapper.py` puts it here


def recorded(told: Called, result: Any, op: Any) -> Any:
    """The results with a node that remembers the call."""
    overload, _, args, kwargs = told
    inputs = list({id(x): x for x in inside((args, kwargs), Tensor)}.values())
    outputs = result if isinstance(result, tuple | list) else (result,)
    fresh = [_apart(y, inputs) for y in outputs]
    if any(isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex()) for y in fresh):
        saved = _Call(told, inputs, fresh, op)
        edges = [x._edge() for x in inputs]
        made = [y if isinstance(y, Tensor) else None for y in fresh]
        record(_Dispatched(overload), saved, edges, made)
        saved.node = next(weakref.ref(y._node) for y in made if y is not None and y._node is not None)
    if hasattr(outputs, "_fields"):
        return type(outputs)(*fresh)
    return type(outputs)(fresh) if isinstance(result, tuple | list) else fresh[0]


def _apart(y: Any, inputs: list) -> Any:
    """A result, or a new tensor of the same, where it is one of the inputs."""
    if not any(y is x for x in inputs):
        return y
    if not is_wrapper(y):
        return Tensor._of(y._array)
    made: Any = object.__new__(type(y))
    held_by(made).update(vars(y))
    for name, value in slots_of(y).items():
        setattr(made, name, value)
    made._array = y._array
    return made


class _Call:
    """What a node remembers: the call, its tensors and its results."""

    def __init__(self, told: Called, inputs: list, outputs: list, op: Any):
        self.told, self.op = told, op
        self.needs = tuple(x.requires_grad for x in inputs)
        self.values = [_plain(x) for x in inputs]  # without history, which the edges have
        self.outputs = [_plain(y) if isinstance(y, Tensor) else y for y in outputs]
        self.node: Any = None  # a weak reference to it
        self._put(dict(zip(map(id, inputs), self.values)))

    def _put(self, by: dict[int, Tensor]) -> None:
        """Let tensors, by their ids, have others in their places."""
        if self.op is not None:
            self.op = self.op[0], tuple(None if x is None else by.get(id(x), x) for x in self.op[1]), self.op[2]
        args, kwargs = changed((self.told.args, self.told.kwargs), Tensor, lambda x: by.get(id(x), x))
        self.told = self.told._replace(args=args, kwargs=kwargs)

    def with_history(self) -> "_Call":
        """The same, whose tensors lead to where they came from: for a gradient that is differentiated itself."""
        node, made = self.node(), copy(self)
        made.values = [joined(_plain(x), edge) for x, edge in zip(self.values, node.edges)]
        made._put(dict(zip(map(id, self.values), made.values)))
        floats = [isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex()) for y in self.outputs]
        made.outputs = [joined(_plain(y), (node, i)) if known else y for i, (y, known) in enumerate(zip(self.outputs, floats))]
        return made


def _plain(x: Tensor) -> Tensor:
    """The tensor without its history."""
    return _apart(x, [x])


class _Dispatched:
    """The operation of such a node, as the walks call it."""

    owns_grads = view = False
    overwrites, again, light_for, thins = "", (), (), None
    saves_no_tensors = False
    saved_functions: dict = {}

    def __init__(self, overload: OpOverload):
        self.name = self.__name__ = overload.overloadpacket.__name__

    def of_tensors(self, saved: _Call, *dys: Tensor | None) -> tuple:
        """The gradients of the inputs: of a formula, or of the call made again."""
        if modes.grad and self.name not in LINEAR:
            saved = saved.with_history()
        if saved.op is not None:
            try:
                return _by_formula(saved, dys)
            except (NotRecordable, NoMemory, TypeError, ValueError, AttributeError, LookupError):
                pass
        return _by_call(saved, dys)


def _by_call(saved: _Call, dys: tuple) -> tuple:
    """The gradients by a function of its own, which runs the call again on the tensors that are wrapped."""
    overload, function, args, kwargs = saved.told
    places = {id(x): i for i, x in enumerate(saved.values)}
    higher = modes.grad

    def backward(dys: list, inputs: list) -> list:
        leaves = [
            x if not need or (higher and x.requires_grad) else x.detach().requires_grad_() for x, need in zip(inputs, saved.needs)
        ]
        by = {key: leaves[i] for key, i in places.items()}
        before, modes.grad = modes.grad, True
        try:
            now, named = changed((args, kwargs), Tensor, lambda x: by.get(id(x), x))
            made = function(*now, **named)
            outputs = made if isinstance(made, tuple | list) else (made,)
            pairs = [(y, dy) for y, dy in zip(outputs, dys) if dy is not None and isinstance(y, Tensor) and y.requires_grad]
            wanted = [x for x, need in zip(leaves, saved.needs) if need]
            if not pairs:
                return [None] * len(wanted)
            return list(grad([y for y, _ in pairs], wanted, [dy for _, dy in pairs], allow_unused=True, create_graph=higher))
        finally:
            modes.grad = before

    found = iter(asking[0](f"{overload.overloadpacket.__name__}_backward", backward)(list(dys), saved.values))
    return tuple(next(found) if need else None for need in saved.needs)


class _Again(SavedAgain):
    """What the forward would have saved: of arrays without numbers, so that an input or an output is found, and nothing else."""

    def __init__(self, op: Any, inputs: tuple, outputs: list, attributes: dict, needs: tuple):
        self._op, self.needs = op, needs
        self._attributes = attributes
        arrays = [None if x is None else _sizes(x) for x in inputs]
        self._saved = Saved(needs)
        made = op.forward(self._saved, *arrays, **attributes)
        results = made if type(made) is tuple else (made,)
        self._known = [(array, x) for array, x in [*zip(arrays, inputs), *zip(results, outputs)] if array is not None]

    def array(self, name: str) -> Any:
        return getattr(self._saved, name)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._saved, name)
        if isinstance(value, np.ndarray):
            found = next((x for array, x in self._known if array is value), None)
            if found is None:
                raise NotRecordable(f"its {name}")
            return Recorded(found)
        if isinstance(value, np.generic | float | complex) and not any(value is each for each in self._attributes.values()):
            raise NotRecordable(f"its {name}")
        return value


def _sizes(x: Tensor) -> np.ndarray:
    """An array like that of a tensor, without its numbers."""
    array: Any = x._array
    return description(array.shape, array.dtype, array.strides) if array.size else np.empty(array.shape, array.dtype)


def _by_formula(saved: _Call, dys: tuple) -> tuple:
    """The gradients by the backward of the operation, each step of which is asked for."""
    op, inputs, attributes = saved.op
    if op.saved_functions or op.saved_constants or op.sized_by_values:
        raise NotRecordable(op.name)
    places = {id(x): i for i, x in enumerate(saved.values)}
    needs = tuple(x is not None and saved.needs[places[id(x)]] for x in inputs)
    again = _Again(op, inputs, saved.outputs, attributes, needs)
    made = (op.double_backward or op.backward)(again, *[None if dy is None else Recorded(dy) for dy in dys])
    made = made if type(made) is tuple else (made,)
    found: list = [None] * len(saved.values)
    for x, need, dx in zip(inputs, needs, made, strict=True):
        if need and dx is not None:
            at, dx = places[id(x)], tensor_of(dx)
            found[at] = dx if found[at] is None else found[at] + dx
    return tuple(found)


def in_graph(outputs: Any, gradients: Any) -> bool:
    """Whether a wrapper is met on the way back from these."""
    if any(isinstance(x, Tensor) and is_wrapper(x) for x in (*outputs, *gradients)):
        return True
    seen = {edge[0] for y in outputs if (edge := y._edge()) is not None}
    pending = list(seen)
    while pending:
        node = pending.pop()
        if type(getattr(node, "op", None)) is _Dispatched:
            return True
        new = {edge[0] for edge in node.edges if edge is not None} - seen
        seen |= new
        pending += new
    return False


def walk_back(outputs: Any, gradients: Any, retain_graph: Any, create_graph: bool, targets: Any = None) -> Any:
    """The walk back through a graph with wrappers: over tensors."""
    roots = []
    for y, dy in zip(outputs, gradients, strict=True):
        edge = y._edge()
        if edge is None:
            raise importlib.import_module("badak.tensor.missing_grad").complaint(y)
        if dy is None:
            if y.numel() != 1:
                cause = tr("grad can be implicitly created only for scalar outputs; this one has shape {}", tuple(y.shape))
                raise GraphError(cause, "reduce it (loss.mean()), or pass backward(gradient=...) of that shape")
            dy = importlib.import_module("badak").ones_like(y)
        roots.append((edge, dy))
    if create_graph:
        return backpropagate(roots, retain_graph is None or bool(retain_graph), targets)
    return walk(roots, bool(retain_graph), targets, _gradients)


def _gradients(node: Any, dys: list) -> tuple:
    """The gradients of a node's inputs, as tensors."""
    node.check()
    if hasattr(node.op, "around"):  # hooks of its grad_fn
        return node.op.around(partial(_gradients_of, node, node.op.inner), tuple(dys))
    return _gradients_of(node, node.op, dys)


def _gradients_of(node: Any, op: Any, dys: Any) -> tuple:
    if hasattr(op, "of_tensors"):
        return op.of_tensors(node.saved, *dys)

    def backward(*dys: Any) -> Any:
        made = op.backward(node.saved, *[None if dy is None else dy._array for dy in dys])
        return [None if dx is None else Tensor._of(np.asarray(dx)) for dx in (made if type(made) is tuple else (made,))]

    if any(dy is not None and is_wrapper(dy) for dy in dys):
        return tuple(asking[0](f"{op.name}_backward", backward)(*dys))
    return tuple(backward(*dys))
