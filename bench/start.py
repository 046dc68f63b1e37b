"""How long one waits before anything happens: `python -m bench.start [--runs 7] [--skip-cold]`.

import of badak and, next to it, of NumPy and PyTorch; the first token of `badak generate` on a small run, from the start of
the process; `badak train gpt` with one step, from start to end, on a machine that has no compiled kernel yet and on one that
has; and compiling every kernel.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from badak.inspect.profiling.machine import describe, version
from bench.places import keep, place

IMPORT = "from time import perf_counter as now; start = now(); import {}; print(now() - start)"
PROMPT = "The early bird"


def import_seconds(package: str) -> float:
    """Seconds of one import in a new process."""
    command = [sys.executable, "-c", IMPORT.format(package)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def first_token_seconds(run: Path, kernels: str) -> float:
    """Seconds from the start of the process to the first character after the prompt."""
    command = [sys.executable, "-m", "badak", "generate", str(run), "--prompt", PROMPT, "--max-new-tokens", "3"]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "BADAK_KERNELS": kernels}) as process:
        assert process.stdout is not None
        read = process.stdout.read(len(PROMPT) + 1)
        taken = perf_counter() - start
        process.stdout.read()
    assert len(read) > len(PROMPT), "badak generate wrote nothing after the prompt"
    return taken


def small_run(folder: Path) -> Path:
    """A run to ask: two steps of `badak train gpt` at its default sizes."""
    train(folder, "run", 2)
    return folder / "run"


def train(folder: Path, run: str, steps: int, **environment: str) -> None:
    """`badak train gpt` at its default sizes."""
    text = folder / "text.txt"
    text.write_text(f"{PROMPT} catches the worm.\n" * 200, encoding="utf-8")
    asked = {"--data": text, "--run": folder / run, "--steps": steps}
    command = [sys.executable, "-m", "badak", "train", "gpt", *(str(part) for pair in asked.items() for part in pair)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})


def one_step_seconds(folder: Path) -> dict[str, float]:
    """Seconds of a process that trains for one step: with an empty cache of kernels, and once more with what it kept."""
    found = {}
    for name in ("nothing compiled yet", "kernels kept"):
        start = perf_counter()
        train(folder, name, 1, NUMBA_CACHE_DIR=str(folder / "first"))
        found[f"one step of training, {name}"] = perf_counter() - start
    return found


def cold_compile_seconds(folder: Path) -> float:
    """Seconds of `badak warmup` with an empty cache."""
    start = perf_counter()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    subprocess.run([sys.executable, "-m", "badak", "warmup"], check=True, capture_output=True, env=environment)
    return perf_counter() - start


def repeated(measure: Callable[[], float], runs: int) -> dict[str, float]:
    """Median and extremes, after one run that only fills the caches of the system."""
    measure()
    taken = [measure() for _ in range(runs)]
    return {"seconds": float(np.median(taken)), "best": min(taken), "worst": max(taken)}


def main() -> None:
    """Measure, write, print."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has its bytecode: so have all
    parser = argparse.ArgumentParser(prog="python -m bench.start", description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--skip-cold", action="store_true", help="do not compile everything again")
    parser.add_argument("--out", type=Path, default=place("start"))
    wanted = parser.parse_args()
    found = {f"import {name}": repeated(partial(import_seconds, name), wanted.runs)
             for name in ("numpy", "badak", "torch") if version(name) or name == "badak"}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        run = small_run(Path(folder))
        for kernels in ("numba", "reference"):
            found[f"first token, {kernels} kernels"] = repeated(partial(first_token_seconds, run, kernels), wanted.runs)
        if not wanted.skip_cold:
            once = one_step_seconds(Path(folder)) | {"cold compile": cold_compile_seconds(Path(folder))}
            found |= {name: dict.fromkeys(("seconds", "best", "worst"), seconds) for name, seconds in once.items()}
    for name, each in found.items():
        print(f"{name:<44}{each['seconds']:>8.3f} s   ({each['best']:.3f} .. {each['worst']:.3f})")
    keep(wanted.out, {"machine": describe(), "seconds": found})


if __name__ == "__main__":
    main()
