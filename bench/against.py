"""Another checkout and this one, interleaved: `python -m bench.against ../before [--only W1,I3] [--peers "badak compile"]`.

For each workload the time of a step of both, their ratio (above 1: this checkout is faster), the peak memory of both processes,
how long the first steps took (a compiled step is recorded in them), and whether the losses have the same bits.
Where a process finds its memory alone changes its speed by a tenth and more, so both are started several times.
"""

import argparse
import os
import shlex
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import numpy as np

from badak.core.portable import HELD
from badak.inspect.profiling.machine import describe
from badak.inspect.profiling.peer import Peer, interleave
from bench.peers import Library, chosen
from bench.places import keep, place
from bench.workloads import WORKLOADS, Workload, shrunk

HERE = Path(__file__).resolve().parent.parent
FIRST = 4  # a compiled step is recorded in the second and the third


def commit(checkout: Path) -> str:
    """Which commit a checkout shows, "" outside of Git."""
    asked = subprocess.run(["git", "-C", str(checkout), "describe", "--always", "--dirty"], capture_output=True, text=True)
    return asked.stdout.strip()


def command(checkout: Path, label: str, portable: bool = False) -> list[str]:
    """What starts a peer of that checkout."""
    root = shlex.quote(str(checkout))
    words = shlex.join(f"{name}={value}" for name, value in ({"BADAK_PORTABLE": "1"} | HELD).items()) if portable else ""
    run = f"{shlex.quote(sys.executable)} -m bench.peers {shlex.quote(label)}"
    return ["sh", "-c", f"cd {root} && PYTHONPATH={root}/src:{root} exec env {words} {run}"]


def started(work: Workload, checkout: Path, library: Library, threads: int, portable: bool = False) -> tuple[Peer, dict]:
    """A peer that has made its first steps, and what they took."""
    peer = Peer(command(checkout, library.label, portable), threads)
    peer.ask("build", work=asdict(work))
    start = perf_counter()
    values = peer.ask("steps", count=FIRST)["values"]
    return peer, {"first_steps_s": round(perf_counter() - start, 3), "values": values}


def compare(work: Workload, library: Library, before: Path, wanted: argparse.Namespace) -> dict:
    """One row: both checkouts with one workload."""
    sides = ((before, False), (HERE, wanted.portable))
    for checkout, portable in sides:  # kernels that must be compiled are compiled here, once
        started(work, checkout, library, wanted.threads, portable)[0].close()
    times = []
    for _ in range(wanted.starts):
        (old, then), (new, now) = (started(work, checkout, library, wanted.threads, portable) for checkout, portable in sides)
        with old, new:
            interleave([old, new], wanted.rounds, wanted.secs)
            for peer, row in ((old, then), (new, now)):
                row["peak_mb"] = peer.ask("memory")["peak_mb"]
        times.append([peer.timing.as_dict()["rounds"] for peer in (old, new)])
    for row, of_starts in ((then, 0), (now, 1)):
        row["ms"] = round(float(np.median([np.median(pair[of_starts]) for pair in times])), 4)
        row["starts"] = [[round(ms, 4) for ms in pair[of_starts]] for pair in times]
    ratios = [float(np.median(np.divide(before, after))) for before, after in times]
    return {
        "before": then, "after": now, "same": then["values"] == now["values"],
        "ratio": round(float(np.median(ratios)), 4), "ratios": [round(ratio, 4) for ratio in ratios],
    }  # fmt: skip


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m bench.against", description=__doc__)
    names = lambda text: [part.strip() for part in text.split(",") if part.strip()]
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument("--only", type=names, default=list(WORKLOADS), help="workloads, e.g. W2,I1")
    parser.add_argument("--peers", type=names, default=["badak blocks", "badak compile"], help="labels")
    parser.add_argument("--starts", type=int, default=5, help="how often both are started")
    parser.add_argument("--rounds", type=int, default=4, help="of each start")
    parser.add_argument("--secs", type=float, default=0.8)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--portable", action="store_true", help="this checkout with BADAK_PORTABLE=1: the price of portable bits")
    parser.add_argument("--tiny", action="store_true", help="shrink the workloads, to try the machinery")
    parser.add_argument("--out", type=Path, default=place("against"))
    wanted = parser.parse_args()
    before = wanted.before.resolve()
    if wrong := set(wanted.only) - set(WORKLOADS):
        parser.error(f"--only {', '.join(sorted(wrong))}: expected workloads of {', '.join(WORKLOADS)}")
    if min(wanted.starts, wanted.rounds) < 1:
        parser.error(f"--starts {wanted.starts} --rounds {wanted.rounds}: expected 1 or more")
    if not (before / "src" / "badak").is_dir():
        parser.error(f"{wanted.before}: expected a checkout of badak")
    libraries = [each for each in chosen([]) if each.label in wanted.peers]
    rows: dict[str, dict] = {}
    print(
        f"{'':<24}{'before':>10}{'after':>10}{'ratio':>8}{'of starts':>14}{'first steps s':>16}{'peak MiB':>16}  bits", flush=True
    )
    for name in wanted.only:
        work = shrunk(WORKLOADS[name]) if wanted.tiny else WORKLOADS[name]
        for library in libraries:
            if name not in library.workloads:
                continue
            row = rows[f"{name} {library.label}"] = compare(work, library, before, wanted)
            then, now = row["before"], row["after"]
            between = f"{min(row['ratios']):.2f} to {max(row['ratios']):.2f}"
            print(
                f"{name + ' ' + library.label:<24}{then['ms']:>10.3f}{now['ms']:>10.3f}{row['ratio']:>8.3f}{between:>14}"
                f"{then['first_steps_s']:>9.2f}{now['first_steps_s']:>7.2f}{then['peak_mb']:>9.0f}{now['peak_mb']:>7.0f}"
                f"  {'same' if row['same'] else 'OTHER'}",
                flush=True,
            )
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    commits = {"before": commit(before), "after": commit(HERE)}
    keep(wanted.out, {"date": date, **commits, "machine": describe(wanted.threads), "rows": rows})


if __name__ == "__main__":
    main()
