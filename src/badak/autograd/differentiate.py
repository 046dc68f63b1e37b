"""grad and backward: gradients of several outputs with respect to several inputs."""

from badak.core.errors import GraphError
from badak.tensor import Tensor
from badak.tensor.backward import backward as _backward
from badak.tensor.backward import walk_back
from badak.tensor.convert import cast
from badak.tensor.create import zeros_like


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None) -> None:
    """Add the sum of the gradients of `tensors` to the leaves they depend on."""
    tensors = _as_list(tensors)
    gradients = _as_list(grad_tensors if grad_tensors is not None else grad_variables) or [None] * len(tensors)
    _backward(tensors, gradients, retain_graph, create_graph, inputs)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """d outputs / d inputs, as a tuple of tensors; nobody's .grad changes.

        grad[i] = sum_o grad_outputs[o] d outputs[o] / d inputs[i]

    With create_graph the gradients have a history, so that they can be differentiated themselves.
    An input that no output depends on raises, or gives None with allow_unused=True, or zeros with materialize_grads=True.

    Args:
        outputs: one tensor or several
        inputs: what is differentiated by
        grad_outputs: d loss / d outputs; 1 for single values
        retain_graph: keep what was saved
        create_graph: the gradients have a history
        allow_unused: None for an input that no output depends on
        is_grads_batched: grad_outputs have a leading axis of many
        materialize_grads: zeros in place of None

    Returns: a tuple, one tensor for each input

    Example:
        >>> x = badak.tensor(3.0, requires_grad=True)
        >>> badak.autograd.grad(x * x, x)[0].item()
        6.0
    """
    outputs, inputs = _as_list(outputs), _as_list(inputs)
    if not inputs:
        raise GraphError("`inputs` argument to `grad()` cannot be empty.", "grad(loss, list(model.parameters()))")
    gradients = _as_list(grad_outputs) or [None] * len(outputs)
    if is_grads_batched:
        raise GraphError("grad(is_grads_batched=True) is not supported", "call grad once for each row of grad_outputs")
    edges = [x._edge() for x in inputs]
    for i, edge in enumerate(edges):
        if edge is None:
            raise GraphError(
                f"One of the differentiated Tensors does not require grad (inputs[{i}])",
                "x.requires_grad_() before it is used",
            )
    found = walk_back(outputs, gradients, retain_graph, create_graph, edges)
    made = []
    for i, (x, dx) in enumerate(zip(inputs, found, strict=True)):
        if dx is None and not (allow_unused or materialize_grads):
            raise GraphError(
                f"One of the differentiated Tensors appears to not have been used in the graph (inputs[{i}], shape "
                f"{tuple(x.shape)}). Set allow_unused=True if this is the desired behavior.",
                "allow_unused=True gives None there",
            )
        if dx is None:
            made.append(zeros_like(x) if materialize_grads else None)
        elif create_graph:
            made.append(dx.to(x.dtype))
        else:
            made.append(cast(Tensor._of(dx), x.dtype, copy=True))
    return tuple(made)


def _as_list(tensors) -> list:
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)
