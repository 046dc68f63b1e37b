"""`torch._dynamo`, `_inductor`, `_functorch`, `_logging`: settings of a compiler that badak does not have are accepted."""

import copy
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import reduce
from typing import Any, NamedTuple, NoReturn

from badak.autograd import no_grad
from badak.compat.torch.compiler import allow_in_graph as allow_in_graph
from badak.compat.torch.compiler import assume_constant_result as assume_constant_result
from badak.compat.torch.compiler import disable as disable
from badak.compat.torch.compiler import is_compiling as is_compiling
from badak.compat.torch.compiler import reset as reset
from badak.compiler.compiled import Compiled
from badak.core.errors import NotSupportedError, expect_function
from badak.core.events import Observer
from badak.core.public_api.door import Namespace
from badak.nn import Module
from badak.tensor import device as device_of
from badak.tensor.generator import fork_rng


class Settings:
    """Takes any setting and remembers it; a group of settings that was never set is another such object."""

    def __getattr__(self, name: str) -> "Settings":
        if name.startswith("__"):
            raise AttributeError(name)
        made = Settings()
        setattr(self, name, made)
        return made

    def patch(self, arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any) -> "_Patch":
        """For a block or a function: patch("name", value), patch({"group.name": value}), patch(name=value)."""
        return _Patch(self, {arg1: arg2} if isinstance(arg1, str) else arg1 or kwargs)


class _Patch(ContextDecorator):
    """Settings that hold within a block or a function."""

    def __init__(self, settings: Settings, changes: dict[str, Any]):
        self._settings, self._changes = settings, changes
        self._before: list[tuple[Any, dict[str, Any]]] = []

    def __enter__(self) -> None:
        for path, value in self._changes.items():
            *groups, name = path.split(".")
            group = reduce(getattr, groups, self._settings)
            self._before.append((group, dict(vars(group))))
            setattr(group, name, value)

    def __exit__(self, *error: object) -> None:
        for _ in self._changes:
            group, before = self._before.pop()
            vars(group).clear()
            vars(group).update(before)


config = Settings()


def optimize(*args: Any, **kwargs: Any) -> Any:
    """A decorator that gives back what it decorates."""
    return lambda thing: thing


def mark_dynamic(*args: Any, **kwargs: Any) -> None:
    """Nothing is compiled for a shape."""


mark_static = mark_static_address = maybe_mark_dynamic = mark_unbacked = graph_break = mark_dynamic


def set_logs(**levels: Any) -> None:
    """Nothing is logged: `step.fallback_reason` says why a step was not replayed."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """What torch.compile can be told; badak has one compiler, of PyTorch's usual name."""
    return ["inductor"]


class ExplainOutput(NamedTuple):
    """What `explain` found: a program of badak's is one graph, or runs as it is for one reason."""

    graph_count: int
    graph_break_count: int
    op_count: int
    break_reasons: list[str]
    ops_per_graph: list[list[str]]

    def __str__(self) -> str:
        reasons = "".join(f"\n  Break Reason {i}:\n    Reason: {why}" for i, why in enumerate(self.break_reasons, 1))
        head = f"Graph Count: {self.graph_count}\nGraph Break Count: {self.graph_break_count}\nOp Count: {self.op_count}"
        return f"{head}\nBreak Reasons:{reasons}"


class _Operations(Observer):
    eager = True

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        self.names.append(op.name)


def explain(f: Callable, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """`explain(f)(*args)`: whether torch.compile replays f as a whole, and if not, why. f runs once, and copies of it to find out.

    Args:
        f: a module or a function of tensors

    Returns: a function of f's arguments, which gives an ExplainOutput

    Example:
        >>> import badak
        >>> badak._dynamo.explain(badak.sin)(badak.ones(3)).graph_break_count
        0
    """
    expect_function("explain", f)

    def explained(*args: Any, **kwargs: Any) -> ExplainOutput:
        other = copy.deepcopy(f) if isinstance(f, Module) else f
        step = Compiled(lambda *args, **kwargs: other(*args, **kwargs), told=False)
        with warnings.catch_warnings(action="ignore"), fork_rng(), no_grad():
            for _ in range(3):
                step(*args, **kwargs)
        with _Operations() as operations:
            f(*args, **kwargs)
        reasons = [step.fallback_reason] if step.fallback_reason else []
        names = operations.names
        return ExplainOutput(1 + len(reasons), len(reasons), len(names), reasons, [names])

    return explained(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else explained


class OptimizedModule(Module):
    """What PyTorch's compiler makes of a module; badak's gives back the module itself, so nothing is one."""

    def __new__(cls, *args, **kwargs) -> NoReturn:
        raise NotSupportedError("OptimizedModule: badak's compile gives back the module itself", "badak.compile(model)")


class Unsupported(NotSupportedError):
    """PyTorch's error of a program that cannot be traced. badak never raises it."""


def is_compile_supported(device_type: object) -> bool:
    """Whether torch.compile compiles for a device, as torchvision asks before it compiles: for the CPU."""
    return device_of(device_type).type == "cpu"


eval_frame = Namespace(OptimizedModule=OptimizedModule)
exc = Namespace(Unsupported=Unsupported)
utils = Namespace(is_compile_supported=is_compile_supported)
