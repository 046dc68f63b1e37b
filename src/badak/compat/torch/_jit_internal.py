"""`torch._jit_internal`: the decorators of `torch.jit` under their inner names, and how annotations are told apart.

Nothing is scripted, so a decorator gives what it decorates, and a dispatch between two functions is a call of one of them.
"""

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from badak.compat.torch.jit import _overload as _overload
from badak.compat.torch.jit import _overload_method as _overload_method
from badak.compat.torch.jit import annotations
from badak.compat.torch.jit import export as export
from badak.compat.torch.jit import ignore as ignore
from badak.compat.torch.jit import is_scripting as is_scripting
from badak.compat.torch.jit import isinstance as _isinstance  # noqa: F401  (PyTorch's name)
from badak.compat.torch.jit import unused as unused
from badak.core.errors import ArgumentError, StateError, tr
from badak.core.public_api import door as _door
from badak.distributed.futures import Future as Future

BroadcastingList1 = annotations.BroadcastingList1
BroadcastingList2 = annotations.BroadcastingList2
BroadcastingList3 = annotations.BroadcastingList3
Final = typing.Final
boolean_dispatched: dict[Callable, dict[str, Any]] = {}
_drop = _copy_to_script_wrapper = export


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Callable, if_false: Callable, module_name: str | None,
    func_name: str | None,
) -> Callable:  # fmt: skip
    """A function that calls if_true or if_false with its arguments, as the one says that has this name and place."""
    if if_true.__doc__ is not None and if_false.__doc__ is not None:
        raise StateError("only one function can have a docstring", "leave out that of if_true or of if_false")

    def fn(*args: Any, **kwargs: Any) -> Any:
        flag = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if flag else if_false)(*args, **kwargs)

    if_true.__doc__ = if_false.__doc__ = fn.__doc__ = if_true.__doc__ if if_false.__doc__ is None else if_false.__doc__
    if module_name is not None:
        fn.__module__ = module_name
    if func_name is not None:
        fn.__name__ = func_name
    boolean_dispatched[fn] = {
        "if_true": if_true, "if_false": if_false, "index": arg_index, "default": default, "arg_name": arg_name,
    }  # fmt: skip
    return fn


def _try_get_dispatched_fn(fn: Any) -> dict[str, Any] | None:
    """What `boolean_dispatch` was given for a function."""
    return boolean_dispatched.get(fn) if callable(fn) else None


def is_final(ann: Any) -> bool:
    """Whether an annotation is Final, or Final of something."""
    return ann is Final or typing.get_origin(ann) is Final


def _is_one(ann: Any, bare: Any, kind: Any) -> bool:
    if ann is bare:
        name = getattr(bare, "_name", None) or bare.__name__
        cause = tr("Attempted to use {} without a contained type. Please add a contained type, e.g. {}[int]", name, name)
        raise ArgumentError(cause, f"{name}[int]")
    return typing.get_origin(ann) is kind


def is_tuple(ann: Any) -> bool:
    """Whether an annotation is tuple[...]."""
    return _is_one(ann, typing.Tuple, tuple)  # noqa: UP006


def is_list(ann: Any) -> bool:
    """Whether an annotation is list[...]."""
    return _is_one(ann, typing.List, list)  # noqa: UP006


def is_dict(ann: Any) -> bool:
    """Whether an annotation is dict[...]."""
    return _is_one(ann, typing.Dict, dict)  # noqa: UP006


def is_union(ann: Any) -> bool:
    """Whether an annotation is Union[...], or a | b."""
    return _is_one(ann, typing.Union, typing.Union) or isinstance(ann, types.UnionType)


def is_optional(ann: Any) -> bool:
    """Whether an annotation is Optional[...], or a | None."""
    _is_one(ann, typing.Optional, None)
    return is_union(ann) and len(typing.get_args(ann)) == 2 and type(None) in typing.get_args(ann)


def is_future(ann: Any) -> bool:
    """Whether an annotation is Future[...]."""
    return _is_one(ann, Future, Future)


def is_static_fn(cls: type, fn: str) -> bool:
    """Whether a class has a static method of that name."""
    return isinstance(inspect.getattr_static(cls, fn, None), staticmethod)


def get_static_fn(cls: type, fn: str) -> Callable:
    """The function of a static method."""
    return inspect.getattr_static(cls, fn).__func__


def get_callable_argument_names(fn: Callable) -> list[str]:
    """The names of the arguments that may come by place or by name; none where Python does not know them."""
    try:
        found = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return []
    return [name for name, one in found.items() if one.kind is one.POSITIONAL_OR_KEYWORD]


__getattr__, __dir__ = _door("badak._jit_internal")
