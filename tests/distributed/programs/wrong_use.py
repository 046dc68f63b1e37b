"""What people do wrong between ranks: each case prints what this rank was told."""

import datetime
import sys

import torch
import torch.distributed as dist


def told(name, call):
    """Print the error of a call, in one line."""
    try:
        call()
        text = "no error"
    except Exception as error:
        text = " / ".join(f"{type(error).__name__}: {error}".splitlines())
    sys.stdout.write(f"{name} [{rank}] {text}\n")  # at once, next to the other rank


rank = "?"
told("before", lambda: dist.barrier())
dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=60))
rank = dist.get_rank()
told("twice", lambda: dist.init_process_group("gloo"))
told("shape", lambda: dist.all_reduce(torch.ones(2 + rank)))
told("dtype", lambda: dist.broadcast(torch.ones(2, dtype=torch.float64 if rank else torch.float32), 0))
told("kind", lambda: dist.barrier() if rank else dist.all_reduce(torch.ones(1)))
told("root", lambda: dist.broadcast(torch.ones(1), rank))
told("op", lambda: dist.all_reduce(torch.ones(1), op=dist.ReduceOp.MAX if rank else dist.ReduceOp.MIN))
told("source", lambda: dist.broadcast(torch.ones(1), 7))
told("number", lambda: dist.all_reduce(3.0))
told("list", lambda: dist.all_gather([torch.ones(1)], torch.ones(1)))
told("band", lambda: dist.all_reduce(torch.ones(1), op=dist.ReduceOp.BAND))
told("group", lambda: dist.new_group([0, 5]))
told("groups", lambda: dist.new_group([rank]))
told("self", lambda: dist.send(torch.ones(1), rank))
told("mail", lambda: dist.recv(torch.ones(3), 0) if rank else dist.send(torch.ones(2), 1))
told("split", lambda: dist.all_to_all_single(torch.ones(4), torch.ones(4), [1, 3], [1 + rank, 3 - rank]))
outside = dist.new_group([1])
told("member", lambda: dist.get_process_group_ranks(outside))
told("works", lambda: dist.barrier())
short = dist.new_group(timeout=datetime.timedelta(seconds=1))
told("late", lambda: None if rank else dist.all_reduce(torch.ones(2), group=short))
told("broken", lambda: None if rank else dist.barrier(short))
dist.barrier()
if rank == 0:
    soon = datetime.timedelta(seconds=1)
    told("local", lambda: dist.new_group([0, 1], timeout=soon, use_local_synchronization=True))
if rank == 1:
    told("gone", lambda: dist.barrier())
