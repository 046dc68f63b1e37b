"""`torch.multiprocessing`: Python's multiprocessing. Tensors travel between processes by pickle."""

from multiprocessing import *  # noqa: F403  (PyTorch re-exports Python's whole module too)
from typing import Any

from badak.errors import MissingError

_sharing = ["file_descriptor"]


def spawn(
    fn, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> Any:
    """fn(0, *args), in this process. Raises MissingError for more processes: they could not train one model."""
    if nprocs != 1:
        raise MissingError(f"multiprocessing.spawn: badak trains in one process, not in {nprocs}", "nprocs=1")
    return fn(0, *args)


start_processes = spawn


def get_all_sharing_strategies() -> set[str]:
    """The ways in which PyTorch shares memory; badak sends the bytes."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """What set_sharing_strategy was given."""
    return _sharing[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Remember it; badak sends the bytes."""
    _sharing[0] = new_strategy
