"""`torch.distributed` for one process: a group of one can be formed, and talking to everybody is talking to oneself.

is_available() is False, so a program that asks goes its one-process way. One that forms a group regardless, with
WORLD_SIZE=1, runs; with more processes it is an error.
"""

import os
from enum import Enum
from types import SimpleNamespace
from typing import Any

from badak.errors import ArgumentError, MissingError, StateError


class ReduceOp(Enum):
    """How values of several processes become one; of one process they stay as they are."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


reduce_op = ReduceOp


class ProcessGroup:
    """A group of one process."""

    def rank(self) -> int:
        """0."""
        return 0

    def size(self) -> int:
        """1."""
        return 1


class Work:
    """The handle of an operation that is done."""

    def wait(self, timeout=None) -> bool:
        """True, at once."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True


class Store:
    """What processes would meet at."""


group = SimpleNamespace(WORLD=None)
GroupMember = SimpleNamespace(WORLD=None, NON_GROUP_MEMBER=-100)


def is_available() -> bool:
    """False: badak computes in one process."""
    return False


is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_available


def is_torchelastic_launched() -> bool:
    """Whether torchrun started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_initialized() -> bool:
    """Whether init_process_group was called."""
    return group.WORLD is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout=None,
    world_size: int = -1,
    rank: int = -1,
    store=None,
    group_name: str = "",
    pg_options=None,
    device_id=None,
) -> None:
    """Form the group of this one process. Raises MissingError for a world of more."""
    if is_initialized():
        raise ArgumentError("trying to initialize the default process group twice!", "destroy_process_group() first")
    size = world_size if world_size > 0 else int(os.environ.get("WORLD_SIZE", 1))
    if size > 1:
        raise MissingError(f"init_process_group: badak computes in one process, not in {size}", "world_size=1")
    group.WORLD = GroupMember.WORLD = ProcessGroup()


def destroy_process_group(group_=None) -> None:
    """End the group."""
    group.WORLD = GroupMember.WORLD = None


def _check() -> None:
    if not is_initialized():
        raise StateError(
            "Default process group has not been initialized, please make sure to call init_process_group.",
            "ask is_initialized() before",
        )


def get_rank(group=None) -> int:
    """0."""
    _check()
    return 0


def get_world_size(group=None) -> int:
    """1."""
    _check()
    return 1


def get_backend(group=None) -> str:
    """The word for a group of one."""
    _check()
    return "gloo"


def new_group(ranks=None, *args, **kwargs) -> ProcessGroup:
    """A group of one."""
    _check()
    return ProcessGroup()


def get_default_backend_for_device(device) -> str:
    """The word that PyTorch has for a CPU."""
    return "gloo"


def _stays(tensor=None, *args, async_op: bool = False, **kwargs) -> Work | None:
    """A value that everybody agrees on: in a group of one it stays as it is."""
    _check()
    return Work() if async_op else None


all_reduce = broadcast = reduce = barrier = monitored_barrier = all_reduce_coalesced = _stays


def broadcast_object_list(object_list: list, src: int = 0, group=None, device=None) -> None:
    """The objects of the only process."""
    _check()


def all_gather(tensor_list: list, tensor, group=None, async_op: bool = False) -> Work | None:
    """tensor_list[0] = tensor."""
    _check()
    tensor_list[0].copy_(tensor)
    return Work() if async_op else None


def gather(tensor, gather_list: list | None = None, dst: int = 0, group=None, async_op: bool = False) -> Work | None:
    """gather_list[0] = tensor."""
    return all_gather(gather_list, tensor, group, async_op) if gather_list else _stays(async_op=async_op)


def scatter(tensor, scatter_list: list | None = None, src: int = 0, group=None, async_op: bool = False) -> Work | None:
    """tensor = scatter_list[0]."""
    _check()
    if scatter_list:
        tensor.copy_(scatter_list[0])
    return Work() if async_op else None


def _copies(output, input, *args, async_op: bool = False, **kwargs) -> Work | None:  # noqa: A002
    """output = input: the only part of the whole."""
    _check()
    output.copy_(input.reshape(output.shape))
    return Work() if async_op else None


all_gather_into_tensor = reduce_scatter_tensor = all_to_all_single = _copies


def reduce_scatter(output, input_list: list, op=None, group=None, async_op: bool = False) -> Work | None:
    """output = input_list[0]."""
    return _copies(output, input_list[0], async_op=async_op)


def all_gather_object(object_list: list, obj: Any, group=None) -> None:
    """object_list[0] = obj."""
    _check()
    object_list[0] = obj


gather_object = all_gather_object
