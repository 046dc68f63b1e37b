"""What the machine can do: `python -m bench.rates` prints the rates of matrix products and of memory, as JSON.

Each rate is the best that NumPy, PyTorch (where it is installed) and badak reach: no library's weakness makes a bound that
another can beat. It runs in a process of its own, before, between and after the workloads, so that a machine that slows down
is noticed.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

import badak
from badak import kernels
from badak.inspect.profiling.machine import environment

M, K, N = 2048, 512, 2048
FLOATS = 32 * 2**20  # 128 MiB, beyond most caches
WIDTH = 1024  # of the weights that badak reads as a model reads them for one token


def rates(threads: int, repeats: int = 15, floats: int = FLOATS) -> dict[str, float]:
    """The best GFLOP/s of products and GB/s of memory on so many threads, measured in a new process; and each one's products.

    floats: how many float32 numbers are read; those that are read and written are always FLOATS.
    """
    command = [sys.executable, "-m", "bench.rates", str(threads), str(repeats), str(floats)]
    done = subprocess.run(command, env=environment(threads), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def best(found: list[dict[str, float]]) -> dict[str, float]:
    """The rates of a whole run: medians over the times that they were taken."""
    return {name: round(float(np.median([each[name] for each in found])), 1) for name in found[0]}


def measure(threads: int, repeats: int, floats: int) -> dict[str, float]:
    """The best of all libraries, rate by rate."""
    found = {"numpy": with_numpy(threads, repeats, floats), "badak": with_badak(threads, repeats, floats)}
    try:
        found["torch"] = with_torch(threads, repeats, floats)
    except ImportError:
        pass
    names = ("gflops", "read_gb_s", "update_gb_s")
    together = {name: max(each[name] for each in found.values() if name in each) for name in names}
    together |= {f"{library}_gflops": each["gflops"] for library, each in found.items()}
    return {name: round(rate, 1) for name, rate in together.items()}


def with_badak(threads: int, repeats: int, floats: int) -> dict[str, float]:
    """badak's matrix product, and the weights of one token."""
    badak.set_num_threads(threads)
    a, b = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
    weights, token = np.ones((max(floats // WIDTH, 1), WIDTH), np.float32), np.ones((1, WIDTH), np.float32)
    kernel = kernels.of(a)
    product = median(lambda: kernel.matmul(a, b), repeats)
    read = median(lambda: kernel.linear(token, weights, None), repeats)
    return {"gflops": gflops(product), "read_gb_s": 4 * weights.size / read / 1e9}


def with_numpy(threads: int, repeats: int, floats: int) -> dict[str, float]:
    """NumPy's own BLAS; memory by NumPy in one Python thread for each core, which computes without the interpreter lock."""
    a, b, c = np.ones((M, K), np.float32), np.ones((K, N), np.float32), np.empty((M, N), np.float32)
    read_from = [np.ones(max(floats // threads, 1), np.float32) for _ in range(threads)]
    parts = [np.ones(FLOATS // threads, np.float32) for _ in range(threads)]
    others = [np.empty_like(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        read = median(lambda: list(pool.map(np.sum, read_from)), repeats)
        update = median(lambda: list(pool.map(lambda x, y: np.add(x, 1, out=y), parts, others)), repeats)
    return in_units(median(lambda: np.matmul(a, b, out=c), repeats), read, update, floats)


def with_torch(threads: int, repeats: int, floats: int) -> dict[str, float]:
    """PyTorch's BLAS and its elementwise kernels."""
    import torch

    torch.set_num_threads(threads)
    a, b, c = torch.ones(M, K), torch.ones(K, N), torch.empty(M, N)
    read_from, x, y = torch.ones(floats), torch.ones(FLOATS), torch.empty(FLOATS)
    product = median(lambda: torch.matmul(a, b, out=c), repeats)
    return in_units(product, median(read_from.sum, repeats), median(lambda: torch.add(x, 1.0, out=y), repeats), floats)


def in_units(product: float, read: float, update: float, floats: int) -> dict[str, float]:
    """Seconds of the three as rates."""
    return {"gflops": gflops(product), "read_gb_s": 4 * floats / read / 1e9, "update_gb_s": 8 * FLOATS / update / 1e9}


def gflops(seconds: float) -> float:
    """The rate of one product."""
    return 2 * M * K * N / seconds / 1e9


def median(run, repeats: int) -> float:
    """Seconds of the middle one of `repeats` calls, after one to warm up."""
    run()
    taken = []
    for _ in range(repeats):
        start = perf_counter()
        run()
        taken.append(perf_counter() - start)
    return float(np.median(taken))


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:4]))))
