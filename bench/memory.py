"""Peak memory of processes: `python -m bench.memory [W5 W7] [--tiny]`, as a table and as JSON.

Each peer makes a few steps in a process of its own, a compiled one is recorded meanwhile; what counts is the most that the
process ever held, and of that what came after the imports.
"""

import argparse
import os
from dataclasses import asdict
from pathlib import Path

from badak.inspect.profiling.machine import describe
from badak.inspect.profiling.peer import Peer
from bench.peers import chosen, command, missing
from bench.places import keep, place
from bench.workloads import WORKLOADS, Workload, parameter_count, shrunk

LABELS = ["badak blocks", "badak layers", "badak compile", "torch blocks", "torch layers"]
STEPS = 6  # the third is the last that is recorded


def peaks(work: Workload, label: str, threads: int) -> dict[str, float]:
    """MiB that one peer held at most: after the imports, and after some steps."""
    (library,) = [each for each in chosen([label]) if each.label == label]
    with Peer(command(library), threads) as peer:
        imported = peer.ask("memory")["peak_mb"]
        peer.ask("build", work=asdict(work))
        peer.ask("steps", count=STEPS)
        return {"imported_mb": imported, "peak_mb": peer.ask("memory")["peak_mb"]}


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=__doc__)
    parser.add_argument("workloads", nargs="*", default=list(WORKLOADS))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--tiny", action="store_true", help="shrink the workloads, to try the machinery")
    parser.add_argument("--out", type=Path, default=place("memory"))
    wanted = parser.parse_args()
    document = {"machine": describe(wanted.threads), "workloads": {}}
    peers = [each for each in chosen([]) if each.label in LABELS and not missing(each)]
    print(f"{'':<40}{'weights':>10}{'imports':>10}{'peak':>10}{'of PyTorch':>12}   MiB")
    for name in wanted.workloads:
        work = shrunk(WORKLOADS[name]) if wanted.tiny else WORKLOADS[name]
        found = {each.label: peaks(work, each.label, wanted.threads) for each in peers if name in each.workloads}
        document["workloads"][name] = found
        best = min((each["peak_mb"] for label, each in found.items() if label.startswith("torch")), default=None)
        for label, each in found.items():
            weights, ratio = 4 * parameter_count(work) / 2**20, f"{each['peak_mb'] / best:.2f}" if best else "-"
            print(f"{name + ' ' + label:<40}{weights:>10.0f}{each['imported_mb']:>10.0f}{each['peak_mb']:>10.0f}{ratio:>12}")
    keep(wanted.out, document)


if __name__ == "__main__":
    main()
