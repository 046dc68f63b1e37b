"""Worker processes that read batches ahead of the training loop.

Each worker is one process with one two-way pipe. The main process sends tasks (epoch, number, index) and never waits for a
worker to take one: in the worker a thread empties the pipe into a queue. Results come back as (epoch, number, result).
There are no shared queues or locks, so a worker that dies takes nothing with it: its pipe and its sentinel say so.
"""

import multiprocessing
import os
import pickle
import queue
import random
import signal
import threading
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import BadakError, tr
from badak.data.fetch import fetcher_of
from badak.tensor.random import manual_seed

_PATIENCE = 5.0  # seconds that a worker gets to end by itself


@dataclass(frozen=True)
class WorkerInfo:
    """What a worker knows of itself: its id, how many there are, its seed, and its copy of the dataset."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


_info: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a DataLoader its WorkerInfo, elsewhere None."""
    return _info


@dataclass(frozen=True)
class Recipe:
    """All that a worker needs to read batches."""

    dataset: Any
    batched: bool
    collate_fn: Any
    drop_last: bool
    init_fn: Any
    base_seed: int
    num_workers: int


@dataclass(frozen=True)
class End:
    """The result of a worker whose iterable dataset has no more examples."""


class Failure:
    """An exception of a worker on its way to the main process, with its traceback as text."""

    def __init__(self, error: BaseException, worker: int) -> None:
        self.kind = type(error)
        text = "".join(traceback.format_exception(error))
        self.text = f"Caught {self.kind.__name__} in DataLoader worker process {worker}.\nOriginal {text}"

    def reraise(self) -> None:
        """Raise an exception of the original kind with worker and original traceback as its text."""
        text = _Verbatim(self.text) if issubclass(self.kind, KeyError) else self.text
        try:
            error = self.kind(text)
        except Exception:
            raise RuntimeError(self.text) from None  # a kind that cannot be made from one text
        try:
            raise error
        finally:
            del error


class _Verbatim(str):
    """A text that KeyError, which shows the repr of its argument, shows as it is."""

    __repr__ = str.__str__


# ---------------------------------------------------------------------- in the worker


def _work(recipe: Recipe, worker: int, pipe, inherited) -> None:
    """The life of a worker: take tasks until None comes or the main process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the main process's to answer
    for other in inherited:
        other.close()  # a forked copy of a pipe's far end would hide that the main process is gone
    failure = _prepare(recipe, worker)
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    newest = [0]
    threading.Thread(target=_receive, args=(pipe, tasks, newest), daemon=True).start()
    epoch, fetcher = None, None
    while (task := tasks.get()) is not None:
        if task[0] < newest[0]:
            continue  # of an iteration that nobody waits for any more
        result = failure
        if failure is None:
            if task[0] != epoch:
                epoch, fetcher = task[0], None
            fetcher, result = _read(recipe, worker, fetcher, task[2])
        if not _reply(pipe, worker, task, result):
            return


def _prepare(recipe: Recipe, worker: int) -> Failure | None:
    """Seed all generators as PyTorch does, and call the user's worker_init_fn."""
    global _info
    seed = recipe.base_seed + worker
    random.seed(seed)
    manual_seed(seed)
    np.random.seed(_generate_state(recipe.base_seed, worker))
    kernels.use("reference")  # compiled threads do not survive a fork
    _info = WorkerInfo(worker, recipe.num_workers, seed, recipe.dataset)
    try:
        if recipe.init_fn is not None:
            recipe.init_fn(worker)
    except Exception as error:
        return Failure(error, worker)
    return None


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """The four numbers that seed NumPy in a worker; PyTorch's name for it."""
    return np.random.SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4).tolist()


def _receive(pipe, tasks, newest) -> None:
    """Empty the pipe into `tasks`; the end of the pipe is the end of the tasks."""
    with suppress(EOFError, OSError):
        while (task := pipe.recv()) is not None:
            newest[0] = task[0]
            tasks.put(task)
    tasks.put(None)


