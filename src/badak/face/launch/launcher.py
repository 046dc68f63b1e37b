"""`badak launch`: start the ranks by MPI's own starter, watch them, and end all of them when one has failed.

Each rank has a guard (`guard.py`) on its machine, which holds a line to here. So a failure is known at once: a program that ended,
a process that was killed, a machine that fell silent, a rank that hangs.
"""

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from badak.errors import FileError, MissingError
from badak.face.launch import guard

SILENT = 20.0  # seconds without a sign of life, after which a rank counts as lost
GRACE = 30.0  # seconds that ranks have to end after Ctrl-C
START = 120.0  # seconds within which all guards must have called


@dataclass
class Rank:
    """What is known of a rank."""

    line: socket.socket
    host: str
    heard: float = field(default_factory=time.monotonic)  # when its guard last called
    moved: float = field(default_factory=time.monotonic)  # when its program last gave a sign of life
    ticks: int = 0
    steps: int = 0
    waits: float = 0.0  # seconds it has been waiting for others
    what: str = ""
    end: int | None = None
    why: str = ""
    peak: int = 0  # KiB
    lost: bool = False


@dataclass(frozen=True)
class Order:
    """What to start: the command of each rank, how many, where, and what to do when one fails."""

    command: list[str]
    ranks: int
    hosts: str | None = None
    restarts: int = 0
    logs: str | None = None
    hang: float = 0.0  # seconds that ranks may wait for one that does not come; 0: as long as their group allows


class Failure(Exception):
    """Why the ranks are ended."""

    def __init__(self, cause: str, fix: str):
        super().__init__(cause)
        self.cause, self.fix = cause, fix


def launch(order: Order, say=print) -> int:
    """Run the ranks, again after a failure as often as the order allows; the exit code."""
    for attempt in range(order.restarts + 1):
        try:
            return Attempt(order, attempt).run()
        except Failure as failure:
            left = order.restarts - attempt
            say(f"badak launch: {failure.cause}; all ranks are ended")
            if not left:
                say(f"fix: {failure.fix}")
                return 1
            say(f"badak launch: starting again, {attempt + 1} of {order.restarts} times")
    return 1


