"""A training in the manner of PyTorch's tutorials: mp.spawn, a group, a sampler, DDP, a checkpoint by the first rank."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def setup(rank, world_size):
    os.environ["MASTER_ADDR"] = "localhost"
    os.environ["MASTER_PORT"] = "12355"
    dist.init_process_group("gloo", rank=rank, world_size=world_size)


def main(rank, world_size, epochs, folder):
    setup(rank, world_size)
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64, 8), torch.randn(64, 1))
    model = DDP(torch.nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    for epoch in range(epochs):
        loader.sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        if folder == "fails" and rank == 1:
            raise ValueError("no such epoch")
    if rank == 0:
        torch.save(model.module.state_dict(), os.path.join(folder, "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(main, args=(2, 3, sys.argv[1]), nprocs=2, join=True)
    sys.stdout.write("trained\n")
