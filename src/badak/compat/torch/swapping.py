"""`torch.utils.swap_tensors` and `torch.__future__`: tensors that change places, and whether modules use it."""

from typing import Any

from badak.core import events
from badak.core.errors import expect_kind
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.tensor import Tensor
from badak.tensor.wrapped import swap

_wishes = {"overwrite": False, "swap": False}


def swap_tensors(t1: Any, t2: Any) -> None:
    """Let each of two tensors become the other: values, class, attributes, .grad. Whoever holds one sees the other's.

    Args:
        t1: a tensor
        t2: another one, of the same slots

    Raises:
        GraphError: where a graph waits for the gradient of one of them

    Example:
        >>> from badak.compat.torch.swapping import swap_tensors
        >>> x, y = badak.zeros(1), badak.ones(2)
        >>> swap_tensors(x, y)
        >>> x.tolist(), y.tolist()
        ([1.0, 1.0], [0.0])
    """
    for x in (t1, t2):
        expect_kind(x, Tensor, "swap_tensors: expected two tensors; got {}", "badak.tensor(data)")
    swap(t1, t2)


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Remember the wish; a module that moves keeps its parameters, whose values change."""
    events.setting("set_overwrite_module_params_on_conversion")
    _wishes["overwrite"] = bool(value)


def get_overwrite_module_params_on_conversion() -> bool:
    """What set_overwrite_module_params_on_conversion was given; False unless set."""
    return _wishes["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Remember the wish; a module swaps those of its parameters that are wrappers, the others get other values."""
    events.setting("set_swap_module_params_on_conversion")
    _wishes["swap"] = bool(value)


def get_swap_module_params_on_conversion() -> bool:
    """What set_swap_module_params_on_conversion was given; False unless set."""
    return _wishes["swap"]


_guard_names(globals(), "badak.__future__")
__getattr__, __dir__ = _door("badak.__future__")
