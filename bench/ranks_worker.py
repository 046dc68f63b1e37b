"""A rank of `bench.ranks`: builds a workload under DistributedDataParallel and times steps, as its starter asks over a socket.

Waiting for the next question it sleeps, so that it takes nothing from those who are measured.
"""

import importlib
import os
import sys
import time
import warnings
from multiprocessing.connection import Client, Connection


class Steps:
    """The training of a workload on this rank."""

    def __init__(self, work, bucket_mb: float | None):
        torch = importlib.import_module("torch")
        from bench.steps import Training

        self.training = Training(work, "blocks")
        rank = torch.distributed.get_rank()
        self.training.batch = [torch.roll(x, rank, 0) + 0 for x in self.training.batch]
        wrap = torch.nn.parallel.DistributedDataParallel
        self.ddp = wrap(self.training.model, bucket_cap_mb=bucket_mb, broadcast_buffers=False)

    def step(self, mode: str) -> float:
        """One step, or only the sums of its gradients: seconds."""
        training, begin = self.training, time.perf_counter()
        if mode == "sums":
            self.ddp._reducer.share()
            return time.perf_counter() - begin
        training.optimizer.zero_grad(set_to_none=True)
        if mode == "shared":
            self.ddp(*training.batch).backward()
        elif mode == "late":
            self.late()
        else:
            with self.ddp.no_sync():
                self.ddp(*training.batch).backward()
        training.optimizer.step()
        return time.perf_counter() - begin

    def late(self) -> None:
        """The same sums, begun when backward is over."""
        reducer = self.ddp._reducer
        reducer.overlaps = False
        try:
            self.ddp(*self.training.batch).backward()
        finally:
            reducer.overlaps = True


def pin(rank: int) -> None:
    """Stay on a core."""
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[rank % len(cores)]})


def rank_here() -> int:
    """What the starter says."""
    return int(next((os.environ[name] for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "RANK") if name in os.environ), "0"))


def serve(library: str, port: int, rank: int) -> None:
    """Answer until told to stop."""
    from bench.peers import prepare
    from bench.ranks_sums import timed
    from bench.workloads import Workload

    pin(rank)
    prepare(library)
    warnings.simplefilter("ignore", FutureWarning)  # broadcast_buffers is going to be called otherwise
    dist = importlib.import_module("torch.distributed")
    dist.init_process_group("mpi" if library == "badak" else "gloo")
    line: Connection = Client(("127.0.0.1", port), authkey=b"bench")
    line.send(dist.get_rank())
    steps = None
    while (asked := line.recv()) is not None:
        if "work" in asked:
            steps = Steps(Workload(**asked["work"]), asked["bucket_mb"])
            line.send(steps.training.parameters)
        elif "size" in asked:
            buckets = steps.ddp._reducer.buckets
            line.send((4 * steps.training.parameters, len(buckets) + 1))
        elif "sizes" in asked:
            torch = importlib.import_module("torch")
            rows = [torch.zeros(size) for size in asked["sizes"]]
            line.send([timed(lambda x=x: dist.all_reduce(x), dist.barrier, 10) for x in rows])
        else:
            line.send([steps.step(asked["mode"]) for _ in range(asked["count"])])
    line.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), rank_here())
