"""Worlds and groups one after the other, each of which sums a long row."""

import badak
from badak import distributed as dist

right = shared = 0
for world in range(6):
    dist.init_process_group("mpi")
    rank = dist.get_rank()
    shared += dist.group.WORLD.shared is not None
    for group in (None, *((dist.new_group([0, 1]) for _ in range(20)) if world == 0 else ())):
        x = badak.full((2**20,), float(rank + 1))
        dist.all_reduce(x, group=group)
        right += bool((x == 3).all())
    dist.destroy_process_group()
print(f"rank {rank}: {right} sums are right, {shared} worlds share memory", flush=True)
