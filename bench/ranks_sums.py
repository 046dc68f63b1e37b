"""A rank of `bench.ranks sums`: seconds of all_reduce over sizes. `bench.ranks_sums badak | torch FILE`"""

import json
import sys
import time
from pathlib import Path

from bench.ranks_worker import pin, rank_here

SIZES = {1: 100, 1024: 100, 262_144: 10, 4_194_304: 2}  # float32 numbers: calls in a lot, as many on every rank
Rows = dict[int, dict[str, float]]


def timed(call, wait, n: int) -> float:
    """Seconds of one call: the least of nine lots."""
    lots = []
    call()
    for _ in range(9):
        wait()
        begin = time.perf_counter()
        for _ in range(n):
            call()
        lots.append((time.perf_counter() - begin) / n)
    return min(lots)


def with_mpi() -> tuple[int, Rows]:
    """badak's, and MPI's own on the same memory."""
    from mpi4py import MPI

    import badak
    from badak import distributed as dist
    from badak.distributed import consistency_check

    dist.init_process_group("mpi")
    rows: Rows = {}
    for size, n in SIZES.items():
        x = badak.zeros(size)
        row = x.numpy()
        seconds = {"badak": timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)}
        consistency_check._checks = False
        seconds["badak, unchecked"] = timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)
        consistency_check._checks = True
        seconds["mpi4py"] = timed(lambda row=row: MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, row), dist.barrier, n)
        rows[size] = seconds
    return dist.get_rank(), rows


def with_torch() -> tuple[int, Rows]:
    """torch's over gloo."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rows: Rows = {}
    for size, n in SIZES.items():
        x = torch.zeros(size)
        rows[size] = {"torch, gloo": timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)}
    rank = dist.get_rank()
    dist.destroy_process_group()
    return rank, rows


if __name__ == "__main__":
    pin(rank_here())
    rank, found = {"badak": with_mpi, "torch": with_torch}[sys.argv[1]]()
    if rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(found))
