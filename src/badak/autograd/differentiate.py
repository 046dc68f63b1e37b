"""grad and backward: gradients of several outputs with respect to several inputs."""

import warnings
from collections.abc import Sequence
from typing import Any

from badak.autograd.graph import GradientEdge
from badak.core.errors import GraphError, ShapeError, tr
from badak.core.modes import modes
from badak.ops.rows import Rows
from badak.tensor import Tensor, stack
from badak.tensor import vmap as batching
from badak.tensor.backward import backward as _backward
from badak.tensor.backward import walk_back
from badak.tensor.convert import cast
from badak.tensor.create import zeros_like
from badak.tensor.of_values import OfValues


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Sequence[Tensor] | Sequence[int] | Sequence[GradientEdge] | None = None,
) -> None:
    """Add the sum of the gradients of `tensors` to the leaves they depend on."""
    tensors = _as_list(tensors)
    gradients = _as_list(grad_tensors if grad_tensors is not None else grad_variables) or [None] * len(tensors)
    _backward(tensors, gradients, retain_graph, create_graph, inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple:
    """d outputs / d inputs, as a tuple of tensors; nobody's .grad changes.

        grad[i] = sum_o grad_outputs[o] d outputs[o] / d inputs[i]

    With create_graph the gradients have a history, so that they can be differentiated themselves.
    An input that no output depends on raises, or gives None with allow_unused=True, or zeros with materialize_grads=True.

    Args:
        outputs: one tensor or several
        inputs: what is differentiated by: tensors, or edges of get_gradient_edge
        grad_outputs: d loss / d outputs; 1 for single values
        retain_graph: keep what was saved
        create_graph: the gradients have a history
        only_inputs: True; PyTorch takes nothing else
        allow_unused: None for an input that no output depends on
        is_grads_batched: grad_outputs have a leading axis of rows, and so have the gradients: one walk for all rows
        materialize_grads: zeros in place of None

    Returns: a tuple, one tensor for each input

    Example:
        >>> x = badak.tensor(3.0, requires_grad=True)
        >>> badak.autograd.grad(x * x, x)[0].item()
        6.0
    """
    if not only_inputs:
        warnings.warn("only_inputs argument is deprecated and is ignored now (defaults to True).", FutureWarning, stacklevel=2)
    outputs, inputs = _as_list(outputs), [inputs] if isinstance(inputs, GradientEdge) else _as_list(inputs)
    if not inputs:
        raise GraphError("`inputs` argument to `grad()` cannot be empty.", "grad(loss, list(model.parameters()))")
    gradients = _as_list(grad_outputs) or [None] * len(outputs)
    if is_grads_batched:
        return _by_rows(outputs, inputs, gradients, retain_graph, create_graph, allow_unused, materialize_grads)
    edges = [x._edge() for x in inputs]
    for i, edge in enumerate(edges):
        if edge is None:
            cause = tr("One of the differentiated Tensors does not require grad (inputs[{}])", i)
            raise GraphError(cause, "x.requires_grad_() before it is used")
    if modes.batching or modes.one_by_one:
        retain_graph = True  # PyTorch walks once for all examples
    found = _of_all_examples(outputs, gradients, edges) if modes.batching and not create_graph else None
    if found is None:
        found = walk_back(outputs, gradients, retain_graph, create_graph, edges)
    made = []
    for i, (x, dx) in enumerate(zip(inputs, found, strict=True)):
        if dx is None and not (allow_unused or materialize_grads):
            cause = tr("One of the differentiated Tensors appears to not have been used in the graph (inputs[{}]{}). Set "
                       "allow_unused=True if this is the desired behavior.", i,
                       "" if isinstance(x, GradientEdge) else tr(", shape {}", tuple(x.shape)))  # fmt: skip
            raise GraphError(cause, "allow_unused=True gives None there")
        if isinstance(x, GradientEdge):
            if dx is None and materialize_grads:
                cause = tr("materialize_grads cannot be used when the given input is a GradientEdge (inputs[{}])", i)
                raise GraphError(cause, "the tensor itself, whose shape is known, or allow_unused=True alone")
            made.append(
                dx if dx is None or isinstance(dx, Tensor) else Rows.as_tensor(dx) if type(dx) is Rows else Tensor._of(dx.copy())
            )
        elif dx is None:
            like = x._entries if isinstance(x, OfValues) else x
            made.append(zeros_like(like, requires_grad=create_graph) if materialize_grads else None)
        elif create_graph:
            made.append(cast(dx, x.dtype))
        elif isinstance(dx, Tensor):
            made.append(dx)
        elif type(dx) is Rows:
            made.append(Rows.as_tensor(dx))
        else:
            made.append(cast(Tensor._of(dx), x.dtype, copy=True))
        if isinstance(x, OfValues) and made[-1] is not None:
            made[-1] = x.same_values(made[-1])
    return tuple(made)


def _of_all_examples(outputs: list, gradients: list, edges: list) -> list | None:
    """One walk for all gradients of a vmap, so that a program's own backward runs once; None where a backward is no formula."""
    if all(batching.level_of(dy) is None for dy in gradients):
        return None
    try:
        found = walk_back(outputs, gradients, True, True, edges)
    except GraphError:
        return None
    return [dx.detach() if isinstance(dx, Tensor) else dx for dx in found]


def _by_rows(outputs: list, inputs: list, gradients: list, retain_graph, create_graph, allow_unused, materialize_grads) -> tuple:
    """grad for each row of the gradients, one walk for all; one for each where an operation's backward is no formula."""
    for i, (y, dy) in enumerate(zip(outputs, gradients)):
        if dy is None or dy.shape[1:] != y.shape:
            got = "None" if dy is None else tr("shape {}", tuple(dy.shape))
            cause = tr("If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension: "
                       "expected grad_outputs[{}] to have a first dim of rows, and then the dims of outputs[{}], {}; got {}",
                       i, i, tuple(y.shape), got)  # fmt: skip
            raise ShapeError(cause, "badak.eye(n) for an output of n numbers")
    size = len(gradients[0])
    if any(len(dy) != size for dy in gradients):
        raise ShapeError(tr("grad(is_grads_batched=True): as many rows in each; got {}", [len(dy) for dy in gradients]), None)
    options = {"allow_unused": allow_unused or materialize_grads}
    try:
        with batching.examples(size, "different") as level:
            rows = [batching.wrap(dy, level) for dy in gradients]
            found = grad(outputs, inputs, rows, True, True, **options)
            made = [None if dx is None else batching.expose(dx, level) for dx in found]
        made = [None if dx is None else dx if create_graph else dx.detach() for dx in made]
    except (GraphError, batching.Unbatched):
        each = [grad(outputs, inputs, list(row), True, create_graph, **options) for row in zip(*gradients)]
        made = [None if dxs[0] is None else stack(dxs) for dxs in zip(*each)]
    if not (create_graph if retain_graph is None else retain_graph):
        grad(outputs, inputs, [dy[0] for dy in gradients], False, allow_unused=True)  # which lets go of what was saved
    return tuple(zeros_like(x) if dx is None and materialize_grads else dx for x, dx in zip(inputs, made))


def _as_list(tensors) -> list:
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)
