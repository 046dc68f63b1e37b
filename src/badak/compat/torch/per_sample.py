"""`torch.nn.utils._per_sample_grad`: a call of a module after whose backward each parameter has a gradient of every example.

PyTorch does it with expanded weights, for a few layers. Here the module runs under `vmap`, with a weight of its own for each
example, so that every layer may stand in it whose examples do not meet.
"""

import functools
from collections.abc import Callable
from typing import Any

from badak.compat.torch.func import functional_call
from badak.compat.torch.pytree import tree_flatten, tree_unflatten
from badak.compat.torch.vmap import vmap
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, StateError, expect_kind, tr
from badak.core.public_api import door as _door
from badak.nn import Module, Parameter
from badak.nn.batch_norm import _BatchNorm
from badak.tensor import Tensor


def call_for_per_sample_grads(
    module: Module, *, batch_size: int | None = None, loss_reduction: str = "sum", batch_first: bool = True
) -> Callable:
    """A function to call in the module's place: after backward, p.grad_sample[i] is the gradient of example i, and p.grad None.

    Every tensor among the arguments has an axis of examples; with batch_size, one that has not so many is the same for all.

    Args:
        module: module whose examples do not meet
        batch_size: how many examples; by default as many as the tensors have
        loss_reduction: "sum", or "mean" where the loss is the mean over the examples
        batch_first: whether the examples are along axis 0 of arguments and results, else 1

    Returns: function of the module's arguments

    Raises:
        StateError: a parameter has a grad_sample already
        NotSupportedError: for batch norm, in which examples meet

    Example:
        >>> model = nn.Linear(2, 1)
        >>> nn.utils._per_sample_grad.call_for_per_sample_grads(model)(badak.eye(2)).sum().backward()
        >>> model.weight.grad_sample.tolist()
        [[[1.0, 0.0]], [[0.0, 1.0]]]
    """
    if loss_reduction not in ("sum", "mean"):
        cause = tr("Expected loss_reduction argument to be sum or mean, got {}", loss_reduction)
        raise ArgumentError(cause, 'loss_reduction="sum"')
    expect_kind(module, Module, "Module passed must be nn.Module, got {}", "a class derived from nn.Module")
    if batch_size is not None and not isinstance(batch_size, int):
        raise ArgumentTypeError(tr("Batch size passed must be None or an integer, got {}", type(batch_size).__name__), "x.shape[0]")
    if batch_size is not None and batch_size < 1:
        raise ArgumentError(tr("Batch size must be positive, got {}", batch_size), "x.shape[0]")
    if any(isinstance(each, _BatchNorm) for each in module.modules()):
        raise NotSupportedError("call_for_per_sample_grads: batch norm mixes the examples", "nn.GroupNorm in its place")
    _expect_none(module)
    axis = 0 if batch_first else 1

    @functools.wraps(module.forward)
    def call(*args: Any, **kwargs: Any) -> Any:
        leaves, spec = tree_flatten((args, kwargs))
        n = _examples(leaves, axis) if batch_size is None else batch_size
        known = {name: p for name, p in module.named_parameters() if p.requires_grad}
        of_each = {name: _of_each(p, n, loss_reduction) for name, p in known.items()}
        many = [i for i, x in enumerate(leaves) if isinstance(x, Tensor) and x.dim() > axis and x.shape[axis] == n]

        def one(weights: dict[str, Tensor], *inputs: Tensor) -> Any:
            full = list(leaves)
            for i, x in zip(many, inputs):
                full[i] = x.unsqueeze(axis)
            args, kwargs = tree_unflatten(full, spec)
            results, made = tree_flatten(functional_call(module, weights, args, kwargs))
            for y in results:
                if not isinstance(y, Tensor) or y.dim() <= axis or y.shape[axis] != 1:
                    cause = tr("call_for_per_sample_grads: a result has no axis of examples")
                    raise NotSupportedError(cause, "compute the loss outside of the module")
            return tree_unflatten([y.squeeze(axis) for y in results], made)

        dims = (0, *(axis for _ in many))
        return vmap(one, dims, axis, "different")(of_each, *(leaves[i] for i in many))

    return call


def _expect_none(module: Module) -> None:
    for name, p in module.named_parameters():
        if getattr(p, "grad_sample", None) is not None:
            raise StateError(tr("{} has a grad_sample already, to which another call would add", name), "p.grad_sample = None")


def _of_each(p: Parameter, n: int, loss_reduction: str) -> Tensor:
    """A weight for each example, whose gradient goes to p.grad_sample."""
    weights = p.detach().expand(n, *p.shape).requires_grad_()

    def keep(gradient: Tensor) -> None:
        gradient = gradient * n if loss_reduction == "mean" else gradient
        before = getattr(p, "grad_sample", None)
        p.grad_sample = gradient if before is None else before + gradient  # type: ignore[attr-defined]

    weights.register_hook(keep)
    return weights


def _examples(leaves: list, axis: int) -> int:
    sizes = [x.shape[axis] for x in leaves if isinstance(x, Tensor)]
    if not sizes:
        raise ArgumentError("Unable to find a tensor in the passed args and kwargs", "batch_size=n")
    one, *others = sorted(set(sizes))
    if others:
        raise ArgumentError(
            tr("When computing batch size, found at least one input with batch size {} and one with batch size {}", one, others[0]),
            "batch_size=n",
        )
    return one


__getattr__, __dir__ = _door("badak.nn.utils._per_sample_grad")
