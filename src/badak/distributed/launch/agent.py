"""The guard of one rank: it starts the rank's program, tells the launcher how it fares, and ends it when told.

It imports nothing but Python's own library: it must stay alive, and small, whatever the rank does. It runs as a script, not on
Windows.
The launcher and a guard send each other lines of JSON.
"""

import ctypes
import errno
import json
import mmap
import os
import resource
import select
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from runpy import run_path
from typing import Any, BinaryIO, NoReturn

granted = run_path(str(Path(__file__).parents[2] / "core" / "machine.py"))["quota"]()  # cores of a container
BEAT = 0.25  # seconds between two looks at the rank
SIZE, HEAD, TEXT = 512, struct.Struct("<QQdI"), 400  # as in distributed/heartbeat.py
STARTERS = (
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
)
TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


def place() -> list[int]:
    """[rank, size, local rank, local size]."""
    for names in STARTERS:
        if all(name in os.environ for name in names):
            return [int(os.environ[name]) for name in names]
    return [0, 1, 0, 1]  # MPI says nothing to one rank alone


def share(local_rank: int, local_size: int) -> list[int]:
    """The cores of this rank: those of the machine, divided.

    None where there are fewer cores than ranks, or a container has so many of them at a time: others may be on the same ones.
    """
    if granted is not None:
        return []
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    each = len(cores) // local_size
    return cores[local_rank * each : (local_rank + 1) * each]


def surroundings(here: list[int], cores: list[int], board: str) -> dict[str, str]:
    """The environment of the rank: as many threads as cores, and no more than its part of what a container may use."""
    threads = len(cores) if granted is None else granted // here[3]
    env = {**os.environ, **{name: str(value) for name, value in zip(TORCHRUN, here)}}
    env |= {"BADAK_BOARD": board, "PYTHONUNBUFFERED": "1"}
    for name in ("OMP_NUM_THREADS", "BADAK_NUM_THREADS"):
        env.setdefault(name, str(max(1, threads)))
    return env


def start(command: list[str], env: dict[str, str], cores: list[int], log: str) -> subprocess.Popen:
    """Start the rank. It dies with its guard."""
    tied = ctypes.CDLL(None).prctl if sys.platform == "linux" else None

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # the guard ignores it, and what is ignored would stay so
        if tied is not None:
            tied(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if cores and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, cores)

    shown = log and env["RANK"] == "0"
    out: Any = subprocess.PIPE if shown else log_file(log) if log else None
    err: Any = subprocess.STDOUT if out else None
    if shown and "BADAK_LAUNCH_WIDTH" not in env:  # no terminal, on which both streams keep their order
        err = subprocess.PIPE
    return subprocess.Popen(  # what MPI gave this guard is the rank's
        command, env=env, close_fds=False, preexec_fn=begin, stdout=out, stderr=err
    )


