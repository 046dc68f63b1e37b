"""MPI carries what ranks say to each other: the only file that names mpi4py.

A process is a rank if something that speaks MPI has started it: `badak launch`, `mpirun`, `srun`. It tells so by environment
variables; MPI itself is loaded when a group is formed.
"""

import atexit
import json
import math
import os
import sys
import time
from contextlib import suppress
from functools import cache
from typing import Any

from badak.core.errors import NotSupportedError, StateError, tr
from badak.distributed import heartbeat
from badak.distributed.clock import HALF_AN_HOUR, limited
from badak.distributed.errors import DistBackendError
from badak.distributed.places import among_many, check_library, place

_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")
_LO = "lo0" if sys.platform == "darwin" else "lo"
_HERE = {  # what keeps MPI, where all ranks are on one machine, from opening a door to others; MPICH's two ways, Open MPI's
    "PMI": {"UCX_TLS": "self,sm", "FI_TCP_IFACE": _LO, "FI_SOCKETS_IFACE": _LO, "FI_UDP_IFACE": _LO},
    "Open MPI": {"OMPI_MCA_btl": "self,sm"},
}
GONE = 1  # the tag of the last word of a rank on `engine().words`: it has ended
LAST = 200  # groups of which it says how far it came: a message that MPI sends at once
MEETING = 2  # and the first of the tags there under which ranks come together to make a group


def announce() -> None:
    """Where this process is one of several ranks: tell the program so in torchrun's variables, and load MPI.

    MPI is loaded here because it waits for all ranks then; later one of them could have failed already.
    """
    here = place()
    if here is not None:
        load_mpi()
    if here is not None and "RANK" not in os.environ:
        os.environ.update({name: str(value) for name, value in zip(_TORCHRUN, here)})
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29500")


