"""Checkpoints of activations: what a block computed inside is forgotten, and computed again when its gradient is wanted."""

import weakref
from collections.abc import Callable, Sequence
from contextlib import contextmanager, nullcontext
from enum import IntEnum
from typing import Any

from badak.autograd import enable_grad, is_grad_enabled, node
from badak.autograd.again import Thin
from badak.autograd.node import Node
from badak.compat.torch.pytree import tree_flatten
from badak.core import events
from badak.core.errors import ArgumentError, GraphError, expect_function, expect_kind, tr, warn
from badak.core.modes import anywhere, modes
from badak.ops.op import Saved
from badak.tensor import Tensor
from badak.tensor.casting import Casting
from badak.tensor.dtypes import check_device
from badak.tensor.random import fork_rng, get_rng_state, set_rng_state


class CheckpointError(GraphError):
    """A block did something else when it was computed again."""


class _Forgotten(Saved):
    """What an operation had saved for its backward. Who asks for it lets the whole block compute again."""

    def __init__(self, needs: tuple[bool, ...], block: "_Block"):
        super().__init__(needs)
        self._block = block

    def __getattr__(self, name: str) -> Any:
        block = self.__dict__.pop("_block", None)
        if block is not None:
            block.compute_again()
            return getattr(self, name)
        if "_inner" in self.__dict__:  # it is thin, or a checkpoint within this one has forgotten it again
            return getattr(self._inner, name)
        raise AttributeError(name)


class _Block:
    """One call of a checkpoint: its graph stays as it is, what the nodes had saved goes, and comes back when it is asked for."""

    def __init__(self, run: Callable, args: tuple, keep_state: bool, contexts: tuple):
        self.run, self.args, self.contexts = run, args, contexts
        self.state = get_rng_state() if keep_state else None
        self.casting = modes.casting and modes.casting.twin()
        self.names: list[str] = []
        self.forgotten: list = []  # a weak reference for each node; the graph holds them

    def compute(self) -> Any:
        start = node.now()
        with self.contexts[0]:
            made = self.run(*self.args)
        for each in _nodes_since(start, made):
            self.names.append(each.name)
            if type(each.saved) in (Saved, Thin, _Forgotten):
                each.saved, each.again = _Forgotten(each.saved.needs, self), None
            self.forgotten.append(weakref.ref(each.saved))
        return made

    def compute_again(self) -> None:
        """Give every node that still waits what it had saved."""
        args = [a.detach().requires_grad_(a.requires_grad) if isinstance(a, Tensor) else a for a in self.args]
        with enable_grad(), fork_rng() if self.state is not None else nullcontext():
            if self.state is not None:
                set_rng_state(self.state)  # the same dropout as the first time
            start = node.now()
            with self.contexts[1], _as_then(self.casting):
                made = self.run(*args)
            nodes = _nodes_since(start, made)
        if [each.name for each in nodes] != self.names:
            raise CheckpointError(
                tr("checkpoint: the function did other operations when it was computed again: {}", _first_other(self.names, nodes)),
                "a function that does the same each time it is called with the same arguments",
            )
        for reference, each in zip(self.forgotten, nodes):
            forgotten = reference()
            if type(forgotten) is _Forgotten:
                forgotten.__dict__.pop("_block", None)
                forgotten.__dict__.update(vars(each.saved) if type(each.saved) is Saved else {"_inner": each.saved})


@contextmanager
def _as_then(casting: Casting | None):
    """What autocast did when the block was computed first, or that there was none."""
    before, modes.casting = modes.casting, casting
    anywhere.casting += 1
    try:
        yield
    finally:
        modes.casting = before
        anywhere.casting -= 1


def _nodes_since(start: int, made: Any) -> list[Node]:
    """The nodes made since then that lead to these outputs, in the order in which they were made."""
    pending = [y._edge()[0] for y in tree_flatten(made)[0] if isinstance(y, Tensor) and y.requires_grad]
    found: set = set()
    while pending:
        each = pending.pop()
        if isinstance(each, Node) and each.order > start and each not in found:
            found.add(each)
            pending += [edge[0] for edge in each.edges if edge is not None]
    return sorted(found, key=lambda each: each.order)


def _first_other(names: list[str], nodes: list[Node]) -> str:
    again = [each.name for each in nodes]
    at = next((i for i, pair in enumerate(zip(names, again)) if pair[0] != pair[1]), min(len(names), len(again)))
    before, after = (part[at] if at < len(part) else "nothing" for part in (names, again))
    return tr("{} in the place of {}", after, before)


