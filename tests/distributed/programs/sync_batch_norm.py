"""SyncBatchNorm on ranks with batches of different sizes next to BatchNorm of the whole batch on each."""

import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
draw = np.random.default_rng(0)


def model():
    """A convolution, the norm, and a convolution."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Tanh(), nn.Conv2d(4, 3, 2))


whole, net = model(), nn.SyncBatchNorm.convert_sync_batchnorm(model())
ranked = DDP(net)
cuts = np.cumsum([0, *range(2, 2 + size)])  # rank r has 2 + r pictures
for _ in range(3):
    x = torch.tensor(draw.normal(5, 2, (cuts[-1], 2, 6, 6)).astype(np.float32))
    ours = x[cuts[rank] : cuts[rank + 1]].clone().requires_grad_()
    x.requires_grad_()
    for each, batch in ((whole, x), (ranked, ours)):
        each.zero_grad()
        (each(batch).square().sum() * (1 if each is whole else size)).backward()  # DDP takes the mean over ranks
    torch.testing.assert_close(ours.grad / size, x.grad[cuts[rank] : cuts[rank + 1]], rtol=1e-4, atol=2e-5)
    for (name, p), q in zip(whole.named_parameters(), net.parameters()):
        torch.testing.assert_close(q.grad, p.grad, rtol=1e-4, atol=1e-3, msg=lambda text, name=name: f"{name}: {text}")
        with torch.no_grad():
            p -= 1e-3 * p.grad
            q -= 1e-3 * p.grad
    for (name, b), c in zip(whole.named_buffers(), net.buffers()):
        torch.testing.assert_close(c, b, rtol=1e-5, atol=1e-6, msg=lambda text, name=name: f"{name}: {text}")
alone = torch.distributed.new_group([0])
if rank == 0:
    of_one, plain = nn.SyncBatchNorm(2, process_group=alone), nn.BatchNorm2d(2)
    assert torch.equal(of_one(x.detach()), plain(x.detach()))
whole.eval(), net.eval()
torch.testing.assert_close(net(x), whole(x), rtol=1e-5, atol=1e-5)
sys.stdout.write(f"rank {rank} agrees\n")
