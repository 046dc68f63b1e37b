"""What `multiprocessing.spawn` runs on each rank: the function of another process, which that has put into a file.

A module of its own, run as `python -m badak.distributed.launch.spawned FILE`, with Python's own way to make a new process like
its parent.
"""

import multiprocessing
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from multiprocessing import reduction
from multiprocessing import spawn as beginning

import click
import numpy as np

from badak.core.errors import ArgumentTypeError, StateError
from badak.core.memory import sent_to_children
from badak.core.public_api.finder import package, stand_in_for_torch
from badak.distributed import engine
from badak.distributed.launch.launcher import Order, launch
from badak.distributed.places import among_many


def spawn(call: Callable, args: tuple, ranks: int) -> None:
    """call(rank, *args) on so many ranks of this machine; returns when all have ended.

    Raises ArgumentTypeError for what cannot be sent there, StateError within a rank, or when one has failed.
    """
    if among_many() is not None:
        if ranks == 1:  # a process of its own would take itself for this rank
            call(0, *args)
            return
        raise StateError(
            f"multiprocessing.spawn: {ranks} processes, but this is one of several ranks already", "call its function here"
        )
    with tempfile.TemporaryDirectory(prefix="badak-spawn-") as folder:
        path, made = os.path.join(folder, "call"), beginning.get_preparation_data("rank")
        made.pop("authkey", None)  # of Python's own connections between processes
        with open(path, "wb") as file:
            pickle.dump((package() == "torch", made), file)
            try:
                pickler = reduction.ForkingPickler(file)
                pickler.dispatch_table |= {np.ndarray: sent_to_children}
                pickler.dump((call, args))
            except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
                raise ArgumentTypeError(
                    f"multiprocessing.spawn: the function and its arguments must be sent to other processes ({error})",
                    "a function of a module, and arguments that pickle takes; ranks talk by torch.distributed",
                ) from error
        order = Order([sys.executable, "-P", "-m", "badak.distributed.launch.spawned", path], ranks)
        code = launch(order, say=lambda text: click.echo(text, err=True))
    if code in (130, 143):
        raise KeyboardInterrupt
    if code:
        raise StateError(f"multiprocessing.spawn: one of {ranks} processes has failed", "fix what is said above")


def main(path: str) -> None:
    """One rank. The file is one that our own parent wrote."""
    with open(path, "rb") as file:
        as_torch, made = pickle.load(file)
        if as_torch:
            stand_in_for_torch()
        engine.announce()
        try:
            multiprocessing.current_process().name = f"rank-{os.environ.get('RANK', 0)}"
            beginning.prepare(made)
            call, args = pickle.load(file)
            call(int(os.environ.get("RANK", 0)), *args)
        except Exception as error:
            sys.excepthook(type(error), error, error.__traceback__)  # ends all ranks; one alone goes on
            sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