def checkpoint(
    function: Any,
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable | None = None,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Tensor:
    """function(*args, **kwargs), whose inner activations are not kept but computed again in backward.

    The numbers and gradients are those of the plain call, dropout and autocast included (no dropout with
    preserve_rng_state=False). `use_reentrant` chooses between two ways to them in PyTorch; here there is one, which does all that
    the second does. context_fn() gives two contexts, for the first time and for the time after.
    """
    expect_kind(function, Callable, "checkpoint: expected a function; got {}", "checkpoint(function, *args)")
    _check_options(use_reentrant, context_fn, determinism_check, debug, kwargs)
    _warn_of_reentrance(use_reentrant, args)
    contexts = (context_fn or noop_context_fn)()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    events.user_code(tr("a checkpoint computes its block again"))
    return _Block(lambda *inner: function(*inner, **kwargs), args, preserve_rng_state, contexts).compute()


def _check_options(reentrant: bool | None, context_fn: Callable | None, check: str, debug: bool, kwargs: dict) -> None:
    if reentrant is not False and kwargs:
        raise ArgumentError(tr("Unexpected keyword arguments: {}", ",".join(kwargs)), "use_reentrant=False")
    if reentrant is not False and (debug or context_fn not in (None, noop_context_fn)):
        raise ArgumentError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.", "use_reentrant=False")
    if check not in ("default", "none"):
        cause = tr("determinism_check should be one of ['default', 'none'], but got {}", check)
        raise ArgumentError(cause, 'determinism_check="default"')


def _warn_of_reentrance(reentrant: bool | None, args: tuple) -> None:
    """Say what PyTorch says of its older way, and where that way loses gradients that badak finds."""
    if reentrant is None:
        warn(
            tr("torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly."),
            tr("use_reentrant=False, which does what badak does"),
            kind=UserWarning,
        )
    wants = any(isinstance(x, Tensor) and x.requires_grad for x in args)
    if reentrant is not False and is_grad_enabled() and not wants:
        warn(
            tr("checkpoint: None of the inputs have requires_grad=True. PyTorch gives no gradients then, badak does."),
            tr("use_reentrant=False, with which PyTorch does too"),
            kind=UserWarning,
        )


def checkpoint_sequential(functions: Any, segments: int, input: Tensor, use_reentrant: bool | None = None, **kwargs: Any) -> Tensor:  # noqa: A002
    """The functions one after the other, in `segments` checkpoints."""
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = -(-len(functions) // segments)
    for start in range(0, len(functions), size):
        part = functions[start : start + size]

        def run(x, part=part):
            for function in part:
                x = function(x)
            return x

        input = checkpoint(run, input, use_reentrant=use_reentrant, **kwargs)  # noqa: A001
    return input


def set_checkpoint_debug_enabled(enabled: Any) -> Any:
    """Accepted; there is nothing more to say about a checkpoint."""
    return nullcontext()


def set_checkpoint_early_stop(enable: bool) -> Any:
    """Accepted: a block is computed again to its end, which changes no number."""
    return nullcontext()


class CheckpointPolicy(IntEnum):
    """What a policy says of an operation: to keep its result, or to compute it again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4


def create_selective_checkpoint_contexts(
    policy_fn_or_list: int | Callable | Sequence[int], allow_cache_entry_mutation: bool = False
) -> tuple:
    """The two contexts for context_fn. A policy saves time, and changes no number: here all of the block is computed again.

    Args:
        policy_fn_or_list: function(context, operation, *args), or a list of operations to keep
        allow_cache_entry_mutation: accepted

    Returns: two contexts

    Raises:
        ArgumentTypeError: for anything else

    Example:
        >>> from badak.compat.torch.checkpoint import create_selective_checkpoint_contexts
        >>> len(create_selective_checkpoint_contexts([]))
        2
    """
    if not isinstance(policy_fn_or_list, list):
        expect_function("policy_fn_or_list", policy_fn_or_list)
    return noop_context_fn()


def noop_context_fn() -> tuple:
    """Two contexts that do nothing."""
    return nullcontext(), nullcontext()


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Accelerators among the tensors, and the states of their generators: two empty lists, for there is only the CPU."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: Any = None) -> None:
    """Give accelerators their states back. Raises DeviceError where there is one to give."""
    for device, _ in zip(devices, states):
        check_device(f"cuda:{device}")
