"""A program whose rank 1 fails in its sixth step: `fails.py HOW [FILE]`; with a FILE only in its first life."""

import os
import signal
import sys
import time

import torch
import torch.distributed as dist

how = sys.argv[1]
first = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0"
dist.init_process_group("mpi")
x = torch.ones(3)
for step in range(8):
    dist.all_reduce(x)
    if dist.get_rank() == 1 and step == 5 and (first or len(sys.argv) < 3):
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        if how == "raise":
            raise ValueError("no such token")
        if how == "memory":
            import resource

            held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (held + 2**28, held + 2**28))
            torch.ones(2**30)
        if how == "exit":
            sys.exit(3)
        if how == "end":
            sys.exit(0)
        if how == "vanish":  # without a word to the others
            os._exit(0)
        if how == "other":  # the first rank waits for this one, and this one for the first
            dist.recv(x, 0)
        if how == "sleep":
            time.sleep(300)
    if how == "forever":
        sys.stderr.write(f"rank {dist.get_rank()} works\n")
        time.sleep(300)
sys.stdout.write(f"rank {dist.get_rank()} of {os.environ['WORLD_SIZE']} done: {x[0].item()}\n")  # at once
