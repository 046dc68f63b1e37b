"""What the layers and stacks of the Transformer have in common: causal masks, activations by name, copies of a layer."""

import copy
from collections.abc import Callable
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.nn import functional as F
from badak.nn.cache import KeyValueCache
from badak.nn.containers import ModuleList
from badak.nn.mask import AnyMask
from badak.nn.module import Module
from badak.tensor import Tensor, float32, full
from badak.tensor import bool as bool_
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


def kept_in(kept: tuple[KeyValueCache, int] | None) -> dict[str, Any]:
    """A cache and the number of a layer as arguments; none without a cache: a layer of the user's own need not know it."""
    return {} if kept is None else {"cache": kept[0], "layer": kept[1]}


def causal_mask(length: int, device: Device = None, dtype: DType | None = None) -> Tensor:
    hide = dtype == bool_  # as a bool mask: True above the diagonal
    return full((length, length), True if hide else float("-inf"), device=device, dtype=dtype or float32).triu(1)


def is_causal_mask(mask: AnyMask | None, is_causal: bool | None) -> bool:
    """What is_causal says, or, where it says nothing, whether `mask` is the causal one; a Mask says so itself."""
    if is_causal is not None or not isinstance(mask, Tensor):
        return bool(is_causal)
    if mask.dim() != 2 or mask.shape[0] != mask.shape[1]:
        return False
    return bool((mask == causal_mask(mask.shape[0], dtype=mask.dtype)).all())


def activation_of(activation: str | Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in _ACTIVATIONS:
        cause = tr("activation should be relu/gelu, not {}", activation)
        raise ArgumentError(cause, "any function of a tensor, such as F.silu or nn.SiLU()")
    return _ACTIVATIONS[activation]


def copies(layer: Module, count: int, independent_init: bool) -> ModuleList:
    layers = ModuleList(copy.deepcopy(layer) for _ in range(count))
    for twin in list(layers)[1:] if independent_init else ():
        twin.apply(_draw_anew)  # children first: attention has the last word on the bias of its output
    return layers


def _draw_anew(module: Module) -> None:
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if reset is not None:
        reset()
