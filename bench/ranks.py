"""Sums over ranks: badak's all_reduce beside mpi4py's own, and torch's over gloo. `python -m bench.ranks`

Two processes on this machine. Starts itself by mpiexec for the first two, and as two processes for torch.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

SIZES = {1: 300, 1024: 300, 262_144: 40, 4_194_304: 4}  # float32 numbers: calls in a lot, as many on every rank


def timed(call, wait, n: int) -> float:
    """Seconds of one call: the median of five lots."""
    lots = []
    call()
    for _ in range(5):
        wait()
        begin = time.perf_counter()
        for _ in range(n):
            call()
        lots.append((time.perf_counter() - begin) / n)
    return sorted(lots)[2]


def with_mpi() -> None:
    """badak's, and MPI's own on the same memory."""
    from mpi4py import MPI

    import badak
    from badak.face import distributed as dist
    from badak.face.distributed import agree

    dist.init_process_group("mpi")
    for size, n in SIZES.items():
        x = badak.zeros(size)
        row = x.numpy()
        seconds = {"badak": timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)}
        agree._checks = False
        seconds["badak, unchecked"] = timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)
        agree._checks = True
        seconds["mpi4py"] = timed(lambda row=row: MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, row), dist.barrier, n)
        show(size, seconds, dist.get_rank())


def with_torch() -> None:
    """torch's over gloo."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for size, n in SIZES.items():
        x = torch.zeros(size)
        show(size, {"torch, gloo": timed(lambda x=x: dist.all_reduce(x), dist.barrier, n)}, dist.get_rank())
    dist.destroy_process_group()


def show(size: int, seconds: dict[str, float], rank: int) -> None:
    """A line for each."""
    if rank == 0:
        for name, took in seconds.items():
            print(f"{size:>9,} {name:18} {took * 1e6:10.1f} us {4 * size / took / 1e9:8.2f} GB/s", flush=True)


def main() -> None:
    """Both."""
    me = [sys.executable, "-m", "bench.ranks"]
    subprocess.run([str(Path(sys.executable).parent / "mpiexec"), "-n", "2", *me, "mpi"], check=True)
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29611", "WORLD_SIZE": "2"}
    ranks = [subprocess.Popen([*me, "torch"], env={**env, "RANK": str(rank)}) for rank in range(2)]
    assert [rank.wait(timeout=60) for rank in ranks] == [0, 0]


if __name__ == "__main__":
    {"mpi": with_mpi, "torch": with_torch}.get(sys.argv[-1], main)()
