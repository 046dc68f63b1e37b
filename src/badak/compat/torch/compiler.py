"""torch.compile and its neighbours. Kernels are compiled anyway; what `compile` saves is the Python between them."""

from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from typing import Any

from badak.compiler import Compiled
from badak.core.errors import ArgumentError, ArgumentTypeError, expect_kind, tr
from badak.nn import Module


def compile(  # noqa: A001  (PyTorch's name)
    model: Callable | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable = "inductor",
    mode: str | None = None,
    options: dict | None = None,
    disable: bool = False,
) -> Any:
    """A step that is recorded when it runs and replayed from its fourth call on, with the same bits and less Python.

        @badak.compile
        def step(x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

    model: a function of tensors, a whole training step for instance, or a module, of which calls that need no gradient are
    replayed; a module comes back itself. The tensors of a call may have other values each time. Every other argument, shape and
    number is what it was when that call was recorded, and so is what the Python code reads: globals, closures, attributes, what
    is in containers. It is compared before each replay; another value leads to a new recording. Dropout, optimizers and schedules
    go on as they do without. A step that does more than compute (print, count, append), draws by `random` or NumPy, reads values
    in between (item(), bool(x), x[mask]), keeps a graph or has hooks runs as it is; `fallback_reason` of the result says why.
    Results are copies, and a `.grad` that is looked at is kept.

    fullgraph=True raises GraphError instead of running such a step as it is. disable=True gives back `model`. The other options
    of PyTorch are accepted and change nothing. Raises ArgumentTypeError for what cannot be called, and for an option of a kind or
    a name that PyTorch has not.

    Args:
        model: a function of tensors, or a module
        fullgraph: raise instead of running a step as it is
        dynamic, backend, mode, options: accepted; no effect
        disable: give back `model`

    Returns: a function that computes the same bits; a module comes back itself

    Example:
        >>> model = nn.Linear(4, 1)
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> @badak.compile
        ... def step(x):
        ...     optimizer.zero_grad()
        ...     loss = model(x).square().mean()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> losses = [step(badak.ones(8, 4)).item() for _ in range(5)]
        >>> losses[-1] < losses[0], step.fallback_reason
        (True, '')
    """
    _check_options(dynamic, backend, mode, options)
    if model is None:
        return partial(compile, fullgraph=fullgraph, disable=disable)
    expect_kind(model, Callable, "compile: expected a function or a module; got {}", "badak.compile(step)")
    if disable or isinstance(model, Compiled | type):
        return model
    if isinstance(model, Module):
        model.compile(fullgraph=fullgraph)
        return model
    return Compiled(model, strict=fullgraph)


_MODES = ("default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")
_BACKENDS = (
    "inductor cudagraphs onnxrt openxla tvm eager eager_noexcept pre_dispatch_eager eager_debug aot_eager "
    "aot_eager_decomp_partition aot_eager_default_partitioner ts"
).split()


def _check_options(dynamic, backend, mode, options) -> None:
    """What PyTorch refuses is refused, although none of it changes anything here."""
    if mode and mode not in _MODES:
        raise ArgumentError(tr("compile: Unrecognized mode={}, should be one of: {}", mode, ", ".join(_MODES)), "leave mode out")
    if isinstance(backend, str) and backend not in _BACKENDS:
        raise ArgumentError(tr("compile: Invalid backend: {!r}; badak replays steps itself", backend), "leave backend out")
    if dynamic is not None and type(dynamic) is not bool:
        raise ArgumentTypeError(tr("compile: expected dynamic to be a bool; got {}", type(dynamic).__name__), "leave dynamic out")
    if mode and options:
        raise ArgumentError("compile: Either mode or options can be specified, but both can't be specified at the same time.",
                            "leave both out: they change nothing here")  # fmt: skip
    if options is not None and not isinstance(options, dict):
        raise ArgumentTypeError(tr("compile: expected options to be a dict; got {}", type(options).__name__), "leave options out")


def _itself(thing):
    return thing


def disable(fn: Callable | None = None, recursive: bool = True, **options: Any) -> Callable:
    """The function itself, which then runs as a part of what calls it, or such a decorator."""
    return _itself if fn is None else fn


def is_compiling() -> bool:
    """False."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Nothing: what was recorded is dropped with the function that it belongs to."""


def cudagraph_mark_step_begin() -> None:
    """There are no CUDA graphs."""


def list_backends(*args: Any) -> list[str]:
    """The empty list."""
    return []


@contextmanager
def set_stance(*args: Any, **kwargs: Any) -> Any:
    """A block in which things are compiled otherwise: not at all, as everywhere."""
    yield


allow_in_graph = assume_constant_result = _itself
