"""Training runs with DistributedDataParallel, the same program for torch over gloo and for badak over MPI: `ddp.py FOLDER`.

Each rank writes its parameters after every one of them.
"""

import pickle
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


class Net(nn.Module):
    """Layers of several kinds; `spare` is used by some ranks only, `never` by none."""

    def __init__(self, seed, norm):
        super().__init__()
        self.embed = nn.Embedding(11, 12)
        self.mix = nn.Linear(12, 16)
        self.norm = nn.BatchNorm1d(16) if norm else nn.LayerNorm(16)
        self.out = nn.Linear(16, 5)
        self.spare, self.never = nn.Linear(16, 5), nn.Linear(3, 3)
        draw = np.random.default_rng(seed)
        with torch.no_grad():
            for p in self.parameters():
                p.copy_(torch.tensor(draw.normal(0, 0.3, tuple(p.shape)).astype(np.float32)))

    def forward(self, ids, spare=False):
        x = self.norm(torch.relu(self.mix(self.embed(ids).mean(1))))
        return self.out(x) + (self.spare(x) if spare else 0)


def batch(step):
    """This rank's examples of one step."""
    draw = np.random.default_rng([7, step, rank])
    return torch.tensor(draw.integers(0, 11, (6, 4))), torch.tensor(draw.integers(0, 5, 6))


def train(*, norm=False, spare=(), micro=1, twice=False, optimizer="AdamW", **options):
    """Six steps; the parameters and buffers of this rank at the end."""
    net = Net(rank, norm)  # other values on every rank: the first one's count
    model = DDP(net, **options)
    opt = getattr(torch.optim, optimizer)(model.parameters(), lr=0.01)
    for step in range(6):
        opt.zero_grad()
        for part in range(micro):
            ids, labels = batch(step * micro + part)
            with model.no_sync() if part < micro - 1 else nullcontext():
                loss = nn.functional.cross_entropy(model(ids, rank in spare), labels) / micro
                loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


def triggered():
    """A forward within no_sync() whose backward is shared all the same, as accelerate asks for it."""
    net = Net(3, False)
    del net.spare, net.never  # every parameter gets a gradient
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(3):
        opt.zero_grad()
        ids, labels = batch(step)
        with model.no_sync():
            loss = nn.functional.cross_entropy(model(ids), labels)
        before = model.require_backward_grad_sync, model.require_forward_param_sync
        model.require_backward_grad_sync = model.require_forward_param_sync = True
        model.reducer.prepare_for_backward([])
        loss.backward()
        model.require_backward_grad_sync, model.require_forward_param_sync = before
        opt.step()
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


def uneven():
    """Ranks with 2, 3, ... batches."""
    model = DDP(Net(3, False), find_unused_parameters=True)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    with model.join():
        for step in range(2 + rank):
            opt.zero_grad()
            ids, labels = batch(step)
            nn.functional.cross_entropy(model(ids), labels).backward()
            opt.step()
    return {name: value.detach().numpy().copy() for name, value in model.state_dict().items()}


shares = [
    list(DistributedSampler(range(17), shuffle=shuffle, drop_last=drop)) for shuffle in (True, False) for drop in (True, False)
]
results = {
    "plain": train(find_unused_parameters=True),
    "small buckets": train(find_unused_parameters=True, bucket_cap_mb=0.0005),
    "no_sync": train(find_unused_parameters=True, micro=3),
    "buffers": train(find_unused_parameters=True, norm=True, optimizer="SGD"),
    "some unused": train(find_unused_parameters=True, spare=(1,)),
    "sgd": train(find_unused_parameters=True, optimizer="SGD", gradient_as_bucket_view=True),
    "triggered": triggered(),
    "uneven": uneven(),
    "shares": {str(i): np.array(share) for i, share in enumerate(shares)},
}
Path(sys.argv[1], f"rank-{rank}.pickle").write_bytes(pickle.dumps(results))
dist.destroy_process_group()