def _read(recipe, worker, fetcher, index):
    try:
        if fetcher is None:
            fetcher = fetcher_of(recipe.dataset, recipe.batched, recipe.collate_fn, recipe.drop_last)
        return fetcher, fetcher.fetch(index)
    except StopIteration as error:
        return fetcher, End() if hasattr(fetcher, "ended") else Failure(error, worker)
    except Exception as error:
        return fetcher, Failure(error, worker)


def _reply(pipe, worker, task, result) -> bool:
    """Send a result; one that cannot be pickled becomes a Failure. False where nobody listens any more.

    As a copy: memory that is shared (as `pipe.send` may do it) would be gone with the worker.
    """
    try:
        pipe.send_bytes(pickle.dumps((task[0], task[1], result)))
    except OSError:
        return False
    except Exception as error:
        if isinstance(result, Failure):
            result.kind = RuntimeError  # its own kind is known to this process only; its text tells the rest
        else:
            result = Failure(error, worker)
        pipe.send_bytes(pickle.dumps((task[0], task[1], result)))
    return True


# ---------------------------------------------------------------------- in the main process


class WorkerPool:
    """The workers of one loader."""

    def __init__(self, recipe: Recipe, context: Any = None) -> None:
        context = context or multiprocessing.get_context()
        self.pipes: list[Any] = []
        self.processes: list[Any] = []
        self.epoch, self._creator = 0, os.getpid()
        for worker in range(recipe.num_workers):
            here, there = context.Pipe()
            inherited = [*self.pipes, here] if context.get_start_method() == "fork" else []
            process = context.Process(target=_work, args=(recipe, worker, there, inherited), daemon=True)
            self.pipes.append(here)
            try:
                process.start()
            except BaseException:
                self.close()
                raise
            self.processes.append(process)
            there.close()

    def send(self, worker: int, number: int, index: Sequence[int]) -> None:
        """Give a worker the task of reading batch `number`."""
        try:
            self.pipes[worker].send((self.epoch, number, index))
        except OSError:
            self._complain(worker)

    def receive(self, timeout: float) -> tuple:
        """The next result that any worker has: (worker, number, result). RuntimeError after `timeout` seconds (0: never)."""
        deadline = time.monotonic() + timeout if timeout else None
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = wait([*self.pipes, *(process.sentinel for process in self.processes)], left)
            if not ready:
                raise WorkerError(tr("DataLoader timed out after {} seconds", timeout), "a longer timeout, or fewer workers")
            for worker, pipe in enumerate(self.pipes):
                if pipe in ready:
                    try:
                        epoch, number, result = pipe.recv()
                    except (EOFError, OSError):
                        self._complain(worker)
                    if epoch == self.epoch:
                        return worker, number, result
                    break
            else:
                self._complain(next(i for i, one in enumerate(self.processes) if one.sentinel in ready))

    def _complain(self, worker: int):
        process = self.processes[worker]
        process.join(_PATIENCE)
        code = process.exitcode
        how = tr("was killed by signal {}", -code) if code is not None and code < 0 else tr("ended with exit code {}", code)
        cause = tr("DataLoader worker {} (pid {}) {}", worker, process.pid, how)
        raise WorkerError(cause, "num_workers=0 shows the error where it happens; signal 9 often means too little memory")

    def close(self, patience: float = _PATIENCE) -> None:
        """End all workers: ask, wait for as long as `patience` seconds, then terminate."""
        if os.getpid() != self._creator:
            return  # a forked copy of the loader owns no workers
        for pipe in self.pipes:
            with suppress(OSError):
                pipe.send(None)
            pipe.close()
        deadline = time.monotonic() + patience
        for process in self.processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.exitcode is None:
                process.terminate()
                process.join()
        self.pipes, self.processes = [], []


class WorkerError(BadakError, RuntimeError):
    """A worker that ended or kept silent."""
