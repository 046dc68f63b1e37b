"""What programs for PyTorch's tracers say: checks that a traced program keeps, and arithmetic of numbers not known while tracing.

Here every number is known: a check raises at once, and the arithmetic is Python's own.
"""

import math
from collections.abc import Callable
from typing import Any

from badak.core.errors import expect_kind
from badak.core.public_api import overriding
from badak.core.public_api.taken import named
from badak.tensor import Tensor
from badak.tensor.storage import TypedStorage, UntypedStorage

_UNSAID = "Expected cond to be True, but got False."


def _check_with(error_type: type[Exception], cond: bool, message: Callable[[], object] | None) -> None:
    """Raise error_type with what message() gives, unless cond is True."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError("message must be a callable")
    raise error_type(_UNSAID if message is None else str(message()))


def _raising(name: str, error_type: type[Exception]) -> Callable[..., None]:
    def check(cond: bool, message: Callable[[], object] | None = None) -> None:
        _check_with(error_type, cond, message)

    return named(check, name, f"Raise {error_type.__name__} with what message() gives, unless cond is True.")


_check = _raising("_check", RuntimeError)
_check_index = _raising("_check_index", IndexError)
_check_value = _raising("_check_value", ValueError)
_check_type = _raising("_check_type", TypeError)
_check_not_implemented = _raising("_check_not_implemented", NotImplementedError)


def _check_is_size(i: int, message: Callable[[], object] | None = None, *, max: int | None = None) -> None:
    """As _check, for 0 <= i, and i <= max where that is given."""
    _check(bool(i >= 0), message)
    _check(max is None or bool(i <= max), message)


def _check_tensor_all_with(error_type: type[Exception], cond: Tensor, message: Callable[[], object] | None = None) -> None:
    """As _check_with, for a tensor of booleans that are all True."""
    if not isinstance(cond, Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not (kind := Tensor.bool(cond).dtype):
        raise TypeError(f"cond tensor must have dtype {kind}, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond: Tensor, message: Callable[[], object] | None = None) -> None:
    """As _check, for a tensor of booleans that are all True."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert(condition: Any, message: str) -> None:
    """Python's assert, as a function: one that a trace keeps."""
    if overriding.classes((condition,), {}) and not isinstance(condition, Tensor):
        overriding.dispatch(_assert, (condition, message), {})
    elif not condition:
        raise AssertionError(message)


_assert.__module__ = "badak"


def _assert_async(input: Tensor, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """Raise RuntimeError where the one number of a tensor is 0."""
    if overriding.classes((input,), {}) and not isinstance(input, Tensor):
        overriding.dispatch(_assert_async, (input, assert_msg), {})
        return
    expect_kind(input, Tensor, "_assert_async: expected a tensor; got {}", "torch.tensor(value)")
    if input.numel() != 1:
        raise RuntimeError("Expected Tensor with single nonzero value, but got " + ("more than one" if input.numel() else "none"))
    if not input.item():
        raise RuntimeError(assert_msg)


def sym_int(a: Any) -> int:
    """A number without its fraction."""
    return math.floor(a) if a >= 0 else math.ceil(a)


def sym_float(a: Any) -> float:
    """A number as a float."""
    return float(a)


def sym_not(a: bool) -> bool:
    """not a."""
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers; a float where one of them is one."""
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float where one of them is one."""
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """t if b, else f."""
    return t if b else f


def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return sum(args)


def typename(obj: Any, /) -> str:
    """The name of a tensor's type, or of an object's class with its module."""
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(obj, "__module__", None) or getattr(named, "__module__", None) or ""
    return named.__qualname__ if module in ("", "builtins") else f"{module}.{named.__qualname__}"


def is_storage(obj: Any, /) -> bool:
    """Whether it is the memory of a tensor, as bytes or as numbers."""
    return isinstance(obj, UntypedStorage | TypedStorage)
