"""Random programs of collectives on all ranks and on parts of them, each with one mistake on one rank: `planted.py SEED COUNT`.

Each rank prints, for each program, what was planted and the first error it was told.
"""

import datetime
import json
import sys

import torch
import torch.distributed as dist

from tests.distributed.planting import plan

LIMIT = 5  # seconds that a collective waits


def do(one: dict, groups: dict) -> None:
    """One collective on this rank."""
    if one["kind"] == "leave":
        dist.destroy_process_group()
        dist.barrier()
    if dist.get_rank() not in one["members"]:
        return
    group = groups[tuple(one["members"])]
    x = torch.ones(one["shape"], dtype=getattr(torch, one["dtype"]))
    kind, n = one["kind"], len(one["members"])
    if kind == "all_reduce":
        dist.all_reduce(x, group=group)
    elif kind == "broadcast":
        dist.broadcast(x, one["root"], group=group)
    elif kind == "all_gather":
        dist.all_gather([torch.empty_like(x) for _ in range(n)], x, group=group)
    elif kind == "barrier":
        dist.barrier(group)
    elif kind == "reduce_scatter":
        dist.reduce_scatter(torch.empty_like(x), [x] * n, group=group)
    elif kind == "mail":
        a, b = one["members"][:2]
        if dist.get_rank() == a:
            dist.send(x, b, group=group)
        elif dist.get_rank() == b:
            dist.recv(x, a, group=group)
    elif kind == "objects":
        dist.all_gather_object([None] * n, {"rank": dist.get_rank()}, group=group)


def told(steps: list[dict]) -> str:
    """The first error of these steps on this rank, in a group of its own."""
    limit = datetime.timedelta(seconds=LIMIT)
    parts = sorted({tuple(one["members"]) for one in right})
    groups = {members: dist.new_group(members, timeout=limit) for members in parts}
    for one in steps:
        try:
            do(one, groups)
        except Exception as error:
            return " / ".join(f"{type(error).__name__}: {error}".splitlines())
    return ""


seed, count = int(sys.argv[1]), int(sys.argv[2])
for number in range(seed, seed + count):
    dist.init_process_group("mpi")
    size, own = dist.get_world_size(), dist.get_rank()
    right, each, planted = plan(number, size)
    said = told(each[own])
    if dist.is_initialized():
        dist.destroy_process_group()
    line = {"number": number, "rank": own, "planted": planted, "said": said}
    sys.stdout.write(json.dumps(line) + "\n")