def log_file(path: str) -> BinaryIO:
    """A log to add to, in a folder that may be somebody else's: a file of that folder alone, and no link to another one.

    A file that has another name too (a copy made by hard links) is copied first. Ends this process where there is anything else.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe is refused, not waited for
    try:
        if stat.S_ISLNK(os.lstat(os.path.dirname(path)).st_mode):
            raise OSError(errno.ELOOP, "")
        file = open(os.open(path, flags, 0o666), "rb+", buffering=0)
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file")
        if about.st_nlink > 1:
            with file, open(f"{path}.{os.getpid()}.partial", "xb") as own:
                shutil.copyfileobj(file, own)
            os.replace(own.name, path)
            return log_file(path)
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        end(f"{path}: cannot be written ({why})", "remove it, or name another folder: badak launch --logs DIR")
    return file


def tees(process: subprocess.Popen, log: str) -> list[threading.Thread]:
    """Show what the first rank says, and keep it."""
    pipes = [(pipe, number) for number, pipe in ((1, process.stdout), (2, process.stderr)) if pipe]
    kept = log_file(log) if pipes else None
    made = [threading.Thread(target=tee, args=(pipe, number, kept), daemon=True) for pipe, number in pipes]
    for thread in made:
        thread.start()
    return made


def tee(source: BinaryIO, number: int, log: BinaryIO) -> None:
    """Show one stream, and keep its lines: of a progress bar, whose states begin with a carriage return, nothing."""
    kept = b""
    while text := os.read(source.fileno(), 65536):
        os.write(number, text)
        *lines, kept = (kept + text).split(b"\n")
        log.write(b"".join(line.rpartition(b"\r")[2] + b"\n" for line in lines))
    log.write(kept.rpartition(b"\r")[2])


def connected(address: str, token: str) -> socket.socket:
    """The line to the launcher; ends this process where nobody is there. Words count there after the token alone."""
    host, _, port = address.rpartition(":")
    try:
        line = socket.create_connection((host, int(port)), timeout=20)
        line.settimeout(None)
        line.sendall(token.encode())
    except OSError as error:
        cause = f"{socket.gethostname()} does not reach {address} ({error.strerror or error})"
        end(cause, "each host must be able to open a connection to the one that launches")
    return line


def end(cause: str, fix: str) -> NoReturn:
    """End this process: it cannot do its work."""
    sys.stderr.write(f"badak launch: {cause}\nfix: {fix}\n")
    sys.exit(1)


class Guard:
    """One rank and the line to the launcher."""

    def __init__(self, command: list[str]) -> None:
        address, _, token = os.environ.pop("BADAK_LAUNCHER").rpartition(":")
        log, files = os.environ.pop("BADAK_LAUNCH_LOGS", ""), os.environ.pop("BADAK_LAUNCH_FILES", "")
        self.here, self.dismissed, self.finished = place(), False, False
        self.line = connected(address, token)
        self.folder = tempfile.TemporaryDirectory(prefix="badak-rank-")
        path = os.path.join(self.folder.name, "board")
        with open(path, "wb") as file:
            file.write(bytes(SIZE))
        with open(path, "r+b") as file:
            self.board = mmap.mmap(file.fileno(), SIZE)
        cores = share(*self.here[2:])
        if log:
            os.makedirs(log, exist_ok=True)  # on a machine with disks of its own
        log = os.path.join(log, f"rank-{self.here[0]}.log") if log else ""
        self.process = start(command, surroundings(self.here, cores, path), cores, log)
        for number in filter(None, files.split(",")):  # the rank has them: they close when that ends
            os.close(int(number))
        self.tees = tees(self.process, log)
        self.errors = path + ".error"
        self.say(rank=self.here[0], host=socket.gethostname(), pid=self.process.pid)

    def say(self, **what: object) -> None:
        """One line to the launcher. Where nobody hears it, the rank ends."""
        try:
            self.line.sendall(json.dumps(what).encode() + b"\n")
        except OSError:
            self.process.kill()
            os._exit(1)

    def watch(self) -> None:
        """Tell how the rank fares until it ends; then stay until all have: MPI's starter ends all when a guard ends early."""
        ended = False
        last = 0.0
        while not self.dismissed:
            heard, _, _ = select.select([self.line], [], [], BEAT)
            if heard:
                self.obey(self.told())
            now = time.monotonic()
            if not ended and self.process.poll() is not None:
                ended = True
                self.last_words()
            if now - last > 2 * BEAT:
                last = now
                self.beat()
        self.line.close()

    def told(self) -> bytes:
        """What the launcher says; nothing when it is gone, however its end of the line was closed."""
        try:
            return self.line.recv(64)
        except OSError:
            return b""

    def beat(self) -> None:
        """What the board says."""
        ticks, steps, since, length = HEAD.unpack_from(self.board)
        text = bytes(self.board[HEAD.size : HEAD.size + min(length, TEXT)]).decode(errors="replace")
        ranks, _, what = text.partition(" ")
        waits = max(0.0, time.time() - since) if since else 0.0
        absent = [int(rank) for rank in ranks.replace("|", ",").split(",") if rank.isdigit()] if since else []
        self.say(ticks=ticks, steps=steps, waits=waits, what=what, absent=absent, of_any="|" in ranks, stopped=self.is_stopped())

    def is_stopped(self) -> bool:
        """Whether somebody has stopped the rank (SIGSTOP, a debugger)."""
        try:
            with open(f"/proc/{self.process.pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
        except (OSError, IndexError):  # it has ended; or a system without /proc
            return False

    def last_words(self) -> None:
        """How it ended, when all that it said is shown; a process that it left behind may hold its streams open."""
        for thread in self.tees:
            thread.join(2)
        self.beat()
        code, why = 0 if self.finished else self.process.returncode, ""
        if os.path.exists(self.errors):
            with open(self.errors, encoding="utf-8", errors="replace") as file:
                why = file.read(2000)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.say(end=code, why=why, peak=peak)

    def obey(self, order: bytes) -> None:
        """Stop the rank: "i" as Ctrl-C does, "k" at once, "f" where it has nothing left to do. "q": all ranks have ended well.

        Nothing: the launcher is gone.
        """
        self.dismissed = b"q" in order
        if b"f" in order and self.process.poll() is None:
            self.finished = True
            self.process.kill()
        if b"i" in order and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        if b"k" in order or not order:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.folder.cleanup()
            os._exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the launcher hears it and says what is to be done
    Guard(sys.argv[1:]).watch()
