"""Rates of products next to PyTorch's and NumPy's, and their share of the machine's peak: `python -m bench.products [--threads 1 2]
[--way float32 bf16-amx ...] [--only dw]`.

For every way that badak has to multiply numbers of a kind, a process for each number of threads, so that every library has that
many. In it the libraries take turns on the same arrays, with the time of the CPU on one thread, so that other programs count
little, and that of the clock on several. The rate is that of the fastest of many short rounds, in brackets of the upper quartile;
the ratio to PyTorch that of these, in brackets the median of the ratios of each turn, which holds where the machine's own speed
changes. "of peak" divides by what the unit does on registers alone, in the same process (`bench.peaks`): no memory is read there.
PyTorch takes the way that it likes best for numbers of the kind.
On several threads there is a pause before each turn: PyTorch's threads keep a core busy for 5 ms after their last product and
OpenBLAS's for 50 to 110, in which the next library would have a core less. After it come calls that are not measured, as long as
the pause: a virtual machine may put threads that have slept on one core for a while.

`--features avx2` (or avx512, avx512_vnni, avx512_bf16) holds all libraries to the instructions of an older CPU.

A name is the product's part in a layer with weights (N, K): forward y = x w^T (M, K) (K, N), dx = dy w, dw = dy^T x.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from time import perf_counter, sleep, thread_time
from typing import Any

import numpy as np

from badak.inspect.profiling.machine import environment, processor
from badak.kernels import numba
from badak.kernels.half import BFLOAT16
from badak.kernels.numba import bf16_gemm, int8
from bench.peaks import UNITS, peak
from bench.places import FEATURES

LIBRARIES = "badak", "torch", "numpy"


@dataclass(frozen=True)
class Way:
    """Numbers of a kind, multiplied by one unit of the processor. `unit`: its name in `bench.peaks`."""

    kind: str
    name: str
    unit: str

    def ways(self):
        """Of badak's ways for this kind of numbers; None where there is one only."""
        return {"float32": None, "bfloat16": bf16_gemm.WAYS, "int8": int8.WAYS}[self.kind]

    def why_not(self) -> str:
        return self.ways().why_not(self.name) if self.ways() else ""


WAYS = {
    "float32": Way("float32", "float32", "float32"),
    "bf16-amx": Way("bfloat16", "amx", "amx_bf16"),
    "bf16-avx512": Way("bfloat16", "avx512_bf16", "avx512_bf16"),
    "bf16-float32": Way("bfloat16", "float32", "float32"),
    "int8-amx": Way("int8", "amx", "amx_int8"),
    "int8-vnni": Way("int8", "vnni", "vnni"),
}
GIGA, ROUND = 1e9, 4e-3  # seconds of a round, roughly
PAUSES = {"badak": 0.001, "torch": 0.01, "numpy": 0.12}  # seconds until the threads of each one sleep
# (what, M, N, K)
PRODUCTS = {
    "W1": [("forward", 1792, 96, 32), ("dw", 96, 32, 1792)],
    "W4": [("forward", 768, 512, 128), ("dw", 512, 128, 768)],
    "a head": [("forward", 512, 192, 128)],
    "W5": [
        ("forward", 2048, 1152, 384),
        ("forward", 2048, 384, 1536),
        ("dx", 2048, 1536, 384),
        ("dw", 384, 1536, 2048),
        ("dw", 1536, 384, 2048),
    ],
    "W7": [
        ("forward", 256, 3072, 768),
        ("forward", 256, 768, 3072),
        ("dx", 256, 768, 3072),
        ("dw", 3072, 768, 256),
        ("dw", 2304, 768, 256),
    ],
    "GPT-2, a token": [("forward", 1, 2304, 768), ("forward", 1, 50257, 768)],
    "GPT-2": [("forward", 128, 3072, 768), ("forward", 128, 768, 3072)],
    "BERT-base": [("forward", 1024, 3072, 768), ("dw", 3072, 768, 1024)],
    "MiniLM": [("forward", 4096, 1536, 384), ("forward", 4096, 384, 1536)],
    "ViT-B": [("forward", 197, 3072, 768), ("forward", 1576, 768, 768)],
    "Llama": [("forward", 1024, 1024, 1024), ("dx", 1024, 1024, 2816), ("dw", 1024, 1024, 2048)],
}


def calls(what: str, m: int, n: int, k: int, kind: str = "float32") -> dict[str, Callable[[], Any]]:
    """The product in each library that has it, on the same random arrays."""
    import torch

    rng = np.random.default_rng(0)
    left, right = ((k, m) if what == "dw" else (m, k)), ((n, k) if what == "forward" else (k, n))
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in (left, right))
    if kind == "int8":
        return {"badak": partial(numba.linear_int8, a, *numba.quantize_rows(b), None)}
    narrow = [each.astype(BFLOAT16) for each in (a, b)] if kind == "bfloat16" else [a, b]
    x, y = narrow[0].T if what == "dw" else narrow[0], narrow[1].T if what == "forward" else narrow[1]
    tx, ty = (torch.from_numpy(each).to(getattr(torch, kind)) for each in (a, b))
    runs = (
        partial(numba.linear, *narrow, None) if what == "forward" else partial(numba.matmul, x, y),
        partial(torch.mm, tx.T if what == "dw" else tx, ty.T if what == "forward" else ty),
        partial(np.matmul, x, y),
    )
    return dict(zip(LIBRARIES[: 3 if kind == "float32" else 2], runs))