class Attempt:
    """One life of all ranks."""

    def __init__(self, order: Order, number: int):
        self.order, self.number = order, number
        self.ranks: dict[int, Rank] = {}
        self.token = secrets.token_hex(8)
        self.server = socket.create_server(("" if order.hosts else "127.0.0.1", 0))
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.over = False
        self.asked = 0  # how often Ctrl-C was pressed
        self.mpi: subprocess.Popen | None = None

    def run(self) -> int:
        """Start, watch, and end: 0 when every rank ended well, 130 after Ctrl-C. Raises Failure."""
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            self.mpi = self._start()
            self.listener.start()
            return self._watch()
        finally:
            self._end_all()
            signal.signal(signal.SIGINT, before)

    def _start(self) -> subprocess.Popen:
        order = self.order
        host = socket.gethostname() if order.hosts else "127.0.0.1"
        port = self.server.getsockname()[1]
        env = {
            **os.environ,
            "BADAK_LAUNCHER": f"{host}:{port}:{self.token}",
            "TORCHELASTIC_RESTART_COUNT": str(self.number),
        }
        env |= {"MASTER_ADDR": host, "MASTER_PORT": str(port), "TORCHELASTIC_MAX_RESTARTS": str(order.restarts)}
        if order.logs:
            Path(order.logs).mkdir(parents=True, exist_ok=True)
            env["BADAK_LAUNCH_LOGS"] = os.path.abspath(order.logs)
        command = [*starter(order), sys.executable, guard.__file__, *order.command]
        return subprocess.Popen(command, env=env, start_new_session=True, stdin=subprocess.DEVNULL)

    def _listen(self) -> None:
        while not self.over:
            try:
                line, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(line,), daemon=True).start()

    def _hear(self, line: socket.socket) -> None:
        """Note what one guard says, to its end."""
        rank: Rank | None = None
        try:
            with line.makefile("r", encoding="utf-8") as text:
                for said in map(json.loads, text):
                    if rank is None:
                        if said.get("hello") != self.token:
                            return
                        rank = self.ranks[said["rank"]] = Rank(line, said["host"])
                        continue
                    rank.heard = time.monotonic()
                    if said.get("ticks", rank.ticks) != rank.ticks or not said.get("ticks", 1):
                        rank.moved = rank.heard
                    for name in ("ticks", "steps", "waits", "what", "why", "peak", "end"):
                        if name in said:
                            setattr(rank, name, said[name])
        except (OSError, ValueError):
            pass
        finally:
            if rank is not None:
                rank.lost = rank.end is None

    # ------------------------------------------------------------------ watching

    def _watch(self) -> int:
        began = last = time.monotonic()
        assert self.mpi is not None
        while True:
            time.sleep(0.1)
            now = time.monotonic()
            if now - last > 5:  # this process itself was stopped: so were perhaps the others
                for rank in self.ranks.values():
                    rank.heard = rank.moved = now
            last = now
            self._look(now)
            if self.asked and all(r.end is not None or r.lost for r in self.ranks.values()):
                return 130
            if self.mpi.poll() is not None:
                self._look(time.monotonic())
                if self.mpi.returncode != 0 or len(self.ranks) < self.order.ranks:
                    raise Failure(f"{starter_name()} ended with code {self.mpi.returncode}", "see what it says above")
                return 0
            if len(self.ranks) < self.order.ranks and now - began > START:
                missing = sorted(set(range(self.order.ranks)) - set(self.ranks))
                raise Failure(
                    f"ranks {missing} did not start within {START:g} s", "see that each host can be reached by ssh"
                )

    def _look(self, now: float) -> None:
        """Raise Failure for the first rank that has failed."""
        if self.asked:
            if self.asked > 1 or now - self.since > GRACE:
                raise Failure("stopped by Ctrl-C", "start again")
            return
        for number, rank in sorted(self.ranks.items(), key=lambda pair: bool(pair[1].end and pair[1].end < 0)):
            if rank.end:
                raise Failure(f"{self._name(number)} {how(rank)}", fix_of(rank))
            if rank.lost or now - rank.heard > SILENT:
                raise Failure(
                    f"{self._name(number)}: its guard is gone, and perhaps its machine", f"look at {rank.host}"
                )
            if rank.ticks and rank.end is None and now - rank.moved > SILENT:
                raise Failure(
                    f"{self._name(number)} has given no sign of life for {now - rank.moved:.0f} s: it hangs, or was stopped",
                    "see what it does there; badak launch --restarts 1 would go on",
                )
        self._look_for_waiting()

    def _look_for_waiting(self) -> None:
        """Raise Failure where ranks wait too long for one that computes, or does nothing."""
        waiting = {n: r for n, r in self.ranks.items() if r.end is None and r.waits}
        if self.order.hang and waiting and max(r.waits for r in waiting.values()) > self.order.hang:
            longest = max(waiting.values(), key=lambda r: r.waits)
            absent = [str(n) for n, r in sorted(self.ranks.items()) if n not in waiting]
            raise Failure(
                f"ranks {', '.join(map(str, sorted(waiting)))} have waited {longest.waits:.0f} s in {longest.what}"
                + (f", rank {', '.join(absent)} did not come to it (step {longest.steps})" if absent else ""),
                "call it on every rank; a longer limit: badak launch --hang SECONDS",
            )

    def _name(self, number: int) -> str:
        rank = self.ranks[number]
        return f"rank {number}" + (f" on {rank.host}" if self.order.hosts else "") + f" (step {rank.steps})"

    # ------------------------------------------------------------------ ending

    def _interrupt(self, number, frame) -> None:
        self.asked += 1
        self.since = time.monotonic()
        self._tell(b"i")

    def _tell(self, order: bytes) -> None:
        for rank in self.ranks.values():
            try:
                rank.line.sendall(order)
            except OSError:
                pass

    def _end_all(self) -> None:
        """No rank is left when this returns."""
        mpi = self.mpi
        if mpi is not None and mpi.poll() is None:
            mpi.kill()  # first, so that it does not report what is done here on purpose
            self._tell(b"k")
            mpi.wait()
            until = time.monotonic() + 5
            while time.monotonic() < until and not all(r.lost or r.end is not None for r in self.ranks.values()):
                time.sleep(0.02)
        self._stop_listening()

    def _stop_listening(self) -> None:
        """End the listener before its socket is closed: the next attempt's has the same number, and it would answer there."""
        self.over = True
        try:
            self.server.shutdown(socket.SHUT_RDWR)
        except OSError:  # systems that shut down connections alone
            socket.create_connection(self.server.getsockname()[:2], timeout=1).close()
        self.server.close()
        if self.listener.is_alive():
            self.listener.join(5)


def how(rank: Rank) -> str:
    """How a rank ended, in words."""
    if rank.why:
        return f"ended with {rank.why}"
    assert rank.end is not None
    if rank.end < 0:
        name = signal.Signals(-rank.end).name if -rank.end in signal.Signals.__members__.values() else "a signal"
        peak = f"; it had {rank.peak / 2**20:.1f} GiB at most" if rank.peak else ""
        return f"was killed by {name} ({-rank.end}){peak}"
    return f"ended with exit code {rank.end}"


def fix_of(rank: Rank) -> str:
    """What helps."""
    if rank.why:
        return "mend the error above"
    if rank.end == -signal.SIGKILL:
        return "if the system killed it for want of memory: a smaller batch; badak launch --restarts 3 starts again by itself"
    return "badak launch --restarts 3 starts again by itself"


def starter_name() -> str:
    """What MPI's own starter is called."""
    return "mpiexec"


def starter(order: Order) -> list[str]:
    """The command line of MPI's own starter. Raises MissingError without one, FileError without the host file."""
    beside = Path(sys.executable).parent / starter_name()
    found = str(beside) if beside.exists() else shutil.which(starter_name())
    if found is None:
        raise MissingError("badak launch: MPI's starter mpiexec was not found", 'pip install "badak[mpi]"')
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60).stdout
    is_open = "Open" in said or "prte" in said.lower()
    if order.hosts and not os.path.isfile(order.hosts):
        raise FileError(f"badak launch: {order.hosts}: there is no such host file", 'a file with lines like "node1:2"')
    if is_open:
        there = ["--hostfile", order.hosts] if order.hosts else []
        return [found, "-n", str(order.ranks), "--oversubscribe", "--allow-run-as-root", *there]
    return [found, "-n", str(order.ranks), *(["-f", order.hosts] if order.hosts else [])]
