"""Before data is sent, every rank tells every other what it is about to do. So a mismatch has a name on all ranks, and a rank
that does not come is known by its number.

What is told is a line of text in a message of a fixed size, from each rank to each. BADAK_DIST_CHECK=0 saves the time.
"""

import hashlib
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.core import config
from badak.core.errors import tr
from badak.distributed.engine import MEETING, engine
from badak.distributed.errors import DistBackendError

if TYPE_CHECKING:
    from badak.distributed.group import ProcessGroup

BYTES = 256
MANY = 64  # ranks, up to which everybody tells everybody
_checks = config.word("DIST_CHECK", ("0", "1"), tr("ranks agree before each collective")) != "0"


def is_checked(group: "ProcessGroup") -> bool:
    """Whether the ranks of this group agree before they send."""
    return _checks and 1 < group.size() <= MANY


class Telling:
    """These ranks of a communicator tell each other a line each: `steps()` is the generator, `absent()` who has not told yet."""

    def __init__(self, comm: Any, ranks: list[int], tag: int, line: str) -> None:
        self.comm, self.ranks, self.tag, self.line = comm, ranks, tag, line
        self.requests: dict[int, Any] = {}

    def absent(self) -> list[int]:
        """Those that have not told."""
        return [rank for rank, request in self.requests.items() if not request.Test()]

    def steps(self) -> Generator[list, None, list[str]]:
        """Tell all, hear all; gives the lines."""
        own = _packed(self.line)
        heard = {rank: own if rank == self.comm.rank else np.zeros(BYTES, np.uint8) for rank in self.ranks}
        sends = []
        for rank in self.ranks:
            if rank != self.comm.rank:
                self.requests[rank] = self.comm.Irecv(heard[rank], rank, self.tag)
                sends.append(self.comm.Isend(own, rank, self.tag))
        yield [*self.requests.values(), *sends]
        self.requests = {}
        return [_unpacked(line) for line in heard.values()]


class Agreement:
    """One exchange of lines on a group, in which they must fit together."""

    def __init__(self, group: "ProcessGroup", line: str, fits: Callable[[list[str]], bool] | None = None) -> None:
        self.group, self.fits = group, fits
        self.n = group.sequence = group.sequence + 1
        self.telling = Telling(group.talk, list(range(group.size())), self.n % group.tags, line)

    def absent(self) -> list[int]:
        """The global ranks that have not told what they do."""
        return [self.group.ranks[r] for r in self.telling.absent()]

    def steps(self) -> Iterator[list]:
        """Tell all, hear all, compare. Raises DistBackendError on every rank alike."""
        group = self.group
        lines = yield from self.telling.steps()
        if self.fits is None and any(line != lines[0] for line in lines):
            raise DistBackendError(
                tr("collective no. {} of {} is not the same on all ranks: {}", self.n, group.called, _by_rank(lines, group.ranks)),
                "call the same collectives in the same order on every rank, with the same shapes and dtypes",
            )
        if self.fits is not None and not self.fits(lines):
            cause = tr("collective no. {} of {} does not fit together: {}", self.n, group.called, _by_rank(lines, group.ranks))
            raise DistBackendError(cause, "what rank i sends to rank j must be what rank j takes from rank i")


def _packed(line: str) -> np.ndarray:
    """The line in its fixed size; of a longer one its beginning and a hash."""
    text = line.encode()
    if len(text) > BYTES:
        text = text[: BYTES - 20] + b".. " + hashlib.sha256(text).hexdigest()[:16].encode()
    made = np.zeros(BYTES, np.uint8)
    made[: len(text)] = np.frombuffer(text, np.uint8)
    return made


def _unpacked(message: np.ndarray) -> str:
    return message.tobytes().rstrip(b"\0").decode(errors="replace")


def _by_rank(lines: list[str], ranks: list[int]) -> str:
    """ "all_reduce of float32 (3,) on rank 0; barrier on ranks 1, 2"."""
    who: dict[str, list[int]] = {}
    for rank, line in zip(ranks, lines):
        who.setdefault(line, []).append(rank)
    return tr("; ").join(
        tr("{} on rank{} {}", line, "s" if len(there) > 1 else "", ", ".join(map(str, there))) for line, there in who.items()
    )


def meeting(ranks: list[int], what: str) -> Telling:
    """These ranks of the world say that they have come to make a group; each must do so before MPI can make it without waiting."""
    line = f"{what} of ranks {ranks}"
    return Telling(engine().words, ranks, MEETING + zlib.crc32(line.encode()) % 30000, line)


def agreement(group: "ProcessGroup", line: str, fits: Any = None) -> Agreement | None:
    """An exchange, where this group makes one."""
    if is_checked(group):
        return Agreement(group, line, fits)
    group.sequence += 1
    return None
