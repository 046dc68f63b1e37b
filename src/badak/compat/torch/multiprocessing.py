"""`torch.multiprocessing`: Python's multiprocessing. The tensors that it sends are in shared memory then, as in PyTorch.

On Linux, that is; elsewhere copies are sent. Tensors of derived classes and arrays are always sent as copies.
"""

from multiprocessing import *  # noqa: F403  (PyTorch re-exports Python's whole module too)
from multiprocessing.reduction import ForkingPickler
from pickle import DEFAULT_PROTOCOL
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, GraphError, tr
from badak.core.memory import CAN_SHARE, send_shared
from badak.core.public_api.table import reach
from badak.nn.parameter import Buffer, Parameter
from badak.tensor import Tensor
from badak.tensor.storage import share

_sharing = ["file_descriptor"]


def _sent(tensor: Tensor) -> Any:
    """What multiprocessing sends for a tensor: its memory, which is shared from now on."""
    if tensor._node is not None:
        raise GraphError("a tensor that has a history cannot be sent to another process", "send x.detach()")
    if CAN_SHARE and tensor._described is None and tensor._array.size:
        share([tensor])
    return tensor.__reduce_ex__(DEFAULT_PROTOCOL)


send_shared()
for _kind in (Tensor, Parameter, Buffer):
    ForkingPickler.register(_kind, _sent)


def spawn(fn: Any, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn") -> Any:
    """fn(rank, *args) on nprocs ranks of this machine, each a process of its own, as under `badak launch`.

    join=False: a ProcessContext, whose `join` waits for them. Raises ArgumentError below one, and what
    `badak.distributed.launch.spawned` raises.
    """
    if not isinstance(nprocs, int):
        raise ArgumentTypeError(tr("multiprocessing.spawn: expected nprocs, a number of processes; got {!r}", nprocs), "nprocs=2")
    if nprocs < 1:
        cause = tr("multiprocessing.spawn: nprocs={} starts nothing", nprocs)
        raise ArgumentError(cause, "nprocs=2; torch.cuda.device_count() is 0 without a GPU")
    if not join:
        return reach("badak.distributed.launch.processes").ProcessContext(fn, args, nprocs, daemon)
    return reach("badak.distributed.launch.spawned").spawn(fn, args, nprocs)


start_processes = spawn


def get_all_sharing_strategies() -> set[str]:
    """The ways in which PyTorch shares memory; badak knows one, open files."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """What set_sharing_strategy was given."""
    return _sharing[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Remember it, one of get_all_sharing_strategies(); badak shares memory by open files."""
    if new_strategy not in get_all_sharing_strategies():
        cause = tr("multiprocessing.set_sharing_strategy: {!r} is none of the strategies", new_strategy)
        raise ArgumentError(cause, "'file_descriptor' or 'file_system'")
    _sharing[0] = new_strategy
