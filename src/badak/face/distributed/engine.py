"""MPI carries what ranks say to each other: the only file that names mpi4py.

A process is a rank if something that speaks MPI has started it: `badak launch`, `mpirun`, `srun`. It tells so by environment
variables; MPI itself is loaded when a group is formed.
"""

import atexit
import os
import sys
from functools import cache
from typing import Any, NamedTuple

from badak.errors import MissingError
from badak.face.distributed import board
from badak.face.distributed.errors import DistBackendError

_STARTERS = (  # the variables in which a starter says rank, size, local rank, local size
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
)
_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
GONE = 1  # the tag of the last word of a rank on `engine().words`: it has ended
MEETING = 2  # and the first of the tags there under which ranks come together to make a group


class Place(NamedTuple):
    """Which rank this process is, of how many; and which of those on its machine."""

    rank: int
    size: int
    local_rank: int
    local_size: int


def place() -> Place | None:
    """Where MPI has put this process; None for one that it did not start, or started alone."""
    for names in _STARTERS:
        try:
            rank, size = (int(os.environ[name]) for name in names[:2])
        except (KeyError, ValueError):
            continue
        if size > 1:
            return Place(rank, size, int(os.environ.get(names[2], rank)), int(os.environ.get(names[3], size)))
    return None


def announce() -> None:
    """Where this process is one of several ranks: tell the program so in torchrun's variables, and load MPI.

    MPI is loaded here because it waits for all ranks then; later one of them could have failed already.
    """
    here = place()
    if here is not None:
        join()
    if here is not None and "RANK" not in os.environ:
        os.environ.update({name: str(value) for name, value in zip(_TORCHRUN, here)})
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")


class Engine:
    """MPI in this process: `MPI` is the library, `world` a communicator of our own, `words` one for short messages."""

    def __init__(self) -> None:
        try:
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:  # RuntimeError: the wheel is there, the library is not
            raise MissingError(
                f"several ranks need MPI, which cannot be loaded here ({error})", 'pip install "badak[mpi]"'
            ) from error
        self.MPI = MPI
        self.world = MPI.COMM_WORLD.Dup()
        self.words = MPI.COMM_WORLD.Dup()
        self.ended: set[int] = set()  # the ranks that have said their last word
        self.sent: list[Any] = []
        self.excepthook, sys.excepthook = sys.excepthook, self._uncaught
        atexit.register(self._say_goodbye)  # runs before mpi4py's own end, which was registered earlier

    def _uncaught(self, kind, error, trace) -> None:
        """An error that nobody catches ends all ranks: the others would wait for this one."""
        self.excepthook(kind, error, trace)
        self.end_all(error.with_traceback(trace))

    def end_all(self, error: BaseException) -> None:
        """End every rank, at once: the guard sees to it where there is one, else MPI."""
        sys.stdout.flush()
        sys.stderr.flush()
        code = error.code if isinstance(error, SystemExit) else 130 if isinstance(error, KeyboardInterrupt) else 1
        if not isinstance(code, int):  # sys.exit("why")
            sys.stderr.write(f"{code}\n")
            code = 1
        if board.is_open():
            board.last_words(error)
            os._exit(code)
        self.MPI.COMM_WORLD.Abort(code)

    def _say_goodbye(self) -> None:
        """Tell the others that this rank will come to nothing any more."""
        if not self.MPI.Is_finalized():
            others = [r for r in range(self.words.size) if r != self.words.rank and r not in self.ended]
            self.sent = [self.words.Isend([b"", 0, self.MPI.BYTE], dest, GONE) for dest in others]

    def hear(self) -> set[int]:
        """The ranks whose program has ended."""
        status = self.MPI.Status()
        while self.words.Iprobe(self.MPI.ANY_SOURCE, GONE, status):
            self.words.Recv([bytearray(), 0, self.MPI.BYTE], status.source, GONE)
            self.ended.add(status.source)
        return self.ended

    def done(self, requests: list) -> bool:
        """Whether all of these requests are complete. Asking is what makes MPI go on."""
        try:
            return self.MPI.Request.Testall(requests)
        except self.MPI.Exception as error:
            raise DistBackendError(
                f"MPI reports: {error.Get_error_string()}", "see what the other ranks say"
            ) from error


def join() -> None:
    """Load MPI, which waits for all ranks then, and let the guard know."""
    board.open_board()
    if not is_loaded():
        board.waits("the start of MPI")
    engine()
    board.live()


@cache
def engine() -> Engine:
    """MPI, loaded when first asked for. Raises MissingError where it is not installed."""
    return Engine()


def is_loaded() -> bool:
    """Whether this process speaks MPI already."""
    return engine.cache_info().currsize > 0


def failed(error: BaseException) -> None:
    """An error ends this program: end the other ranks as well, if there are any."""
    if is_loaded():
        engine().end_all(error)
