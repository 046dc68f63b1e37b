"""How data goes: rows of all ranks to each of them, and their sum to all.

MPI moves the data; values are added here, in the order of `sums.py`, so that the bits do not depend on who adds. A sum gives each
rank a part of the row to add, and then that part to all: each rank sends 2 (n - 1) / n of its row, whatever n is.
"""

from collections.abc import Generator
from typing import Any

import numpy as np

from badak.distributed import sums
from badak.distributed.group import ProcessGroup
from badak.distributed.sums import ReduceOp

Steps = Generator[list, None, Any]  # yields requests of MPI, and gives what they bring
NATIVE = ("float32", "float64", "int32", "int64")  # what MPI adds
LONG = 2**24  # bytes of a piece
HALVES = 2**17  # bytes, from which ranks of one machine, or two ranks, add in the memory of the row
SMALL = 16384  # bytes, up to which every rank gets all parts and adds them itself: one exchange in place of two


def flat(x: np.ndarray) -> np.ndarray:
    """The values in one row: of this memory where it lies so, else a copy."""
    return x.reshape(-1) if x.flags.c_contiguous else np.ascontiguousarray(x).reshape(-1)


def raw(x: np.ndarray) -> np.ndarray:
    """The bytes of a row: MPI knows no bfloat16."""
    return x.view(np.uint8)


def everybody(group: ProcessGroup, own: np.ndarray) -> Steps:
    """All ranks' rows of the same length, one below the other."""
    made = np.empty((group.size(), own.size), own.dtype)
    if group.size() == 1:
        made[0] = own
    else:
        yield [group.comm.Iallgather(raw(own), raw(made.reshape(-1)))]
    return made


def total(group: ProcessGroup, row: np.ndarray, op: ReduceOp) -> Steps:
    """The ranks' rows joined, on every rank, perhaps in the memory of `row`; a long row in pieces that stay in the cache."""
    if group.shared is not None and row.nbytes >= HALVES:
        yield from group.shared.total(row, op)
        return row
    if row.nbytes <= LONG or group.size() == 1:
        return (yield from _joined(group, row, op))
    width = LONG * max(1, group.size() // 8) // row.itemsize  # among many ranks messages would become small
    for at in range(0, row.size, width):
        piece = row[at : at + width]
        made = yield from _joined(group, piece, op)
        if made is not piece:
            piece[...] = made
    return row


def _joined(group: ProcessGroup, row: np.ndarray, op: ReduceOp) -> Steps:
    """One piece. Each rank joins its own part of all rows, then sends it to all."""
    n = group.size()
    if n == 1:
        return sums.tree([row.copy()], op)
    if n == 2 and row.nbytes >= HALVES:
        return (yield from _by_halves(group, row, op))
    if n == 2 and op in (ReduceOp.SUM, ReduceOp.AVG) and row.dtype.name in NATIVE:  # a + b has one order: MPI may add
        yield [group.comm.Iallreduce(group.in_place, row)]
        return sums.mean(row, n) if op is ReduceOp.AVG else row
    if row.nbytes <= SMALL:
        return sums.tree(list((yield from everybody(group, row))), op)
    edges = sums.cut(row.size, n)
    piece = yield from own_piece(group, row, edges, op)
    width = row.itemsize
    counts = [(b - a) * width for a, b in zip(edges, edges[1:])]
    made = np.empty_like(row)
    yield [group.comm.Iallgatherv(raw(piece), [raw(made), counts, [a * width for a in edges[:-1]], group.byte])]
    return made


def _by_halves(group: ProcessGroup, row: np.ndarray, op: ReduceOp) -> Steps:
    """Two ranks: each gives the half that is not its own, joins its own, gives it back. In the memory of `row`."""
    own, middle = group.rank(), row.size // 2
    halves = row[:middle], row[middle:]
    mine, other, came = halves[own], halves[1 - own], np.empty_like(halves[own])
    yield [group.comm.Irecv(raw(came), 1 - own), group.comm.Isend(raw(other), 1 - own)]
    sums.tree_in_pieces([mine, came] if own == 0 else [came, mine], op, mine)
    yield [group.comm.Irecv(raw(other), 1 - own), group.comm.Isend(raw(mine), 1 - own)]
    return row


def own_piece(group: ProcessGroup, row: np.ndarray, edges: list[int], op: ReduceOp) -> Steps:
    """The piece of the joined row that is this rank's to join."""
    n, own, width = group.size(), group.rank(), row.itemsize
    size = edges[own + 1] - edges[own]
    parts = np.empty((n, size), row.dtype)
    counts = [(b - a) * width for a, b in zip(edges, edges[1:])]
    yield [
        group.comm.Ialltoallv(
            [raw(row), counts, [a * width for a in edges[:-1]], group.byte],
            [raw(parts.reshape(-1)), [size * width] * n, [size * width * i for i in range(n)], group.byte],
        )
    ]
    return sums.tree(list(parts), op)
