"""`badak launch`: start the ranks, watch them, and end all of them when one has failed.

Each rank has an agent (`agent.py`) on its machine, which holds a line to here. So a failure is known at once: a program that ended,
a process that was killed, a machine that fell silent, a rank that hangs.
"""

import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.distributed.launch.exit_status import START, Failure, Rank, Verdict
from badak.distributed.launch.listener import Listener
from badak.distributed.launch.local import Local
from badak.distributed.launch.starter import address, read_hosts, starter
from badak.io.atomic import expect_own, make_folder

AGENT = str(Path(__file__).with_name("agent.py"))
GRACE = 30.0  # seconds that ranks have to end after Ctrl-C
ENDINGS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"} | ({signal.SIGHUP: "SIGHUP"} if hasattr(signal, "SIGHUP") else {})


@dataclass(frozen=True)
class Order:
    """What to start: the command of each rank, how many, where, and what to do when one fails."""

    command: list[str]
    ranks: int
    hosts: str | None = None
    restarts: int = 0
    logs: str | None = None
    hang: float = 0.0  # seconds that ranks may wait for one that does not come; 0: as long as their group allows
    inherited: tuple[int, ...] = ()  # files of this process that the ranks have under the same numbers


class Stopped(Failure):
    """The person does not want to wait."""


def launch(order: Order, say: Callable[[str], None] = print, begun: Callable[["Attempt"], None] = lambda attempt: None) -> int:
    """Run the ranks, again after a failure as often as the order allows; the exit code: 130 after Ctrl-C, 143 after SIGTERM.

    begun is told of each attempt before it starts. Raises NotSupportedError on Windows.
    """
    if sys.platform == "win32":
        cause = tr("badak launch: several ranks run on Linux and macOS; on Windows nobody has run them")
        raise NotSupportedError(cause, "the Windows Subsystem for Linux (WSL); or one process: badak run SCRIPT")
    for attempt in range(order.restarts + 1):
        try:
            begun(life := Attempt(order, attempt, say))
            return life.run()
        except Stopped as stopped:
            say(tr("badak launch: {}; all ranks are ended", stopped.cause))
            return 130
        except Failure as failure:
            left = order.restarts - attempt
            say(tr("badak launch: {}; all ranks are ended", failure.cause))
            if not left:
                say(tr("fix: {}", failure.fix))
                return 1
            say(tr("badak launch: starting again, {} of {} times", attempt + 1, order.restarts))
    return 1


def _logs(folder: Path, ranks: int) -> Path:
    """The folder of the logs, made if absent, which may lie in somebody else's: FileError where it is a link, or a log is one."""
    place = make_folder(folder.parent, folder.name).absolute()
    for path in (place / f"rank-{number}.log" for number in range(ranks)):
        if os.path.lexists(path):
            expect_own(path)
    return place


class Attempt:
    """One life of all ranks."""

    def __init__(self, order: Order, number: int, say: Callable[[str], None]) -> None:
        self.order, self.number, self.say = order, number, say
        self.hosts = read_hosts(order.hosts) if order.hosts else []
        self.address = address(self.hosts)
        self.verdict = Verdict(order.hang, bool(order.hosts))
        self.token = secrets.token_hex(16)
        self.listener = Listener(self.address, self.token, order.ranks)
        self.asked: list[int] = []  # the signals that asked to end
        self.mpi: subprocess.Popen | Local | None = None

    @property
    def ranks(self) -> dict[int, Rank]:
        """What is known of each."""
        return self.listener.ranks

    def run(self) -> int:
        """Start, watch, and end: 0 when every rank ended well, else 128 + the signal that asked for it. Raises Failure."""
        before = {}
        if threading.current_thread() is threading.main_thread():
            before = {n: signal.signal(n, self.interrupt) for n in ENDINGS if signal.getsignal(n) != signal.SIG_IGN}
        try:
            with tempfile.TemporaryDirectory(prefix="badak-launch-") as folder:
                self.listener.thread.start()
                self.mpi = self._start(folder)
                return self._watch()
        finally:
            self._end_all()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _start(self, folder: str) -> subprocess.Popen | Local:
        order, host, port = self.order, self.address, self.listener.port
        env = {**os.environ, "BADAK_LAUNCHER": f"{host}:{port}:{self.token}", "TORCHELASTIC_RESTART_COUNT": str(self.number)}
        env.setdefault("UCX_LOG_LEVEL", "error")  # it warns of the last words of ranks that have ended
        env |= {"MASTER_ADDR": host, "MASTER_PORT": str(port), "TORCHELASTIC_MAX_RESTARTS": str(order.restarts)}
        if order.logs:
            env["BADAK_LAUNCH_LOGS"] = str(_logs(Path(order.logs), order.ranks))
            if sys.stdout.isatty() and sys.stderr.isatty():  # the guard of the first rank hands a progress bar on
                env["BADAK_LAUNCH_WIDTH"] = str(os.get_terminal_size(sys.stdout.fileno()).columns)
        command, line = [sys.executable, "-P", AGENT, *order.command], starter(order.ranks, self.hosts, folder)
        if not line:
            return Local(command, order.ranks, env, order.inherited)
        if not self.hosts:
            self.say("badak launch: Open MPI's mpirun opens a port on every address of this machine; MPICH's wheel needs none")
        return subprocess.Popen([*line, *command], env=env, start_new_session=True, stdin=subprocess.DEVNULL)

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
            if self.asked and (self.mpi.poll() is not None or self.ranks and all(r.is_over for r in self.ranks.values())):
                self.say(f"badak launch: stopped by {ENDINGS[self.asked[0]]}; all ranks have ended")  # type: ignore[index]
                return 128 + self.asked[0]
            if len(self.ranks) == self.order.ranks and all(rank.end == 0 for rank in self.ranks.values()):
                self._tell(b"q")
            self._finish()
            if self.mpi.poll() is not None:
                self._look(time.monotonic())
                if self.mpi.returncode != 0 or len(self.ranks) < self.order.ranks:
                    raise Failure(f"the start of the ranks ended with code {self.mpi.returncode}", "see what is said above")
                return 0
            if len(self.ranks) < self.order.ranks and now - began > START:
                missing = sorted(set(range(self.order.ranks)) - set(self.ranks))
                raise Failure(f"ranks {missing} did not start within {START:g} s", "see that each host can be reached by ssh")

    def _finish(self) -> None:
        """Let ranks end that have nothing left to do, and stay for such as have ended without MPI's end (os._exit)."""
        over = {n for n, rank in self.ranks.items() if rank.is_over}
        if over and len(self.ranks) == self.order.ranks and all(rank.is_done(over) for rank in self.ranks.values()):
            self._tell(b"f")

    # ------------------------------------------------------------------ ending

    def _look(self, now: float) -> None:
        """Raise Failure for what has failed; after Ctrl-C, where the ranks do not end."""
        if not self.asked:
            self.verdict.look(now, self.ranks)
        elif len(self.asked) > 1 or now - self.since > GRACE:
            raise Stopped(f"stopped by {ENDINGS[self.asked[-1]]}, without waiting for the ranks", "")  # type: ignore[index]

    def interrupt(self, number: Any, frame: Any = None) -> None:
        """Ask the ranks to end, as this signal does."""
        self.asked.append(number)
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
            while time.monotonic() < until and not all(r.is_over for r in self.ranks.values()):
                time.sleep(0.02)
        self.listener.close()
