"""A random run of collectives, the same program for torch over gloo and for badak over MPI: `collectives.py FOLDER COUNT SEED`.

Each rank writes what it holds after each of them.
"""

import pickle
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
common, own = np.random.default_rng(seed), np.random.default_rng([seed, rank])  # decisions of all; data of each
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
DTYPES = [*FLOATS, torch.int64, torch.int32, torch.uint8, torch.int8]
OPS = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]
groups = [None, dist.new_group(list(range(size))), dist.new_group([size - 1])]


def draw(shape, dtype):
    """Values of this rank; sometimes in memory that is not contiguous."""
    x = torch.tensor(own.integers(-4, 5, shape) * 0.375 if dtype in FLOATS else own.integers(0, 5, shape)).to(dtype)
    return x.t().contiguous().t() if x.dim() == 2 and common.random() < 0.3 else x


def one():
    """One collective; the tensors that hold its result."""
    shape = tuple(int(n) for n in common.integers(1, 6, common.integers(0, 4)))
    if common.random() < 0.2:
        shape = (int(common.integers(1, 40_000)),)
    dtype, op = DTYPES[common.integers(len(DTYPES))], OPS[common.integers(len(OPS))]
    chosen, root = int(common.integers(len(groups))), int(common.integers(size))
    group = groups[chosen]
    inside = chosen != 2 or rank == size - 1  # the last group has one member
    root = root if chosen != 2 else size - 1
    n = dist.get_world_size(group) if inside else 0
    kind = common.integers(12)
    x = draw(shape, dtype)
    if not inside:
        return [x]
    others = [torch.zeros(shape, dtype=dtype) for _ in range(n)]
    if kind == 0:
        dist.all_reduce(x, op=op, group=group)
    elif kind == 1:
        work = dist.all_reduce(x, op=op, group=group, async_op=True)
        work.wait()
    elif kind == 2:
        dist.broadcast(x, src=root, group=group)
    elif kind == 3:
        dist.all_gather(others, x, group=group)
    elif kind == 4:
        dist.gather(x, others if rank == root else None, dst=root, group=group)
    elif kind == 5:
        parts = [torch.tensor(own.integers(0, 9, shape)).to(dtype) for _ in range(n)]
        dist.scatter(x, parts if rank == root else None, src=root, group=group)
    elif kind == 6:
        parts = [torch.tensor(own.integers(0, 3, shape)).to(dtype) for _ in range(n)]
        dist.reduce_scatter(x, parts, op=op, group=group)
    elif kind == 7:
        dist.reduce(x, dst=root, op=op, group=group)
        x = x if rank == root else torch.zeros(1)
    elif kind == 8:
        x = x.contiguous() if shape else x.reshape(1)
        others = [torch.zeros((n * x.shape[0], *x.shape[1:]), dtype=dtype)]
        dist.all_gather_into_tensor(others[0], x, group=group)
    elif kind == 9:
        names = [None] * n
        dist.all_gather_object(names, {"rank": rank, "shape": shape}, group=group)
        others = [torch.tensor([name["rank"], *name["shape"]]) for name in names]
    elif kind == 10:
        shape = shape or (1,)
        x = torch.zeros(shape, dtype=dtype)
        rows = torch.tensor(own.integers(0, 3, (n * shape[0], *shape[1:]))).to(dtype)
        dist.reduce_scatter_tensor(x, rows, op=op, group=group)
    elif kind == 11 and n > 1:
        there = (rank + 1) % n
        y = torch.zeros(shape, dtype=dtype)
        handles = [dist.isend(x, there, group=group, tag=3), dist.irecv(y, (rank - 1) % n, group=group, tag=3)]
        for handle in handles:
            handle.wait()
        others = [y]
    return [x, *others]


results = []
for _ in range(count):
    results.append([(str(x.dtype).split(".")[-1], tuple(x.shape), x.to(torch.float64).numpy().copy()) for x in one()])
dist.barrier()
(folder / f"rank-{rank}.pickle").write_bytes(pickle.dumps(results))
dist.destroy_process_group()
