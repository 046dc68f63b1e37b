"""Checkpoints of activations: what a block computed inside is forgotten, and computed again when its gradient is wanted."""

from contextlib import nullcontext
from typing import Any

from badak.autograd import Function, backward, enable_grad, is_grad_enabled
from badak.errors import GraphError
from badak.tensor import Tensor, zeros
from badak.tensor.random import fork_rng, get_rng_state, set_rng_state


class _Recompute(Function):
    """forward: y = run(*args), keeping nothing but args.   backward: run again, recorded, and go back through that."""

    @staticmethod
    def forward(ctx, anchor, run, state, *args):
        ctx.run, ctx.state, ctx.args = run, state, args
        return run(*args)

    @staticmethod
    def backward(ctx, *dys):
        if is_grad_enabled():
            raise GraphError(
                "checkpoint: create_graph=True would need what a checkpoint has forgotten",
                "call the function itself where second derivatives are wanted",
            )
        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in ctx.args]
        with enable_grad(), fork_rng() if ctx.state is not None else nullcontext():
            if ctx.state is not None:
                set_rng_state(ctx.state)  # the same dropout as the first time
            made = ctx.run(*args)
        pairs = [(y, dy) for y, dy in zip(made if isinstance(made, tuple) else (made,), dys) if _is_differentiable(y)]
        backward([y for y, _ in pairs], [dy for _, dy in pairs])
        return (None, None, None, *(a.grad if isinstance(a, Tensor) else None for a in args))


def _is_differentiable(y: Any) -> bool:
    return isinstance(y, Tensor) and y.requires_grad


def checkpoint(
    function,
    *args,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn=None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs,
):
    """function(*args, **kwargs), whose inner activations are not kept but computed again in backward.

    The numbers and gradients are those of the plain call, dropout included unless preserve_rng_state=False. Gradients of
    parameters used inside arrive in their .grad; `autograd.grad` with respect to them does not see through a checkpoint.
    """
    if not is_grad_enabled():
        return function(*args, **kwargs)
    anchor = zeros((), requires_grad=True)  # parameters used inside want gradients even where no argument does
    state = get_rng_state() if preserve_rng_state else None
    return _Recompute.apply(anchor, lambda *inner: function(*inner, **kwargs), state, *args)


def checkpoint_sequential(functions, segments: int, input, use_reentrant=None, **kwargs):  # noqa: A002
    """The functions one after the other, in `segments` checkpoints."""
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = -(-len(functions) // segments)
    for start in range(0, len(functions), size):
        part = functions[start : start + size]

        def run(x, part=part):
            for function in part:
                x = function(x)
            return x

        input = checkpoint(run, input, **kwargs)  # noqa: A001
    return input


def set_checkpoint_debug_enabled(enabled):
    """Accepted; there is nothing more to say about a checkpoint."""
    return nullcontext()


def noop_context_fn():
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()
