"""A sum over ranks that gradients go through."""

from collections.abc import Callable
from functools import partial
from typing import Any

from badak.autograd.function import Function
from badak.distributed.collectives import all_reduce
from badak.distributed.group import chosen, is_initialized
from badak.tensor import Tensor


class _Summed(Function):
    """y = x of all ranks, added. Each rank's y depends on each rank's x, so the gradients are added, too."""

    @staticmethod
    def forward(ctx, x, group):
        ctx.group = group
        return _all(x, group)

    @staticmethod
    def backward(ctx, dy):
        return _all(dy, ctx.group), None


def _all(x: Tensor, group: Any) -> Tensor:
    y = x.clone()
    all_reduce(y, group=group)
    return y


def summed(asked: Any = None) -> Callable[[Tensor], Tensor] | None:
    """What adds a tensor over the ranks of a group; None where there is one rank."""
    if not is_initialized():
        return None
    group = chosen(asked)
    return partial(_of, group) if group.size() > 1 else None


def _of(group: Any, x: Tensor) -> Tensor:
    return _Summed.apply(x, group)
