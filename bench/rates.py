"""What the machine can do: `python -m bench.rates` prints the rate of SGEMM and of memory, as JSON.

NumPy's BLAS and PyTorch's, where it is installed; the better one counts. badak's own products are measured beside them. It runs
in a process of its own, before, between and after the workloads, so that a machine that slows down is noticed.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

import badak
from badak import kernels
from badak.measure.machine import environment

M, K, N = 2048, 512, 2048
FLOATS = 32 * 2**20  # 128 MiB, far beyond any cache


def rates(threads: int, repeats: int = 15) -> dict[str, float]:
    """{"gflops", "own_gflops", "read_gb_s", "update_gb_s"} on so many threads, measured in a new process."""
    command = [sys.executable, "-m", "bench.rates", str(threads), str(repeats)]
    done = subprocess.run(command, env=environment(threads), capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def best(found: list[dict[str, float]]) -> dict[str, float]:
    """The rates of a whole run: medians over the times that they were taken."""
    return {name: round(float(np.median([each[name] for each in found])), 1) for name in found[0]}


def measure(threads: int, repeats: int) -> dict[str, float]:
    """The better of NumPy and PyTorch, rate by rate, and the products of badak."""
    found = with_numpy(threads, repeats)
    try:
        other = with_torch(threads, repeats)
    except ImportError:
        other = {}
    better = {name: round(max(rate, other.get(name, 0.0)), 1) for name, rate in found.items()}
    return better | {"own_gflops": round(with_badak(threads, repeats), 1)}


def with_badak(threads: int, repeats: int) -> float:
    """GFLOP/s of badak's product."""
    badak.set_num_threads(threads)
    a, b = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
    kernel = kernels.of(a).matmul
    return 2 * M * K * N / median(lambda: kernel(a, b), repeats) / 1e9


def with_numpy(threads: int, repeats: int) -> dict[str, float]:
    """NumPy's own BLAS; memory by NumPy in one Python thread for each core, which computes without the interpreter lock."""
    a, b, c = np.ones((M, K), np.float32), np.ones((K, N), np.float32), np.empty((M, N), np.float32)
    parts = [np.ones(FLOATS // threads, np.float32) for _ in range(threads)]
    others = [np.empty_like(part) for part in parts]
    with ThreadPoolExecutor(threads) as pool:
        read = median(lambda: list(pool.map(np.sum, parts)), repeats)
        update = median(lambda: list(pool.map(lambda x, y: np.add(x, 1, out=y), parts, others)), repeats)
    product = median(lambda: np.matmul(a, b, out=c), repeats)
    return in_units(product, read, update)


def with_torch(threads: int, repeats: int) -> dict[str, float]:
    """PyTorch's BLAS and its elementwise kernels."""
    import torch

    torch.set_num_threads(threads)
    a, b, c = torch.ones(M, K), torch.ones(K, N), torch.empty(M, N)
    x, y = torch.ones(FLOATS), torch.empty(FLOATS)
    product = median(lambda: torch.matmul(a, b, out=c), repeats)
    return in_units(product, median(x.sum, repeats), median(lambda: torch.add(x, 1.0, out=y), repeats))


def in_units(product: float, read: float, update: float) -> dict[str, float]:
    """Seconds of the three as rates."""
    return {
        "gflops": 2 * M * K * N / product / 1e9,
        "read_gb_s": 4 * FLOATS / read / 1e9,
        "update_gb_s": 8 * FLOATS / update / 1e9,
    }


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
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
