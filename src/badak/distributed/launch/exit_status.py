"""What the guards tell of their ranks, and whether that is a failure."""

import signal
import socket
import time
from dataclasses import dataclass, field

from badak.core.errors import tr

SILENT = 20.0  # seconds without a sign of life, after which a rank counts as lost
START = 120.0  # seconds within which all ranks must have begun
KNOT = 10.0  # seconds that ranks wait before it is asked whether they wait for each other
END = "the end of the program"  # as in distributed/heartbeat.py
SURE = 1.0  # seconds for which a deadlock must look the same


@dataclass
class Rank:
    """What is known of a rank."""

    line: socket.socket
    host: str
    pid: int = 0
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)  # when its guard last called
    moved: float = field(default_factory=time.monotonic)  # when its program last gave a sign of life
    ticks: int = 0
    steps: int = 0
    waits: float = 0.0  # seconds it has been waiting for others
    what: str = ""  # in which operation
    absent: list[int] = field(default_factory=list)  # the ranks that it waits for, as far as it knows them
    of_any: bool = False  # one of these is enough
    stopped: bool = False  # by SIGSTOP
    end: int | None = None
    why: str = ""
    peak: int = 0  # KiB
    lost: bool = False
    since: float = 0.0  # when it ended, or was lost

    def note(self, said: dict) -> None:
        """What its guard says."""
        self.heard = time.monotonic()
        if "end" in said:
            self.since = self.heard
        if said.get("ticks", self.ticks) != self.ticks or not said.get("ticks", 1):
            self.moved = self.heard
        for name in ("ticks", "steps", "waits", "what", "absent", "of_any", "stopped", "why", "peak", "end"):
            if name in said:
                setattr(self, name, said[name])

    def is_stuck(self, others: set[int]) -> bool:
        """Whether it waits for ever where these never come."""
        return others.issuperset(self.absent) if self.of_any else not others.isdisjoint(self.absent)

    def is_done(self, over: set[int]) -> bool:
        """Whether it ended well, or has nothing left to do, and those that it stays for left without a word."""
        return self.end == 0 or self.what == END and self.waits > SURE and over.issuperset(self.absent)

    @property
    def is_over(self) -> bool:
        """Whether its program has ended, or is out of reach."""
        return self.end is not None or self.lost


class Failure(Exception):
    """Why the ranks are ended."""

    def __init__(self, cause: str, fix: str) -> None:
        super().__init__(cause)
        self.cause, self.fix = cause, fix


