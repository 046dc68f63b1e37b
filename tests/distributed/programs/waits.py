"""Rank 0 waits in every way there is for a rank that comes to nothing: `waits.py late` or `waits.py ended`. It writes a line
for each way: the share of the time in which it computed, and what was raised.
"""

import json
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

how = sys.argv[1]
SHORT = timedelta(seconds=0.6)
LARGE = 2**20  # numbers: MPI keeps so long a message until the other side takes it


def polled(work):
    """As a program does that has something else to do meanwhile."""
    until = time.monotonic() + 20
    while not work.is_completed() and time.monotonic() < until:
        time.sleep(0.005)
    work.wait()


def batch(group):
    ops = [
        dist.P2POp(dist.isend, torch.zeros(LARGE), 1, group),
        dist.P2POp(dist.irecv, torch.zeros(3), 1, group),
    ]
    for work in dist.batch_isend_irecv(ops):
        work.wait()


WAYS = {
    "recv": lambda g: dist.recv(torch.zeros(3), 1, g),
    "recv from any": lambda g: dist.recv(torch.zeros(3), None, g),
    "recv with a tag": lambda g: dist.recv(torch.zeros(3), 1, g, tag=5),
    "irecv": lambda g: dist.irecv(torch.zeros(3), 1, g).wait(),
    "irecv, limit of its own": lambda g: dist.irecv(torch.zeros(3), 1, g).wait(timedelta(seconds=0.3)),
    "send": lambda g: dist.send(torch.zeros(LARGE), 1, g),
    "isend": lambda g: dist.isend(torch.zeros(LARGE), 1, g).wait(),
    "batch": batch,
    "barrier": lambda g: dist.barrier(g),
    "monitored_barrier": lambda g: dist.monitored_barrier(g, timedelta(seconds=0.3)),
    "all_reduce": lambda g: dist.all_reduce(torch.zeros(3), group=g),
    "all_reduce, long": lambda g: dist.all_reduce(torch.zeros(LARGE), group=g),
    "all_reduce, later": lambda g: dist.all_reduce(torch.zeros(3), group=g, async_op=True).wait(),
    "all_reduce, future": lambda g: dist.all_reduce(torch.zeros(3), group=g, async_op=True).get_future().wait(),
    "all_reduce, polled": lambda g: polled(dist.all_reduce(torch.zeros(3), group=g, async_op=True)),
    "broadcast": lambda g: dist.broadcast(torch.zeros(3), 1, g),
    "gather": lambda g: dist.gather(torch.zeros(3), [torch.zeros(3), torch.zeros(3)], 0, g),
    "scatter": lambda g: dist.scatter(torch.zeros(3), None, 1, g),
    "all_to_all": lambda g: dist.all_to_all_single(torch.zeros(4), torch.zeros(4), group=g),
    "all_gather_object": lambda g: dist.all_gather_object([None, None], "x", g),
    "broadcast_object_list": lambda g: dist.broadcast_object_list([None], 1, g),
    "scatter_object_list": lambda g: dist.scatter_object_list([None], None, 1, g),
}
if how == "ended":
    WAYS["irecv, polled"] = lambda g: polled(dist.irecv(torch.zeros(3), 1, g))
dist.init_process_group("mpi", timeout=SHORT)
groups = {name: dist.new_group([0, 1]) for name in WAYS}
WAYS["new_group"] = lambda g: dist.new_group([0, 1], use_local_synchronization=how == "late")
dist.barrier()
if dist.get_rank() == 0:
    for name, way in WAYS.items():
        began, computed = time.monotonic(), time.process_time()
        try:
            way(groups.get(name))
            said = "nothing"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        share = (time.process_time() - computed) / (time.monotonic() - began)
        sys.stdout.write(json.dumps([name, share, said]) + "\n")
    sys.stdout.flush()
elif how == "late":
    time.sleep(0.7 * len(WAYS) + 20)
