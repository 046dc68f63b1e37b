"""From tensors to a walk through the graph: what backward() checks before it starts."""

import importlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.autograd.engine import backpropagate
from badak.autograd.node import Leaf
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, GraphError, ShapeError, name_of, tr
from badak.core.modes import anywhere, modes
from badak.tensor.batched import Batched
from badak.tensor.dtypes import Size
from badak.tensor.wrapped import walks as walks_of_wrappers

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor


def backward(outputs: Any, gradients: list, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
    """Add the gradients of all `outputs` to the leaves they depend on (to `inputs` only, if given)."""
    if anywhere.has_observers and modes.observer is not None:
        walk = partial(_awaited, outputs, gradients, retain_graph, create_graph, inputs)
        modes.observer.on_backward_pass(outputs, gradients, (retain_graph, create_graph, inputs), walk)
    elif modes.awaiting:
        _awaited(outputs, gradients, retain_graph, create_graph, inputs)
    else:
        _backward(outputs, gradients, retain_graph, create_graph, inputs)


def _awaited(*arguments) -> None:
    """A backward at whose end those that wait are told."""
    modes.walking += 1
    try:
        _backward(*arguments)
    finally:
        modes.walking -= 1
    if not modes.walking:
        for each in modes.awaiting:
            each.end_of_backward()


def _backward(outputs, gradients, retain_graph, create_graph: bool, inputs) -> None:
    if inputs is None:
        walk_back(outputs, gradients, retain_graph, create_graph)
        return
    inputs = [inputs] if hasattr(inputs, "_edge") else list(inputs)  # tensors, or edges of get_gradient_edge
    if not inputs:
        raise ArgumentError("'inputs' argument to backward() cannot be empty.", "leave inputs out to reach every leaf")
    edges = [x._edge() for x in inputs]
    if None in edges:
        cause = tr("can't retain_grad on Tensor that has requires_grad=False: inputs[{}] of backward()", edges.index(None))
        raise GraphError(cause, "x.requires_grad_() before it is used")
    found = walk_back(outputs, gradients, retain_graph, create_graph, edges)
    with _Recording(create_graph):
        for x, (end, _), dx in zip(inputs, edges, found, strict=True):
            if dx is not None:
                (end.accumulate if type(end) is Leaf else x._accumulate)(dx, False)


class _Recording:
    """The grad mode in which a backward and its hooks run: create_graph, whatever the caller's is."""

    def __init__(self, create_graph: bool) -> None:
        self.grad = bool(create_graph)

    def __enter__(self) -> None:
        self.grad, modes.grad = modes.grad, self.grad

    def __exit__(self, *error: object) -> None:
        modes.grad = self.grad


def walk_back(outputs: "Sequence[Tensor]", gradients: list, retain_graph: Any, create_graph: bool, targets: Any = None) -> Any:
    """graph.backpropagate from these tensors on; with create_graph over tensors, so that the gradients have a history."""
    with _Recording(create_graph):
        return _walk_back(outputs, gradients, retain_graph, create_graph, targets)


def _walk_back(outputs, gradients, retain_graph, create_graph: bool, targets):
    if walks_of_wrappers and walks_of_wrappers[0](outputs, gradients):
        return walks_of_wrappers[1](outputs, gradients, retain_graph, create_graph, targets)
    roots = [root(y, dy) for y, dy in zip(outputs, gradients, strict=True)]
    if not create_graph:
        for _, array in roots:
            if type(array) is Batched:  # no arrays that a walk could take
                raise array.complaint()
        spent = [edge[0].saved is None or edge[0].spent for edge, _ in roots if type(edge[0]) is not Leaf]
        try:
            return backpropagate(roots, bool(retain_graph), targets)
        except GraphError as error:
            if error.code == name_of(24) and not any(spent):
                fix = tr(
                    "a state that is carried into the next step: h = h.detach() there. Two losses of one graph: add them, or "
                    "backward(retain_graph=True) the first time"
                )
                raise GraphError(error.cause, fix, code=34) from None
            raise
    recorded = [(edge, _tensor(dy, array, y)) for (edge, array), y, dy in zip(roots, outputs, gradients)]
    higher = importlib.import_module("badak.tensor.double_backward")  # which few programs need
    return higher.backpropagate(recorded, retain_graph is None or bool(retain_graph), targets)


def _tensor(dy, array, like):
    """The gradient to start from, with its history where it has one."""
    if not hasattr(dy, "_edge"):
        return like._of(array)
    return importlib.import_module("badak.tensor.convert").cast(dy, like.dtype)  # a class of the program may have its own `to`


def root(y: "Tensor", dy: Any) -> tuple:
    """(edge, gradient array) to start a walk from."""
    edge = y._edge()
    if edge is None:
        raise importlib.import_module("badak.tensor.missing_grad").complaint(y)  # which reads the program
    if dy is None:
        if y._array.size != 1:
            cause = tr("grad can be implicitly created only for scalar outputs; this one has shape {}", tuple(y.shape))
            raise GraphError(cause, "reduce it (loss.mean()), or pass backward(gradient=...) of that shape")
        if y._array.dtype.kind == "c":
            cause = tr("grad can be implicitly created only for real scalar outputs but got {}", y.dtype)
            raise GraphError(cause, "loss.real or loss.abs(), or pass backward(gradient=...)")
        if y._array != y._array:
            importlib.import_module("badak.tensor.nan_loss").warn_of_nan(edge[0])
        one = np.ones_like(y._array)
        events.constant(one)
        return edge, one
    if not hasattr(dy, "_array"):
        cause = tr("gradients can be either Tensors or None, but got {}", type(dy).__name__)
        raise ArgumentTypeError(cause, "badak.tensor(gradient)")
    given = dy._array
    array = given if type(given) is Batched else np.asarray(given)
    if array.shape != y._array.shape:
        cause = tr(
            "Mismatch in shape: grad_output[0] has a shape of {} and output[0] has a shape of {}.",
            Size(array.shape),
            Size(y._array.shape),
        )
        raise ShapeError(cause, "pass a gradient of the output's shape")
    if (array.dtype.kind == "c") != (y._array.dtype.kind == "c"):
        cause = tr("For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
                   "grad_output[0] has a dtype of {} and output[0] has a dtype of {}.", dy.dtype, y.dtype)  # fmt: skip
        raise DTypeError(cause, "gradient.to(output.dtype), or gradient.real")
    return edge, array if type(array) is Batched else array.astype(y._array.dtype, copy=False)