def rates(
    what: str, m: int, n: int, k: int, threads: int, rounds: int, libraries: Sequence[str] = LIBRARIES, kind: str = "float32"
) -> dict[str, Any]:
    """Gop/s by library, of the fastest round and of the upper quartile, and the median ratio of badak to PyTorch."""
    runs = {name: run for name, run in calls(what, m, n, k, kind).items() if name in libraries}
    clock, times = thread_time if threads == 1 else perf_counter, max(1, int(ROUND * 100 * GIGA / (2 * m * n * k)))
    taken: dict[str, list[float]] = {name: [] for name in runs}
    last = list(runs)[-1]
    for turn in range(rounds + 1):
        for name, run in runs.items():
            if threads > 1:
                sleep(PAUSES[last])
                last, awake = name, clock() + PAUSES[last]
                while clock() < awake:
                    run()
            start = clock()
            for _ in range(times):
                run()
            if turn:
                taken[name].append((clock() - start) / times)
    work = 2 * m * n * k / GIGA
    found = {name: (work / min(each), work / float(np.quantile(each, 0.25))) for name, each in taken.items()}
    return found | ({"ratio": float(np.median(np.divide(taken["torch"], taken["badak"])))} if "torch" in taken else {})


def measure(threads: int, rounds: int, only: str, way: str = "float32", libraries: Sequence[str] = LIBRARIES) -> list[dict]:
    """The rows of one process."""
    import torch

    torch.set_num_threads(threads)
    numba.set_num_threads(threads)
    found = WAYS[way]
    if found.why_not():  # asking also has the system permit tile registers to this process
        return []
    using, most = found.ways().use(found.name) if found.ways() else nullcontext(), peak(found.unit, threads)
    with using:
        return [
            {"of": model, "product": f"{what} {m} x {k} -> {n}", "peak": most}
            | rates(what, m, n, k, threads, rounds, libraries, found.kind)
            for model, products in PRODUCTS.items()
            for what, m, n, k in products
            if only in f"{model} {what}" and (what == "forward" or found.kind != "int8")
        ]


def show(rows: list[dict], threads: int, way: str = "float32", features: str | None = None) -> None:
    """Print the rows, and the mean of the ratios to PyTorch."""
    there = [name for name in LIBRARIES if name in rows[0]]
    unit = f"{UNITS[WAYS[way].unit].title} does {rows[0]['peak']:.0f} Gop/s at most"
    limit = f", {features} alone" if features else ""
    print(f"\n{processor()}, threads {threads}{limit}, {way} ({unit}): Gop/s, fastest round (upper quartile)\n")
    versus = f"{'badak / torch':>16}" if "torch" in there else ""
    print(f"{'':16}{'product':30}{''.join(f'{name:>15}' for name in there)}{versus}{'of peak':>9}")
    for row in rows:
        ours = row["badak"]
        shown = "".join(f"{row[name][0]:8.0f} ({row[name][1]:4.0f})" for name in there)
        ratio = f"{ours[0] / row['torch'][0]:9.2f} ({row['ratio']:.2f})" if versus else ""
        print(f"{row['of']:16}{row['product']:30} {shown}{ratio:>16}{ours[0] / row['peak']:9.0%}")
    if versus:
        fastest = np.exp(np.mean([np.log(row["badak"][0] / row["torch"][0]) for row in rows]))
        median = np.exp(np.mean([np.log(row["ratio"]) for row in rows]))
        print(f"\ngeometric mean of badak / torch {fastest:.3f} ({median:.3f})")


def tables(
    threads: list[int], rounds: int, only: str, ways: Sequence[str] = tuple(WAYS),
    libraries: Sequence[str] = LIBRARIES, features: str | None = None,
) -> None:  # fmt: skip
    """Measure and print a table for each way and number of threads, each in a process of its own."""
    for way in ways:
        reason = WAYS[way].why_not()
        if reason:
            print(f"\n{way}: not measured, {reason}")
            continue
        for count in threads:
            command = [sys.executable, "-m", "bench.products", "--alone", "--threads", str(count), "--way", way]
            command += ["--rounds", str(rounds), "--only", only, "--libraries", *libraries]
            limits = {**environment(count), **FEATURES.get(features or "", {})}
            done = subprocess.run(command, env=limits, stdout=subprocess.PIPE, text=True, check=True)
            rows = json.loads(done.stdout.splitlines()[-1])
            if rows:
                show(rows, count, way, features)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, os.cpu_count() or 1}))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", default="", help="rows whose model and product contain this")
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--features", choices=FEATURES, help="the most that all may use of the CPU")
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES), help="badak and torch always")
    parser.add_argument("--alone", action="store_true", help="measure in this process and print JSON")
    wanted = parser.parse_args()
    libraries = ["badak", "torch", *wanted.libraries]
    if wanted.alone:
        print(json.dumps(measure(wanted.threads[0], wanted.rounds, wanted.only, wanted.way[0], libraries)))
    else:
        tables(wanted.threads, wanted.rounds, wanted.only, wanted.way, libraries, wanted.features)


if __name__ == "__main__":
    main()
