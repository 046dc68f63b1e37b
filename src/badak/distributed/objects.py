"""Collectives on Python's objects, as pickles.

A pickle can run code when it is read. Ranks may do that to each other: they run one program, which one person has started, and
MPI lets nobody else in. What badak reads from files stays without pickle (`io/`).
"""

import pickle
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, tr
from badak.distributed.collectives import Steps, begin, member
from badak.distributed.group import ProcessGroup, mine
from badak.tensor.dtypes import Device


def _bytes(value: Any) -> np.ndarray:
    return np.frombuffer(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL), np.uint8)


def _all(group: ProcessGroup, own: np.ndarray) -> Steps:
    """The bytes of all ranks, on all."""
    if group.size() == 1:
        return [own]
    sizes = np.empty(group.size(), np.int64)
    yield [group.comm.Iallgather(np.array([own.size], np.int64).view(np.uint8), sizes.view(np.uint8))]
    ends = np.cumsum(sizes)
    made = np.empty(int(ends[-1]), np.uint8)
    yield [group.comm.Iallgatherv(own, [made, sizes.tolist(), (ends - sizes).tolist(), group.byte])]
    return np.split(made, ends[:-1])


def all_gather_object(object_list: list, obj: Any, group: Any = None) -> None:
    """object_list[i] = the object of rank i, on every rank."""
    if (group := mine(group)) is None:
        return
    _check(object_list, group, "all_gather_object")

    def data():
        parts = yield from _all(group, _bytes(obj))
        object_list[:] = [pickle.loads(part) for part in parts]

    begin(group, "all_gather_object", data(), async_op=False)


def gather_object(
    obj: Any, object_gather_list: list | None = None, dst: int | None = None, group: Any = None, group_dst: int | None = None
) -> None:
    """object_gather_list[i] = the object of rank i, on rank dst."""
    if (group := mine(group)) is None:
        return
    root = member(group, dst, group_dst, "gather_object", "dst")
    if group.rank() == root:
        _check(object_gather_list or [], group, "gather_object")

    def data():
        parts = yield from _all(group, _bytes(obj))
        if group.rank() == root and object_gather_list is not None:
            object_gather_list[:] = [pickle.loads(part) for part in parts]

    begin(group, f"gather_object to rank {group.ranks[root]}", data(), async_op=False)


def broadcast_object_list(
    object_list: list, src: int | None = None, group: Any = None, device: Device = None, group_src: int | None = None
) -> None:
    """object_list = the one of rank src, on every rank."""
    if (group := mine(group)) is None:
        return
    root = member(group, src, group_src, "broadcast_object_list", "src")

    def data():
        own = _bytes(list(object_list)) if group.rank() == root else np.empty(0, np.uint8)
        if group.size() > 1:
            size = np.array([own.size], np.int64)
            yield [group.comm.Ibcast(size.view(np.uint8), root)]
            text = own.copy() if group.rank() == root else np.empty(int(size[0]), np.uint8)
            yield [group.comm.Ibcast(text, root)]
            if group.rank() != root:
                object_list[:] = pickle.loads(text)

    begin(group, f"broadcast_object_list of {len(object_list)} from rank {group.ranks[root]}", data(), async_op=False)


def scatter_object_list(
    scatter_object_output_list: list,
    scatter_object_input_list: list | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """scatter_object_output_list[0] = scatter_object_input_list[i] of rank src, on rank i."""
    if (group := mine(group)) is None:
        return
    root = member(group, src, group_src, "scatter_object_list", "src")
    here = group.rank() == root
    if here:
        _check(scatter_object_input_list or [], group, "scatter_object_list")
    if not scatter_object_output_list:
        raise ArgumentError("scatter_object_list: the output list is empty", "scatter_object_output_list=[None]")

    def data():
        own = _bytes(list(scatter_object_input_list or [])) if here else np.empty(0, np.uint8)
        texts = yield from _all(group, own)
        scatter_object_output_list[0] = pickle.loads(texts[root])[group.rank()]

    begin(group, f"scatter_object_list from rank {group.ranks[root]}", data(), async_op=False)


def _check(objects: list, group: ProcessGroup, where: str) -> None:
    if len(objects) != group.size():
        raise ArgumentError(tr("{}: a list of {} for {} ranks", where, len(objects), group.size()), tr("[None] * {}", group.size()))
