"""`torch.jit.script`: a copy of a module, or a function, whose Python runs as it is written, with `is_scripting()` true.

A script keeps the inputs it last saw, so that it can be written into a file: as the trace of a run on them (`jit.py`). It holds no
branch on data, which is refused, and varies no size that a branch may depend on (`tracing/branches.py`).
"""

import copy
import functools
import importlib
import inspect
import io
import textwrap
import threading
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.compat.torch.pytree import tree_flatten, tree_unflatten
from badak.compat.torch.tracing.calls import CallGraph, recorded
from badak.compat.torch.tracing.record import is_tracing
from badak.compat.torch.tracing.twin import twin_of
from badak.core.errors import NotSupportedError, StateError, expect_kind, tr
from badak.nn import Module
from badak.nn.parameter import is_lazy
from badak.tensor import Tensor

UNUSED = "unused (ignore and replace with raising an exception)"
IGNORED = "ignore (leave as a call to Python, cannot be torch.jit.save'd)"
DROPPED = "unused (dropped)"
EXPORTED = "export (compile this function even if nothing calls it)"


class Error(Exception):
    """What a script raises or asserts itself, as PyTorch's interpreter tells it; the program's own exception is its cause."""


class _State(threading.local):
    scripting = False


_state = _State()


def is_scripting() -> bool:
    """Whether a scripted module or function is running."""
    return _state.scripting


def _as(scripting: bool, function: Callable, *args: Any, **kwargs: Any) -> Any:
    before, _state.scripting = _state.scripting, scripting
    try:
        return function(*args, **kwargs)
    finally:
        _state.scripting = before


def _run(script: Any, function: Callable, args: tuple, kwargs: dict) -> Any:
    if _state.scripting:
        return function(*args, **kwargs)
    if not is_tracing():
        keep(script, args, kwargs)
    try:
        return _as(True, function, *args, **kwargs)
    except Exception as error:
        *_, (frame, _) = traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").split(".")[0] == "badak":  # an operation, or what vmap and others are told by
            raise
        what = "".join(traceback.format_exception_only(error)).strip()
        raise Error(tr("The following operation failed in the TorchScript interpreter.\n{}", what)) from error


def keep(script: Any, args: tuple, kwargs: dict) -> None:
    """Keep the arguments of a call, without their history; those of vmap, or without data, are no example."""
    leaves, spec = tree_flatten((args, kwargs))
    arrays = [x._array if isinstance(x, Tensor) and x._described is None else None for x in leaves]
    if all(type(array) is np.ndarray for x, array in zip(leaves, arrays) if isinstance(x, Tensor)):
        plain = [x if array is None else Tensor._of(array) for x, array in zip(leaves, arrays)]
        script.__dict__["_script_inputs"] = tree_unflatten(plain, spec)


def seen(where: str, script: Any) -> tuple[tuple, dict]:
    """The arguments of the last call of a script from outside of scripts."""
    if "_script_inputs" not in script.__dict__:
        name = script.name if isinstance(script, ScriptFunction) else script.original_name
        cause = tr("{}: {} was not called yet, and only a run says what it does", where, name)
        raise StateError(cause, "call it once on an example, or torch.jit.script(model, example_inputs=[(x,)])")
    return script.__dict__["_script_inputs"]


class _Script:
    """What scripted modules and functions have in common."""

    @property
    def code(self) -> str:
        """The Python of its forward, which is what runs."""
        function = inspect.unwrap(self if isinstance(self, ScriptFunction) else type(self).forward)  # type: ignore[attr-defined]
        try:
            return textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            cause = tr("scripted.code: Python does not know the source of {}", function.__qualname__)
            raise NotSupportedError(cause, "write the function in a file") from None

    @property
    def inlined_graph(self) -> CallGraph:
        """The calls of a run on the arguments it last saw."""
        args, kwargs = seen("scripted.graph", self)
        return recorded(self, args, kwargs)[0].graph  # type: ignore[arg-type]

    graph = inlined_graph

    def save(self, f: Any, _extra_files: dict[str, Any] | None = None) -> None:
        """Write it as a trace of a run on the arguments it last saw, as `torch.jit.save` does."""
        importlib.import_module("badak.compat.torch.jit").save(self, f, _extra_files)  # which makes traces of scripts

    def save_to_buffer(self, _extra_files: dict[str, Any] | None = None) -> bytes:
        """What `save` writes, as bytes."""
        file = io.BytesIO()
        self.save(file, _extra_files)
        return file.getvalue()


class ScriptModule(_Script, Module):
    """What scripting or tracing makes; also a base class of modules that are scripts from the start."""

    @property
    def original_name(self) -> str:
        """The name of the class that was scripted."""
        return getattr(type(self), "_script_of", type(self).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _run(self, super().__call__, args, kwargs)


class RecursiveScriptModule(ScriptModule):
    """A scripted module: the class that was scripted comes before this one among its bases, so that its own names are kept."""

    def _get_name(self) -> str:
        return "RecursiveScriptModule"

    def extra_repr(self) -> str:
        """original_name=Net."""
        return f"original_name={self.original_name}"


class ScriptFunction(_Script):
    """A scripted function: called as the function."""

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.__dict__.get("__wrapped__"), "__name__", "function")

    @property
    def qualified_name(self) -> str:
        """ "__torch__." and the name of the function."""
        return f"__torch__.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        return _run(self, self.__dict__["__wrapped__"], args, kwargs)


