"""Processes that write the same numbers: training without locks, tensors sent by queues and pools, ranks by spawn."""

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(rank, model, steps):
    torch.manual_seed(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        x = torch.randn(16, 4)
        loss = F.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def answer(queue, seen, x):
    x[0] = 5.0
    y = torch.zeros(4)
    queue.put(y)
    seen.wait()
    queue.put(y.tolist())


def write(rank, x, y):
    x[rank] = rank + 1
    y[rank] = 7


if __name__ == "__main__":
    for method in ("fork", "spawn"):
        context = mp.get_context(method)
        torch.manual_seed(0)
        model = nn.Linear(4, 1)
        view, state = model.weight.detach()[0], model.state_dict()
        model.share_memory()
        workers = [context.Process(target=train, args=(rank, model, 50)) for rank in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        x = torch.randn(64, 4)
        print(method, F.mse_loss(model(x), x.sum(1, keepdim=True)).item() < 0.05)
        print(torch.equal(view, model.weight[0]), torch.equal(state["weight"], model.weight))
        print([p.is_shared() for p in model.parameters()])

        x, queue, seen = torch.ones(3).share_memory_(), context.Queue(), context.Event()
        worker = context.Process(target=answer, args=(queue, seen, x[1:]))
        worker.start()
        y = queue.get()
        y[1] = 2.0
        seen.set()
        print(queue.get(), x.tolist(), y.is_shared())
        worker.join()

    x, y = torch.zeros(4).share_memory_(), torch.zeros(4)
    mp.spawn(write, args=(x, y), nprocs=2)
    print(x.tolist(), y.tolist(), y.is_shared())

    a = torch.arange(6.0).reshape(2, 3)
    b, c, memory = a.t(), a[1], a.untyped_storage()
    print(b.share_memory_() is b, a.is_shared(), c.is_shared(), memory.is_shared(), b.stride(), b.tolist())
    c.fill_(9)
    print(a.tolist(), b.tolist(), list(memory[12:16]))
    print(torch.ones(0).share_memory_().is_shared(), a.clone().is_shared(), torch.UntypedStorage._new_shared(8).is_shared())

    queue, w = mp.SimpleQueue(), torch.ones(3, requires_grad=True)
    queue.put(w)
    z = queue.get()
    z.data[0] = 4
    print(w.tolist(), z.requires_grad, z.is_leaf)
    for _ in range(20):
        queue.put(torch.ones(10))  # its sender keeps nothing of it
    print(sum(queue.get().sum().item() for _ in range(20)))
    with mp.Pool(2) as pool:
        print([y.tolist() for y in pool.map(torch.neg, [torch.ones(2), torch.zeros(1)])])
    print([x.tolist() for (x,) in DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, num_workers=2)])
