"""What happens when others use the cores too: `python -m bench.crowded [W1 W2 W4]`.

A step alone, then with a busy process on every core. A program that shares the cores fairly takes twice as long; one whose
threads wait for each other by spinning takes many times as long.
"""

import argparse
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from badak.inspect.profiling.machine import describe
from badak.inspect.profiling.peer import Peer, interleave
from badak.inspect.profiling.timing import Timing
from bench.peers import chosen, command, missing
from bench.places import keep, place
from bench.workloads import WORKLOADS, shrunk

LABELS = ["badak blocks", "torch blocks"]
BUSY = [sys.executable, "-c", "while True: pass"]


def slowdown(name: str, wanted: argparse.Namespace) -> dict[str, dict]:
    """Label -> the timing alone, on one thread, and among busy processes."""
    work = shrunk(WORKLOADS[name]) if wanted.tiny else WORKLOADS[name]
    found: dict[str, dict] = {}
    peers: dict[tuple[str, int], Peer] = {}
    crowd: list[subprocess.Popen] = []
    try:
        for library in [each for each in chosen([]) if each.label in LABELS and not missing(each)]:
            for threads in (1, os.cpu_count() or 1):
                peer = peers[library.label, threads] = Peer(command(library), threads)
                peer.ask("build", work=asdict(work))
        for busy in (0, os.cpu_count() or 1):
            crowd += [subprocess.Popen(BUSY) for _ in range(busy)]
            interleave(list(peers.values()), wanted.rounds, wanted.secs)
            for (label, threads), peer in peers.items():
                found[f"{label}, {threads} threads, {busy} others"] = peer.timing.as_dict()
                peer.timing = Timing()
    finally:
        for process in crowd:
            process.kill()
            process.wait()
        for peer in peers.values():
            peer.close()
    return found


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.crowded", description=__doc__)
    parser.add_argument("workloads", nargs="*", default=["W1", "W2", "W4"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--secs", type=float, default=0.7)
    parser.add_argument("--tiny", action="store_true", help="shrink the workloads, to try the machinery")
    parser.add_argument("--out", type=Path, default=place("crowded"))
    wanted = parser.parse_args()
    document = {"machine": describe(), "workloads": {name: slowdown(name, wanted) for name in wanted.workloads}}
    for name, found in document["workloads"].items():
        for label, each in found.items():
            print(f"{name:<5}{label:<40}{each['ms']:>10.2f} ms   ({each['p10']:.2f} .. {each['p90']:.2f})")
    keep(wanted.out, document)


if __name__ == "__main__":
    main()
