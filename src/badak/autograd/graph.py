"""`torch.autograd.graph`: what programs ask of the recorded graph itself."""

import threading
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from badak.autograd import saved
from badak.autograd.engine import goes_through
from badak.autograd.hooks import RemovableHandle, function
from badak.autograd.saved import saved_tensors_hooks as saved_tensors_hooks
from badak.core.errors import ArgumentError, StateError, tr
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.tensor import Tensor
from badak.tensor.grad_fn import GradFn, grad_fn

Node = GradFn  # what y.grad_fn is


class save_on_cpu(saved_tensors_hooks):  # noqa: N801  (PyTorch's name)
    """A block whose saved tensors are copies on the CPU. pin_memory is accepted: there is no other device here."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda x: x.clone(), lambda x: x)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Any:
    """A block in which saved_tensors_hooks raises with this message."""
    if saved._active:
        raise StateError(error_message, "outside of saved_tensors_hooks")
    saved._refused.append(error_message)
    try:
        yield
    finally:
        saved._refused.pop()


class allow_mutation_on_saved_tensors(saved_tensors_hooks):  # noqa: N801  (PyTorch's name)
    """A block in which what is saved for a backward may be changed in place: a copy is kept of it. The backward stands in it, too.

    Raises: StateError within another such block

    Example:
        >>> x = badak.ones(2, requires_grad=True)
        >>> with badak.autograd.graph.allow_mutation_on_saved_tensors():
        ...     y = x.clone()
        ...     loss = y.square().sum()
        ...     _ = y.zero_()
        ...     loss.backward()
        >>> x.grad.tolist()
        [2.0, 2.0]
    """

    def __init__(self) -> None:
        super().__init__(lambda x: [x.clone(), self], _open_copy)
        self.alive = True

    def __enter__(self):
        if any(isinstance(each, allow_mutation_on_saved_tensors) for each in saved._active):
            raise StateError("allow_mutation_on_saved_tensors contexts cannot be nested", "leave the outer block first")
        self.alive = True
        return super().__enter__()

    def __exit__(self, *error) -> None:
        super().__exit__(*error)
        self.clear()

    def clear(self) -> None:
        """Give up the graphs that were recorded in this block."""
        self.alive = False


def _open_copy(kept: list) -> Tensor:
    copy, block = kept
    if not block.alive:
        raise ArgumentError(
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally "
            "recorded.",
            "loss.backward() within the block",
        )
    return copy


class GradientEdge(NamedTuple):
    """Where a gradient arrives: a node of the graph, and which of its outputs."""

    node: Any
    output_nr: int

    def _edge(self) -> tuple:
        return self.node._node, self.output_nr

    def _accumulate(self, dx: Any, owned: bool) -> None:
        """Where no leaf ends, a gradient that arrives is nobody's."""


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor that requires a gradient; ArgumentError for any other."""
    if not tensor.requires_grad:
        cause = tr("It is not possible to get the gradient edge for a Tensor that does not require gradients")
        raise ArgumentError(cause, "requires_grad_()")
    node, output_nr = tensor._edge()
    return GradientEdge(grad_fn(node, tensor._of), output_nr)


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a change of its memory that badak could not see."""
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        each._watch().bump("increment_version")


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable, *, mode: str = "all") -> RemovableHandle:
    """Run fn(gradients) when all of these tensors have theirs, or with mode="any" fn(gradient) at the first of them."""
    if mode not in ("all", "any"):
        raise ArgumentError(tr("Expects mode to be one of 'all', 'any' but got {}", mode), 'mode="all"')
    function(fn)
    known = threading.local()  # of the backward under way: itself, the gradients that have come, how many are still to come
    nodes = [t._edge()[0] for t in tensors if t.requires_grad]
    handles = []

    def arrived(i: int, grad: Tensor | None) -> None:
        first = getattr(known, "walk", None) != modes.walk[0]
        if first:
            visited = goes_through()
            known.walk, known.grads, known.left = modes.walk[0], [None] * len(tensors), sum(node in visited for node in nodes)
        known.grads[i] = grad
        known.left -= 1
        if mode == "any" and first:
            fn(grad)
        elif mode == "all" and not known.left:
            fn(known.grads)

    for i, t in enumerate(tensors):
        if t.requires_grad:
            handles.append(t.register_hook(lambda grad, i=i: arrived(i, grad)))
    kept: dict[int, Any] = {}
    whole = RemovableHandle(kept, fn)
    whole.remove = lambda: [each.remove() for each in handles] and None  # type: ignore
    return whole


__getattr__, __dir__ = _door("badak.autograd.graph")