class Verdict:
    """Looks at the ranks again and again; `look` raises Failure."""

    def __init__(self, hang: float, names_hosts: bool) -> None:
        self.hang, self.names_hosts = hang, names_hosts
        self.knot: tuple[float, dict[int, str]] = (0.0, {})  # since when which ranks wait for each other

    def look(self, now: float, ranks: dict[int, Rank]) -> None:
        """Raise Failure for a rank that has failed: an error goes before a signal or a loss, which may have followed it."""
        for number, rank in sorted(ranks.items(), key=lambda pair: (pair[1].lost or (pair[1].end or 0) < 0, pair[1].since)):
            who = self.name(number, rank)
            if rank.end:
                raise Failure(f"{who} {how(rank)}", fix_of(rank))
            if rank.lost or now - rank.heard > SILENT:
                raise Failure(f"{who}: its guard is gone, and perhaps its machine", f"look at {rank.host}")
            if rank.end is None:
                self._signs_of_life(now, rank, who, len(ranks))
        self._look_for_waiting(ranks)
        self._look_for_a_knot(now, ranks)

    def name(self, number: int, rank: Rank) -> str:
        """ "rank 1 on node2 (step 812)"."""
        return f"rank {number}" + (f" on {rank.host}" if self.names_hosts else "") + f" (step {rank.steps})"

    def _signs_of_life(self, now: float, rank: Rank, who: str, size: int) -> None:
        still = now - (rank.moved if rank.ticks else rank.began)
        begun = rank.ticks or rank.waits or size == 1  # MPI's start holds Python still; one rank alone has no MPI
        if still <= SILENT:
            return
        if rank.stopped:
            raise Failure(
                f"{who} has given no sign of life for {still:.0f} s: somebody has stopped it (SIGSTOP)",
                "kill -CONT lets a process go on; badak launch --restarts 1 would start all again",
            )
        if rank.ticks:
            raise Failure(
                f"{who} has given no sign of life for {still:.0f} s: it hangs",
                "see what it does there; badak launch --restarts 1 would go on",
            )
        if not begun and still > START:
            raise Failure(
                f"{who} has not come to the start of MPI within {still:.0f} s",
                "see what it does there; badak launch --restarts 1 would start all again",
            )

    def _look_for_waiting(self, ranks: dict[int, Rank]) -> None:
        """Raise Failure where ranks wait too long for one that computes, or does nothing."""
        waiting = {n: r for n, r in ranks.items() if r.end is None and r.waits and r.what != END}
        if self.hang and waiting and max(r.waits for r in waiting.values()) > self.hang:
            longest = max(waiting.values(), key=lambda r: r.waits)
            absent = [str(n) for n, r in sorted(ranks.items()) if n not in waiting]
            raise Failure(
                f"ranks {', '.join(map(str, sorted(waiting)))} have waited {longest.waits:.0f} s in {longest.what}"
                + (f", rank {', '.join(absent)} did not come to it (step {longest.steps})" if absent else ""),
                "call it on every rank; a longer limit: badak launch --hang SECONDS",
            )

    def _look_for_a_knot(self, now: float, ranks: dict[int, Rank]) -> None:
        """Raise Failure where ranks wait for each other, or for one that has ended: it would be for ever."""
        waiting = {n: r for n, r in ranks.items() if r.end is None and r.waits > KNOT and r.absent and r.what != END}
        stuck = {n: r.what for n, r in waiting.items()}
        over = {n for n, r in ranks.items() if r.end is not None}
        while free := [n for n in stuck if not waiting[n].is_stuck(over.union(stuck))]:
            for n in free:
                del stuck[n]
        if stuck != self.knot[1]:
            self.knot = now, stuck
        if stuck and now - self.knot[0] > SURE:
            each = "; ".join(
                f"{self.name(n, ranks[n])} waits in {what} for rank {', '.join(map(str, ranks[n].absent))}"
                for n, what in sorted(stuck.items())
            )
            gone = ", ".join(str(n) for n in sorted(over) if any(n in ranks[m].absent for m in stuck))
            if gone:
                raise Failure(
                    f"rank {gone} has ended, and would have to come still: {each}",
                    "call the same collectives on every rank, and end none before the others are done with it",
                )
            raise Failure(
                f"ranks wait for each other, and nobody would ever come: {each}",
                "call the same collectives in the same order on every rank",
            )


def how(rank: Rank) -> str:
    """How a rank ended, in words."""
    if rank.why:
        return f"ended with {rank.why}"
    assert rank.end is not None
    if rank.end < 0:
        name = signal.Signals(-rank.end).name if -rank.end in signal.Signals.__members__.values() else "a signal"
        peak = f"; it had {rank.peak / 2**20:.1f} GiB at most" if rank.peak else ""
        return f"was killed by {name} ({-rank.end}){peak}"
    return tr("ended with exit code {}", rank.end)


def fix_of(rank: Rank) -> str:
    """What helps."""
    if "MemoryError" in rank.why or "Unable to allocate" in rank.why:
        return "a smaller batch, or fewer ranks on each machine"
    if rank.why:
        return "fix the error above"
    if rank.end == -signal.SIGKILL:
        return "if the system killed it for want of memory: a smaller batch; badak launch --restarts 3 starts again by itself"
    return "badak launch --restarts 3 starts again by itself"
