"""Ranks that are not waited for at once, and inherit a queue, an event and a tensor; and one that fails."""

import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, queue, event, x):
    dist.init_process_group("gloo", rank=rank, world_size=2, init_method="tcp://127.0.0.1:29533")
    if rank == 0:
        queue.put("begun")
    event.wait()
    y = torch.full((2,), rank + 1.0)
    dist.all_reduce(y)
    x[rank] = y[0]
    if rank == 0:
        queue.put(y.tolist())
    dist.destroy_process_group()


def fails(rank, way):
    if rank == 1 and way == "raises":
        raise ValueError("no such thing")
    if rank == 1:
        sys.exit(3)


def main():
    python = mp.get_context("spawn")
    queue, event, x = python.SimpleQueue(), python.Event(), torch.zeros(2).share_memory_()
    context = mp.start_processes(work, args=(queue, event, x), nprocs=2, join=False)
    said = [queue.get(), context.join(timeout=0.1), [each.is_alive() for each in context.processes], len(set(context.pids()))]
    event.set()
    while not context.join():
        pass
    said += [queue.get(), x.tolist(), [each.exitcode for each in context.processes]]
    for way in ("raises", "exits"):
        try:
            mp.spawn(fails, args=(way,), nprocs=2)
        except mp.ProcessRaisedException as error:
            said += [error.error_index, error.error_pid > 0, "ValueError: no such thing" in str(error)]
        except mp.ProcessExitedException as error:
            said += [error.error_index, error.exit_code]
    sys.stdout.write(f"{said}\n")


if __name__ == "__main__":
    main()
