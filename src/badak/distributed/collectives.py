"""The collectives on tensors: every rank of a group calls them, in the same order, with the same shapes and dtypes.

With async_op=True they give a handle, and go on whenever this rank asks for any of its operations; else they return when done.
MPI moves the data; values are added here, in the order of `sums.py`, so that the bits do not depend on who adds.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ShapeError, expect_kind, tr
from badak.distributed import sums
from badak.distributed.consistency_check import agreement
from badak.distributed.group import ProcessGroup, mine
from badak.distributed.sums import ReduceOp
from badak.distributed.totals import Steps, everybody, flat, own_piece, raw, total
from badak.distributed.work import Work, finish, start
from badak.tensor import Tensor


def begin(group: ProcessGroup, line: str, data: Steps, async_op: bool, fits: Any = None) -> Work | None:
    """Let the ranks agree on `line`, then let `data` run; the handle, or None when it is done."""
    events.user_code(tr("ranks talk to each other"))
    agreed = agreement(group, line, fits)

    def steps():
        if agreed is not None:
            yield from agreed.steps()
        return (yield from data)

    work = Work(group, f"{line}, collective no. {group.sequence} of {group.called}", steps(), agreed.absent if agreed else None)
    return finish(start(group, work), async_op)


def array(x: Tensor, where: str) -> np.ndarray:
    """The values of a tensor."""
    expect_kind(x, Tensor, "{}: expected a tensor; got {}", "badak.tensor(value), or the object collectives", where)
    return x._array


def arrays(many: Sequence[Tensor], where: str, group: ProcessGroup) -> list[np.ndarray]:
    """The values of one tensor for each rank."""
    made = [array(x, where) for x in many]
    if len(made) != group.size():
        raise ArgumentError(tr("{}: a list of {} tensors for {} ranks", where, len(made), group.size()), "one tensor for each rank")
    return made


def says(x: np.ndarray) -> str:
    """ "float32 (3, 4)"."""
    return f"{x.dtype} {x.shape}"


def put(x: Tensor, values: np.ndarray, by: str) -> None:
    """Give the tensor these values, where they are not its own memory already."""
    if not np.shares_memory(x._array, values):
        x._array[...] = values.reshape(x._array.shape)
    x._watch().bump(by)


def member(group: ProcessGroup, asked: int | None, inside: int | None, where: str, name: str) -> int:
    """The number within the group of a rank that is told by its number in the world, or in the group."""
    if inside is not None:
        rank = int(inside)
    elif asked is None:
        rank = 0
    elif int(asked) in group.ranks:
        rank = group.ranks.index(int(asked))
    else:
        rank = -1
    if not 0 <= rank < group.size():
        cause = tr("{}: {}={} is not in {}", where, name, asked if inside is None else inside, group)
        raise ArgumentError(cause, tr("one of {}", group.ranks))
    return rank


# ---------------------------------------------------------------- the names


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until every rank of the group has come here."""
    if (group := mine(group)) is None:
        return None

    def data():
        if group.size() > 1:
            yield [group.comm.Ibarrier()]

    return begin(group, "barrier", data(), async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    """barrier with a time limit of its own; its error names the ranks that did not come."""
    work = barrier(group, async_op=True)
    if work is not None:
        work.wait(timeout)


def broadcast(
    tensor: Tensor, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Work | None:
    """tensor = the one of rank src, on every rank."""
    if (group := mine(group)) is None:
        return None
    x, root = array(tensor, "broadcast"), member(group, src, group_src, "broadcast", "src")

    def data():
        row = flat(x)
        if group.size() > 1:
            yield [group.comm.Ibcast(raw(row), root)]
            put(tensor, row, "broadcast")
        return [tensor]

    return begin(group, f"broadcast from rank {group.ranks[root]} of {says(x)}", data(), async_op)


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """tensor = the tensors of all ranks joined by op, on every rank; the same bits on each."""
    if (group := mine(group)) is None:
        return None
    x = array(tensor, "all_reduce")
    sums.check(op, x.dtype, "all_reduce")

    def data():
        put(tensor, (yield from total(group, flat(x), op)), "all_reduce")
        return [tensor]

    return begin(group, f"all_reduce({op.name}) of {says(x)}", data(), async_op)


def all_reduce_coalesced(tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """all_reduce of several tensors of one dtype in one exchange."""
    if (group := mine(group)) is None:
        return None
    xs = [array(x, "all_reduce_coalesced") for x in tensors]
    if not xs or any(x.dtype != xs[0].dtype for x in xs):
        raise ArgumentError("all_reduce_coalesced: expected tensors of one dtype", "one call for each dtype")
    sums.check(op, xs[0].dtype, "all_reduce_coalesced")

    def data():
        made = yield from total(group, np.concatenate([flat(x) for x in xs]), op)
        for tensor, values in zip(tensors, np.split(made, np.cumsum([x.size for x in xs])[:-1])):
            put(tensor, values, "all_reduce_coalesced")
        return list(tensors)

    return begin(group, f"all_reduce_coalesced({op.name}) of {', '.join(map(says, xs))}", data(), async_op)


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """tensor = the tensors of all ranks joined by op, on rank dst; elsewhere it stays as it is."""
    if (group := mine(group)) is None:
        return None
    x, root = array(tensor, "reduce"), member(group, dst, group_dst, "reduce", "dst")
    sums.check(op, x.dtype, "reduce")

    def data():
        if group.size() == 1:
            made = sums.tree([flat(x).copy()], op)
        else:
            edges = sums.cut(x.size, group.size())
            piece = yield from own_piece(group, flat(x), edges, op)
            made, width = np.empty(x.size if group.rank() == root else 0, x.dtype), x.itemsize
            counts = [(b - a) * width for a, b in zip(edges, edges[1:])]
            there = [raw(made), counts, [a * width for a in edges[:-1]], group.byte] if group.rank() == root else None
            yield [group.comm.Igatherv(raw(piece), there, root)]
        if group.rank() == root:
            put(tensor, made, "reduce")

    return begin(group, f"reduce({op.name}) to rank {group.ranks[root]} of {says(x)}", data(), async_op)


def all_gather(tensor_list: Sequence[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """tensor_list[i] = the tensor of rank i, on every rank. Their shapes are equal."""
    if (group := mine(group)) is None:
        return None
    x = array(tensor, "all_gather")
    _same(x, arrays(tensor_list, "all_gather", group), "all_gather")

    def data():
        for into, values in zip(tensor_list, (yield from everybody(group, flat(x)))):
            put(into, values, "all_gather")
        return list(tensor_list)

    return begin(group, f"all_gather of {says(x)}", data(), async_op)


def all_gather_into_tensor(output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False) -> Work | None:
    """output_tensor = the tensors of all ranks, one after the other, or stacked."""
    if (group := mine(group)) is None:
        return None
    x, y = array(input_tensor, "all_gather_into_tensor"), array(output_tensor, "all_gather_into_tensor")
    _whole(y, x, group.size(), tr("all_gather_into_tensor: output_tensor"), "input_tensor")

    def data():
        put(output_tensor, (yield from everybody(group, flat(x))), "all_gather_into_tensor")
        return [output_tensor]

    return begin(group, f"all_gather_into_tensor of {says(x)}", data(), async_op)


def gather(
    tensor: Tensor,
    gather_list: Sequence[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """gather_list[i] = the tensor of rank i, on rank dst; the others give no list."""
    if (group := mine(group)) is None:
        return None
    x, root = array(tensor, "gather"), member(group, dst, group_dst, "gather", "dst")
    here = group.rank() == root
    if here:
        _same(x, arrays(gather_list or [], tr("gather: gather_list on rank dst"), group), "gather")
    elif gather_list:
        raise ArgumentError("gather: gather_list is for the destination rank only", "gather_list=None on the other ranks")

    def data():
        made = np.empty((group.size() if here else 0, x.size), x.dtype)
        if group.size() == 1:
            made[0] = flat(x)
        else:
            yield [group.comm.Igather(raw(flat(x)), raw(made.reshape(-1)) if here else None, root)]
        for into, values in zip(gather_list or [], made):
            put(into, values, "gather")

    return begin(group, f"gather to rank {group.ranks[root]} of {says(x)}", data(), async_op)


def scatter(
    tensor: Tensor,
    scatter_list: Sequence[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """tensor = scatter_list[i] of rank src, on rank i; the others give no list."""
    if (group := mine(group)) is None:
        return None
    x, root = array(tensor, "scatter"), member(group, src, group_src, "scatter", "src")
    here = group.rank() == root
    parts = arrays(scatter_list or [], tr("scatter: scatter_list on rank src"), group) if here else []
    if here:
        _same(x, parts, "scatter")
    elif scatter_list:
        raise ArgumentError("scatter: scatter_list is for the source rank only", "scatter_list=None on the other ranks")

    def data():
        if group.size() == 1:
            made = flat(parts[0]).copy()
        else:
            made = np.empty(x.size, x.dtype)
            rows = raw(np.concatenate([flat(part) for part in parts])) if here else None
            yield [group.comm.Iscatter(rows, raw(made), root)]
        put(tensor, made, "scatter")

    return begin(group, f"scatter from rank {group.ranks[root]} of {says(x)}", data(), async_op)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    """output = input_list[i] of all ranks joined by op, on rank i."""
    if (group := mine(group)) is None:
        return None
    y = array(output, "reduce_scatter")
    xs = arrays(input_list, "reduce_scatter", group)
    _same(y, xs, "reduce_scatter")
    return _reduce_scatter("reduce_scatter", output, xs, op, group, async_op)


def reduce_scatter_tensor(
    output: Any, input: Tensor, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:  # noqa: A002
    """output = the i-th part of input of all ranks joined by op, on rank i."""
    if (group := mine(group)) is None:
        return None
    y, x = array(output, "reduce_scatter_tensor"), array(input, "reduce_scatter_tensor")
    _whole(x, y, group.size(), tr("reduce_scatter_tensor: input"), "output")
    return _reduce_scatter("reduce_scatter_tensor", output, [x], op, group, async_op)


def _reduce_scatter(kind: str, output, xs, op, group: ProcessGroup, async_op: bool) -> Work | None:
    y = output._array
    sums.check(op, y.dtype, kind)

    def data():
        row = np.concatenate([flat(x) for x in xs])
        if group.size() == 1:
            put(output, sums.tree([row], op), kind)
        else:
            edges = [y.size * i for i in range(group.size() + 1)]
            put(output, (yield from own_piece(group, row, edges, op)), kind)

    return begin(group, f"{kind}({op.name}) to {says(y)}", data(), async_op)


def _same(x: np.ndarray, others: list[np.ndarray], where: str) -> None:
    """Raise ShapeError where the tensors of a list are not like this one."""
    for i, other in enumerate(others):
        if other.shape != x.shape or other.dtype != x.dtype:
            cause = tr("{}: number {} of the list is {}, the tensor {}", where, i, says(other), says(x))
            raise ShapeError(cause, "tensors of one shape and dtype")


def _whole(whole: np.ndarray, part: np.ndarray, n: int, name: str, of: str) -> None:
    """Raise ShapeError where `whole` is not n of these parts."""
    if whole.size != n * part.size or whole.dtype != part.dtype:
        cause = tr("{} is {}; {} is {}, for {} ranks", name, says(whole), of, says(part), n)
        raise ShapeError(cause, tr("{} numbers of {}", n * part.size, part.dtype))
