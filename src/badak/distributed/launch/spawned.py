"""What `multiprocessing.spawn` runs on each rank: the function of another process, which that has put into a file.

A module of its own, run as `python -m badak.distributed.launch.spawned FILE`, with Python's own way to make a new process like
its parent: queues, events and locks among the arguments are inherited, where the ranks are started from here.
"""

import multiprocessing
import os
import pickle
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing import context, process, reduction, resource_tracker
from multiprocessing import spawn as beginning
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from badak.core.errors import ArgumentTypeError, StateError, tr
from badak.core.memory import sent_to_children
from badak.core.public_api.finder import package, stand_in_for_torch
from badak.distributed import engine
from badak.distributed.errors import ProcessException, ProcessExitedException, ProcessRaisedException
from badak.distributed.launch.exit_status import Rank
from badak.distributed.launch.launcher import Attempt, Order, launch
from badak.distributed.launch.starter import starter
from badak.distributed.places import among_many

ENDINGS = (130, 143)  # the codes after Ctrl-C and SIGTERM


class _File(NamedTuple):
    """An open file that was handed on."""

    number: int

    def detach(self) -> int:
        """It, for who takes it."""
        return self.number


class _Heirs:
    """What Python's multiprocessing asks while it pickles for a process that is started: which files that is to inherit."""

    DupFd = _File

    def __init__(self) -> None:
        tracker: Any = resource_tracker.getfd()
        self.files: list[int] = [tracker]

    def duplicate_for_child(self, file: int) -> int:
        """The number that the file has there: the same."""
        self.files.append(file)
        return file


@contextmanager
def _sending_to(heirs: _Heirs | None):
    context.set_spawning_popen(heirs)  # type: ignore[arg-type]
    try:
        yield
    finally:
        context.set_spawning_popen(None)


class Spawned:
    """call(rank, *args) on so many ranks of this machine: pickled when this is made, run by `run`.

    Raises ArgumentTypeError for what cannot be sent there, StateError within a rank.
    """

    def __init__(self, call: Callable, args: tuple, ranks: int) -> None:
        if among_many() is not None:
            cause = tr("multiprocessing.spawn: {} processes, but this is one of several ranks already", ranks)
            raise StateError(cause, "call its function here")
        self.ranks, self.code = ranks, 0
        self.attempt: Attempt | None = None
        self.said: dict[int, str] = {}  # what each rank that failed has said
        self.went_wrong: BaseException | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="badak-spawn-")
        self.path = os.path.join(self.folder.name, "call")
        self.sent = call, args  # what they inherit stays open
        try:
            inherited = self._write()
        except BaseException:
            self.folder.cleanup()
            raise
        command = [sys.executable, "-P", "-m", "badak.distributed.launch.spawned", self.path]
        self.order = Order(command, ranks, inherited=inherited)

    def _write(self) -> tuple[int, ...]:
        """Pickle the call into the file; the open files that go with it."""
        heirs = None if starter(self.ranks, [], self.folder.name) else _Heirs()  # MPI's own starter hands nothing on
        with _sending_to(heirs), open(self.path, "wb") as file:
            made = beginning.get_preparation_data("rank") | {"start_method": "spawn"}  # as Python has it there
            key, files = made.pop("authkey", b""), heirs.files if heirs else []
            pickle.dump((package() == "torch", made, bytes(key) if heirs else b"", files[:1]), file)
            try:
                pickler = reduction.ForkingPickler(file)
                pickler.dispatch_table |= {np.ndarray: sent_to_children}
                pickler.dump(self.sent)
            except (pickle.PicklingError, AttributeError, TypeError, RuntimeError) as error:
                raise ArgumentTypeError(
                    tr("multiprocessing.spawn: the function and its arguments must be sent to other processes ({})", error),
                    "a function of a module, and arguments that pickle takes; ranks talk by torch.distributed",
                ) from error
        return tuple(files)

    def run(self) -> None:
        """Start the ranks and watch them until all have ended."""
        try:
            with self.folder:
                self.code = launch(self.order, say=lambda text: click.echo(text, err=True), begun=self._note)
                self.said = {n: path.read_text() for n in range(self.ranks) if (path := Path(f"{self.path}.{n}")).exists()}
        except BaseException as error:
            self.went_wrong = error
        finally:
            del self.sent

    def _note(self, attempt: Attempt) -> None:
        self.attempt = attempt

    @property
    def known(self) -> dict[int, Rank]:
        """What is known of each rank that has begun."""
        return self.attempt.ranks if self.attempt is not None else {}

    def check(self) -> None:
        """After the end: raise what ended it otherwise than well."""
        if self.went_wrong is not None:
            raise self.went_wrong
        if self.code in ENDINGS:
            raise KeyboardInterrupt
        if self.code:
            raise self._failure()

    def _failure(self) -> ProcessException:
        failed = tr("multiprocessing.spawn: one of {} processes has failed", self.ranks)
        ended = {n: rank for n, rank in self.known.items() if rank.end}
        first = min(self.said or ended, key=lambda n: ended[n].since if n in ended else 0.0, default=0)
        pid = self.known[first].pid if first in self.known else 0
        if first in self.said:
            text = tr("{}\n\n-- Process {} terminated with the following error:\n{}", failed, first, self.said[first])
            return ProcessRaisedException(text, first, pid, fix="fix what is said above")
        return ProcessExitedException(
            failed, first, pid, (ended[first].end or 1) if first in ended else 1, fix="fix what is said above"
        )


def spawn(call: Callable, args: tuple, ranks: int) -> None:
    """call(rank, *args) on so many ranks of this machine; returns when all have ended.

    Raises what `Spawned` raises, and ProcessException when one has failed.
    """
    if among_many() is not None and ranks == 1:  # a process of its own would take itself for this rank
        call(0, *args)
        return
    spawned = Spawned(call, args, ranks)
    spawned.run()
    spawned.check()


def main(path: str) -> None:
    """One rank. The file is one that our own parent wrote."""
    rank = int(os.environ.get("RANK", 0))
    with open(path, "rb") as file:
        as_torch, made, key, tracker = pickle.load(file)
        if as_torch:
            stand_in_for_torch()
        engine.announce()
        try:
            multiprocessing.current_process().name = f"rank-{rank}"
            if key:  # with which Python's own connections between processes begin
                process.current_process().authkey = key
            for number in tracker:
                resource_tracker._resource_tracker._fd = number  # type: ignore[attr-defined]
            beginning.prepare(made)
            call, args = pickle.load(file)
            call(rank, *args)
        except Exception as error:
            Path(f"{path}.{rank}").write_text(traceback.format_exc())
            sys.excepthook(type(error), error, error.__traceback__)  # ends all ranks; one alone goes on
            sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1])
