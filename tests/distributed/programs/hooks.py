"""Training runs with communication hooks, the same program for torch over gloo and for badak over MPI: `hooks.py FOLDER`.

Each rank writes its parameters after every one of them, and what its hooks saw.
"""

import pickle
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as default
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
seen = []


class Net(nn.Module):
    """Layers, and one that nobody uses."""

    def __init__(self):
        super().__init__()
        self.spare = nn.Linear(3, 3)
        self.body = nn.Sequential(
            nn.Linear(6, 300), nn.Tanh(), nn.LayerNorm(300), nn.Linear(300, 600), nn.ReLU(), nn.Linear(600, 4)
        )

    def forward(self, x):
        return self.body(x)


def network():
    """The same on every rank."""
    draw = np.random.default_rng(6)
    net = Net()
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(torch.tensor(draw.normal(0, 0.2, tuple(p.shape)).astype(np.float32)))
    return net


def train(hook=None, state=None, **options):
    """Four steps."""
    model = DDP(network(), bucket_cap_mb=0.3, find_unused_parameters=True, **options)
    if hook is not None:
        model.register_comm_hook(state, hook)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        draw = np.random.default_rng([9, step, rank])
        x, y = torch.tensor(draw.normal(size=(5, 6)).astype(np.float32)), torch.tensor(draw.integers(0, 4, 5))
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    return [p.detach().numpy().copy() for p in model.parameters()]


def own_rank(state, bucket):
    """Every rank keeps its own gradients."""
    done = Future()
    done.set_result(bucket.buffer())
    return done


def doubled(state, bucket):
    """Twice the mean, written into each gradient."""
    for g in bucket.gradients():
        g.copy_(g * 2.0)
    work = dist.all_reduce(bucket.buffer(), async_op=True)
    return work.get_future().then(lambda done: done.value()[0] / state["ranks"])


def gathered(state, bucket):
    """All buckets on all ranks, added in the order of the ranks."""
    rows = [torch.zeros_like(bucket.buffer()) for _ in range(size)]
    work = dist.all_gather(rows, bucket.buffer(), async_op=True)

    return work.get_future().then(lambda done: sum(done.value()[1:], done.value()[0]) / size)


def watched(state, bucket):
    """The mean, and what there is to see of a bucket."""
    seen.append((len(bucket.parameters()), bucket.buffer().numel(), [tuple(g.shape) for g in bucket.gradients()], bucket.is_last()))
    assert [g.shape for g in bucket.gradients()] == [p.shape for p in bucket.parameters()]
    return default.allreduce_hook(None, bucket)


def counts():
    """What a hook saw in all four steps: every parameter once in each, the last bucket last."""
    lasts = [last for *_, last in seen]
    return {
        "values": sum(numel for _, numel, _, _ in seen), "parameters": sum(n for n, *_ in seen), "lasts": sum(lasts),
        "at the end": lasts[-1], "shapes": sorted(shape for _, _, shapes, _ in seen for shape in shapes),
    }  # fmt: skip


results = {
    "none": train(),
    "allreduce": train(default.allreduce_hook),
    "group": train(default.allreduce_hook, dist.new_group()),
    "fp16": train(default.fp16_compress_hook),
    "bf16": train(lambda state, bucket: default.bf16_compress_hook(state, bucket)),  # by its name torch wants a GPU for it
    "fp16 wrapped": train(default.fp16_compress_wrapper(default.allreduce_hook)),
    "bf16 wrapped": train(lambda state, bucket: default.bf16_compress_wrapper(default.allreduce_hook)(state, bucket)),
    "own": train(own_rank),
    "doubled": train(doubled, {"ranks": size}),
    "gathered": train(gathered),
    "watched": train(watched),
}
Path(sys.argv[1], f"rank-{rank}.pickle").write_bytes(pickle.dumps((results, counts())))
