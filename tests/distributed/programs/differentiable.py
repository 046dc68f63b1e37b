"""Collectives that gradients go through, and a module that gets the values of one rank."""

import pickle
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed import constants
from torch.distributed.distributed_c10d import _get_default_group
from torch.distributed.nn import functional as collectives
from torch.distributed.utils import _sync_module_states

dist.init_process_group("gloo", timeout=constants.default_pg_timeout)
rank = dist.get_rank()
x = torch.arange(6.0).reshape(2, 3).add(rank).requires_grad_()
parts = collectives.all_gather(x.t())
y = collectives.all_reduce(x * (rank + 2))
sum(part.pow(2).sum() * (rank + i + 1) for i, part in enumerate(parts)).backward()
gathered, x.grad = x.grad, None
(y.sin() * (rank + 1)).sum().backward()

torch.manual_seed(rank)
module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
torch.nn.init.constant_(module[0].weight, rank)
module[1].running_mean.fill_(rank)
_sync_module_states(module, _get_default_group(), 2**20, 1, {"0.bias"})
found = [*parts, y, gathered, x.grad, module[0].weight, module[1].running_mean]
names = [dist.Backend("GLOO"), dist.Backend.NCCL, dist.get_default_backend_for_device("cpu"), dist.is_available()]
kept = [t.detach().tolist() for t in found], names, dist.ReduceOp.SUM == dist.ReduceOp.RedOpType.SUM
Path(sys.argv[1], f"rank-{rank}.pickle").write_bytes(pickle.dumps(kept))
dist.destroy_process_group()
