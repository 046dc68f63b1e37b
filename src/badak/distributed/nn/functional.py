"""Collectives that gradients go through: what every rank computes from x counts in x's gradient."""

from typing import Any

from badak.autograd.function import Function
from badak.core.public_api import door as _door
from badak.distributed import collectives
from badak.distributed.group import get_rank, get_world_size
from badak.distributed.sums import ReduceOp
from badak.tensor import Tensor, empty_like


class _Gathered(Function):
    @staticmethod
    def forward(ctx, group, x):
        ctx.group, x = group, x.contiguous()
        parts = [empty_like(x) for _ in range(get_world_size(group))]
        collectives.all_gather(parts, x, group=group)
        return tuple(parts)

    @staticmethod
    def backward(ctx, *dys):
        dx = empty_like(dys[get_rank(ctx.group)])
        collectives.reduce_scatter(dx, [dy.contiguous() for dy in dys], group=ctx.group)
        return None, dx


class _Reduced(Function):
    @staticmethod
    def forward(ctx, op, group, x):
        ctx.op, ctx.group = op, group
        y = x.clone()
        collectives.all_reduce(y, op=op, group=group)
        return y

    @staticmethod
    def backward(ctx, dy):
        return None, None, _Reduced.apply(ctx.op, ctx.group, dy)


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all ranks, in the order of the ranks; the gradient is the sum of what each rank has for this rank's.

    Args:
        tensor: of one shape on all ranks
        group: which ranks; None for all

    Returns:
        as many tensors as there are ranks

    Raises:
        StateError: there is no group yet

    Example:
        >>> badak.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> [x.tolist() for x in badak.distributed.nn.functional.all_gather(badak.ones(2))]
        [[1.0, 1.0]]
        >>> badak.distributed.destroy_process_group()
    """
    return _Gathered.apply(group, tensor)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """What becomes of the tensors of all ranks; gradients are reduced in the same way, as in PyTorch.

    Args:
        tensor: of one shape on all ranks; stays as it is
        op: how values of several ranks become one
        group: which ranks; None for all

    Returns:
        a tensor of that shape, the same on all ranks

    Raises:
        StateError: there is no group yet

    Example:
        >>> badak.distributed.init_process_group("gloo", rank=0, world_size=1)
        >>> badak.distributed.nn.functional.all_reduce(badak.ones(2)).tolist()
        [1.0, 1.0]
        >>> badak.distributed.destroy_process_group()
    """
    return _Reduced.apply(op, group, tensor)


__getattr__, __dir__ = _door("badak.distributed.nn.functional")