class Engine:
    """MPI in this process: `MPI` is the library, `world` a communicator of our own, `words` one for short messages."""

    def __init__(self) -> None:
        check_library()
        known = among_many()
        if known is not None and known.local_size == known.size:
            for name, value in _HERE.get(known.who, {}).items():
                os.environ.setdefault(name, value)
        try:
            import mpi4py

            mpi4py.rc.finalize = False  # see _say_goodbye
            from mpi4py import MPI
        except (ImportError, RuntimeError) as error:  # RuntimeError: the wheel is there, the library is not
            cause = tr("several ranks need MPI, which cannot be loaded here ({})", error)
            raise NotSupportedError(cause, 'pip install "badak[mpi]"') from error
        here = place()
        if here is not None and (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size) != here[:2]:
            cause = tr("this process was started as rank {} of {}, but for the MPI that is installed here ({}) it is rank {} of {}",
                       here.rank, here.size, MPI.Get_library_version()[:24].strip(), MPI.COMM_WORLD.rank,
                       MPI.COMM_WORLD.size)  # fmt: skip
            raise StateError(cause, "the mpirun of that MPI (badak launch finds it)")
        self.MPI = MPI
        self.world = MPI.COMM_WORLD.Dup()
        self.words = MPI.COMM_WORLD.Dup()
        self.ended: dict[int, dict[str, int]] = {}  # the ranks that have said their last word, and how far they came
        self.reached: dict[str, int] = {}  # how many collectives this rank has finished, by the key of their group
        self.sent: list[Any] = []
        self.left: list[Any] = []  # given up, but MPI may still read and write their memory: none of it can be cancelled safely
        self.others_left = False  # a rank that has left something does not come to MPI's end, which would wait for it
        self.process = os.getpid()
        self.excepthook, sys.excepthook = sys.excepthook, self._uncaught
        atexit.register(self._say_goodbye)

    def _uncaught(self, kind, error, trace) -> None:
        """An error that nobody catches ends all ranks: the others would wait for this one."""
        self.excepthook(kind, error, trace)
        failed(error.with_traceback(trace))

    def end_all(self, error: BaseException) -> None:
        """End every rank, at once: the guard sees to it where there is one, else MPI."""
        sys.stdout.flush()
        sys.stderr.flush()
        code = error.code if isinstance(error, SystemExit) else 130 if isinstance(error, KeyboardInterrupt) else 1
        if not isinstance(code, int):  # sys.exit("why")
            sys.stderr.write(f"{code}\n")
            code = 1
        if heartbeat.is_open():
            heartbeat.last_words(error)
            os._exit(code)
        time.sleep(0.2)  # mpiexec passes on what was said; what it has not read by now, it drops
        self.MPI.COMM_WORLD.Abort(code)

    def _say_goodbye(self) -> None:
        """Tell the others that this rank will come to nothing any more, and how far it came."""
        if os.getpid() == self.process and not self.MPI.Is_finalized():  # a fork of a rank is none
            others = {*range(self.words.size)} - {self.words.rank}
            said = json.dumps([bool(self.left), dict(list(self.reached.items())[-LAST:])]).encode()
            self.sent = [said, *(self.words.Isend([said, len(said), self.MPI.BYTE], dest, GONE) for dest in others)]
            self._wait_for_the_others()
            if not self.left and not self.others_left:
                self.MPI.Finalize()
            else:
                _tell_mpiexec()

    def _wait_for_the_others(self) -> None:
        """MPI's end waits for all ranks, and holds Python still: to a guard that would look like a rank that hangs.

        And where a rank ends without MPI's end, MPI's starter ends the others.
        """
        sys.stdout.flush()
        sys.stderr.flush()
        pause = 1e-4
        try:
            while absent := sorted(set(range(self.words.size)) - {self.words.rank} - self.hear().keys()):
                heartbeat.waits_for(heartbeat.END, absent)
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
        except KeyboardInterrupt:  # the others will not come to MPI's end, either
            os._exit(130)
        heartbeat.goes_on()

    def hear(self) -> dict[int, dict[str, int]]:
        """The ranks whose program has ended, and how many collectives of each group they have finished."""
        status = self.MPI.Status()
        while self.words.Iprobe(self.MPI.ANY_SOURCE, GONE, status):
            said = bytearray(status.Get_count(self.MPI.BYTE))
            self.words.Recv([said, len(said), self.MPI.BYTE], status.source, GONE)
            left, self.ended[status.source] = json.loads(bytes(said))
            self.others_left = self.others_left or left
        return self.ended

    def came(self, rank: int, key: str) -> float:
        """How many collectives of a group a rank had finished when it ended; infinity where it could not say of so many groups."""
        said = self.ended[rank]
        return said.get(key, 0 if len(said) < LAST else math.inf)

    def done(self, requests: list) -> bool:
        """Whether all of these requests are complete. Asking is what makes MPI go on."""
        try:
            return self.MPI.Request.Testall(requests)
        except self.MPI.Exception as error:
            raise DistBackendError(tr("MPI reports: {}", error.Get_error_string()), "see what the other ranks say") from error


def _tell_mpiexec() -> None:
    """What MPI's end would tell MPICH's starter, which kills the ranks still at their end where one has left without a word."""
    if "HYDI_CONTROL_FD" in os.environ and "PMI_FD" in os.environ:
        with suppress(OSError):
            os.write(int(os.environ["PMI_FD"]), b"cmd=finalize\n")
            os.read(int(os.environ["PMI_FD"]), 100)  # it has heard it


def load_mpi(seconds: float = HALF_AN_HOUR) -> None:
    """Load MPI, which waits for all ranks then, so long at most, and let the guard know."""
    heartbeat.open_board()
    if not is_loaded():
        heartbeat.waits("the start of MPI")
        with limited(seconds):
            engine()
    heartbeat.live()


@cache
def engine() -> Engine:
    """MPI, loaded when first asked for. Raises NotSupportedError where it is not installed."""
    return Engine()


def is_loaded() -> bool:
    """Whether this process speaks MPI already."""
    return engine.cache_info().currsize > 0


def is_watched() -> bool:
    """Whether the end of this process concerns other ranks, or a guard."""
    return is_loaded() and (engine().words.size > 1 or heartbeat.is_open())


def failed(error: BaseException) -> None:
    """An error ends this program: end the other ranks as well, if there are any, and tell the guard, if there is one."""
    if is_watched():
        engine().end_all(error)
