"""What a long run took and next to what: wall time, CPU time, threads, and the machine's load meanwhile."""

import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


def _cpu() -> float:
    """Seconds of CPU of this process and of those that it waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


@contextmanager
def conditions(every: float = 10.0) -> Iterator[dict]:
    """Gives a table that is filled when the block ends.

    seconds, cpu_seconds, threads (OMP_NUM_THREADS, or the number of cores), load: lowest, median and highest of the machine's load
    over a minute, looked at each `every` seconds.
    """
    found: dict = {}
    loads = [os.getloadavg()[0]]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(every):
            loads.append(os.getloadavg()[0])

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    begun, cpu = time.perf_counter(), _cpu()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
        loads.sort()
        found["seconds"] = round(time.perf_counter() - begun, 1)
        found["cpu_seconds"] = round(_cpu() - cpu, 1)
        found["threads"] = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count() or 1))
        found["load"] = [round(loads[place], 1) for place in (0, len(loads) // 2, -1)]
