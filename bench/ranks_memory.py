"""Memory of each rank, with an optimizer's memory whole on each, and split over them. `python -m bench.ranks_memory`

A GPT of 25 million numbers, DistributedDataParallel and AdamW, five steps on 1, 2 and 4 ranks of this machine.
"""

import resource
import subprocess
import sys
import time

STEPS = 5
MIB = 2**20


def rank_of(how: str) -> None:
    """One rank; the first one prints a line."""
    from badak.nn.parallel import DistributedDataParallel

    import badak
    from badak import distributed as dist
    from badak.models.gpt import GPT, GPTConfig
    from badak.optim import AdamW, ZeroRedundancyOptimizer

    dist.init_process_group("mpi")
    badak.manual_seed(0)
    gpt = GPT(GPTConfig(vocab_size=512, context=64, d_model=512, heads=8, layers=8))
    model = DistributedDataParallel(gpt)
    params = list(gpt.parameters())
    opt = ZeroRedundancyOptimizer(params, AdamW, lr=1e-3) if how == "split" else AdamW(params, lr=1e-3)
    ids = badak.randint(0, 512, (2, 65))
    took = []
    for _ in range(STEPS):
        opt.zero_grad()
        badak.nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()).backward()
        dist.barrier()
        begin = time.perf_counter()
        opt.step()
        took.append(time.perf_counter() - begin)
    kept = sum(x.numel() * 4 for memory in opt.state.values() for x in memory.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found: list = [None] * dist.get_world_size()
    dist.all_gather_object(found, (kept / MIB, peak / MIB, sorted(took)[STEPS // 2] * 1e3))
    if dist.get_rank() == 0:
        numbers = sum(p.numel() for p in params)
        kepts, peaks, times = ([round(x) for x in column] for column in zip(*found))
        model = f"{numbers / 1e6:.1f} M parameters ({numbers * 4 / MIB:.0f} MiB)"
        print(f"{len(found)} ranks, {how}: {model}; of each rank:", flush=True)
        print(f"    remembered {kepts} MiB, most memory in all {peaks} MiB, a step {times} ms", flush=True)


def main() -> None:
    """Each number of ranks, both ways."""
    for ranks in (1, 2, 4):
        for how in ("whole", "split"):
            launch = [sys.executable, "-m", "badak", "launch", "-n", str(ranks), __file__, how]
            subprocess.run(launch, check=True, stderr=subprocess.DEVNULL, timeout=120)


if __name__ == "__main__":
    rank_of(sys.argv[1]) if len(sys.argv) > 1 else main()
