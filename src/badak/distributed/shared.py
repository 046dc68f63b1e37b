"""Memory that the ranks of one machine have in common, through which they sum long rows.

A row goes in pieces that stay in the cache. Each rank lays the others' parts of its piece where they can read them, joins its
own part of all, in the order of `sums.py`, and lays that there for them, too. MPI gives the memory and lets the ranks meet.
Messages would be copied once more on their way.
"""

import math
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from badak.distributed import sums
from badak.distributed.sums import ReduceOp

PIECE = 2**19  # bytes of a piece, of which each rank has two
TOGETHER = 2**22  # bytes of all of them: a container may have little memory of this kind
PAGE = 4096
LINUX = Path("/dev/shm")


class Shared:
    """The memory of a group whose ranks are all on this machine.

    It is there until the process ends: to give it back earlier, all ranks would have to come together once more.
    """

    def __init__(self, comm: Any, window: Any, width: int) -> None:
        self.comm, self.window, self.own = comm, window, comm.rank
        window.Lock_all()
        rows = [np.frombuffer(window.Shared_query(rank)[0], np.uint8) for rank in range(comm.size)]
        self.places = [[row[:width] for row in rows], [row[width : 2 * width] for row in rows]]
        self.turn = 0  # who is ahead writes into the other one, while the others read yet

    def total(self, row: np.ndarray, op: ReduceOp) -> Iterator[list]:
        """The ranks' rows joined, in the memory of `row`."""
        width = max(1, min(PIECE, self.places[0][0].size) // row.itemsize)
        for at in range(0, row.size, width):
            yield from self._piece(row[at : at + width], op)

    def _piece(self, piece: np.ndarray, op: ReduceOp) -> Iterator[list]:
        places, own = [place[: piece.nbytes].view(piece.dtype) for place in self.places[self.turn]], self.own
        self.turn = 1 - self.turn
        parts = [slice(*edges) for edges in pairwise(sums.cut(piece.size, len(places)))]
        others = [(place, part) for rank, (place, part) in enumerate(zip(places, parts)) if rank != own]
        for _, part in others:
            places[own][part] = piece[part]
        yield from self._meet()
        mine = [(piece if rank == own else place)[parts[own]] for rank, place in enumerate(places)]
        sums.tree_in_pieces(mine, op, mine[own], places[own][parts[own]])
        yield from self._meet()
        for place, part in others:
            piece[part] = place[part]

    def _meet(self) -> Iterator[list]:
        """What each rank has written all can read."""
        self.window.Sync()
        yield [self.comm.Ibarrier()]
        self.window.Sync()


def shared_memory(MPI: Any, comm: Any) -> Shared | None:
    """That of these ranks, which all call this; None where they are on several machines, or one of them gets none."""
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    width = min(PIECE, TOGETHER // (2 * comm.size)) // PAGE * PAGE
    ready, window = here.size == comm.size and width > 0 and _room() > 2 * TOGETHER, None
    here.Free()
    if not _all(MPI, comm, ready):
        return None
    try:
        window = MPI.Win.Allocate_shared(2 * width, 1, comm=comm)
    except MPI.Exception:  # then all send messages
        pass
    return Shared(comm, window, width) if _all(MPI, comm, window is not None) else None


def _all(MPI: Any, comm: Any, yes: bool) -> bool:
    """Whether all ranks say yes."""
    found = np.array([yes], np.int32)
    comm.Allreduce(MPI.IN_PLACE, found, MPI.MIN)
    return bool(found[0])


def _room() -> float:
    """Bytes that are free where Linux keeps such memory: a process that writes to more is killed."""
    return shutil.disk_usage(LINUX).free if LINUX.exists() else math.inf