class _Member:
    """An attribute of a module that has the name of a property of scripts."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, module: Any, kind: Any = None) -> Any:
        return self if module is None else Module.__getattr__(module, self.name)


_OURS = frozenset(vars(_Script)) | {"original_name"}


def _class_of(one: Module) -> type:
    kind: Any = type(one)
    if issubclass(kind, ScriptModule):
        return kind
    own: dict[str, Any] = {
        name: _marked(value, value._torchscript_modifier)
        for base in reversed(kind.__mro__)
        for name, value in vars(base).items()
        if inspect.isfunction(value) and hasattr(value, "_torchscript_modifier")
    }
    held = {*one.__dict__, *one._parameters, *one._buffers, *one._modules}
    own |= {name: _Member(name) for name in held & _OURS}
    own["_script_of"] = kind.__name__
    own |= {name: getattr(RecursiveScriptModule, name) for name in ("_get_name", "extra_repr")}
    own |= {"__reduce_ex__": _no_pickle, "__copy__": _copied, "__deepcopy__": _copied}
    return type(kind)("RecursiveScriptModule", (kind, RecursiveScriptModule), {"__module__": kind.__module__, **own})


def _no_pickle(module: Module, protocol: Any) -> Any:
    raise StateError(tr("a script of {} cannot be pickled", module.original_name), "script.save(path)")


def _copied(module: Module, memo: dict | None = None) -> Module:
    made = object.__new__(type(module))
    if memo is not None:
        memo[id(module)] = made
    made.__dict__.update(module.__dict__ if memo is None else copy.deepcopy(module.__dict__, memo))
    return made


def _marked(function: Callable, modifier: str) -> Callable:
    """A method that `ignore`, `unused` or `export` marked, as it runs in a script."""

    @functools.wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        if modifier in (UNUSED, DROPPED) and _state.scripting:
            cause = tr("{}: This Python function is annotated to be ignored and cannot be run", function.__name__)
            raise StateError(cause, "torch.jit.ignore in place of torch.jit.unused, or call it where not torch.jit.is_scripting()")
        return _as(modifier == EXPORTED, function, *args, **kwargs)

    return method


def script(
    obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: list[tuple] | dict | None = None
) -> Any:
    """A module or function as a script: it runs as it did, with `torch.jit.is_scripting()` true, and can be saved once it ran.

    A scripted module shares parameters and buffers with the module, and has attributes and a mode of its own.

    Args:
        obj: module, function, or class that is no module, which stays as it is
        example_inputs: a list of tuples of arguments, of which `save` may run the last in place of those of a call
        optimize: not needed

    Returns: RecursiveScriptModule or ScriptFunction

    Raises:
        ArgumentTypeError: obj is nothing that runs

    Example:
        >>> scripted = badak.jit.script(nn.Linear(2, 3))
        >>> scripted.original_name, tuple(scripted(badak.ones(4, 2)).shape)
        ('Linear', (4, 3))
    """
    if isinstance(obj, ScriptModule | ScriptFunction | list | dict):
        return obj
    if isinstance(obj, type):
        if issubclass(obj, Module):
            raise StateError(tr("jit.script: {} cannot be compiled since it inherits from nn.Module", obj.__name__), "script(M())")
        return obj
    expect_kind(obj, Callable, "jit.script: expected a module or a function; got {}", "script(model)")
    if isinstance(obj, Module) and (lazy := [name for name, one in obj.named_parameters() if is_lazy(one)]):
        cause = tr("jit.script: {} has uninitialized parameters {}. Did you forget to run a forward pass?", type(obj).__name__,
                   ", ".join(lazy))  # fmt: skip
        raise StateError(cause, "model(x) first, on an example")
    made: Any = twin_of(obj, _class_of) if isinstance(obj, Module) else functools.update_wrapper(ScriptFunction(), obj)  # type: ignore[arg-type]
    if isinstance(example_inputs, dict):
        example_inputs = next((each for one, each in example_inputs.items() if one is obj), None)
    if example_inputs:
        last = example_inputs[-1]
        keep(made, tuple(last) if isinstance(last, tuple | list) else (last,), {})
    return made


def _mark(fn: Any, modifier: str) -> Any:
    inner = fn.fget if isinstance(fn, property) else fn
    if inspect.isfunction(inner):
        inner._torchscript_modifier = modifier  # type: ignore[attr-defined]
    return fn


def export(fn: Any) -> Any:
    """The function itself, which a script has as a method of its own."""
    return _mark(fn, EXPORTED)


def unused(fn: Any) -> Any:
    """The function itself, which a script does not run: there it is an error to come to it."""
    return _mark(fn, UNUSED)


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function itself, which a script runs as plain Python; ignore(drop=True) is `unused`, ignore() such a decorator."""
    if callable(drop):
        return _mark(drop, IGNORED)
    return functools.partial(_mark, modifier=DROPPED if drop else IGNORED)


def expect_script(where: str, mod: Any) -> None:
    """Complain of a module that is no script."""
    if not isinstance(mod, ScriptModule):
        raise StateError(tr("{} expects a ScriptModule as input; got {}", where, type(mod).__name__), "torch.jit.script(model)")


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """The script itself: its weights are read when it runs.

    Raises:
        StateError: it is no script, or in training mode
    """
    expect_script("jit.freeze", mod)
    if mod.training:
        raise StateError(tr("jit.freeze: Freezing is currently only implemented for modules in eval mode"), "module.eval() first")
    return mod


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """The script itself, in eval mode.

    Raises:
        StateError: it is no script
    """
    expect_script("optimize_for_inference", mod)
    return freeze(mod.eval())
