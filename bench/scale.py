"""How the cost grows with batch, context and width: `python -m bench.scale` measures and draws docs/img/scale.png.

A training step of a small GPT, badak and PyTorch interleaved, on one thread and on all; and attention alone, forward and
backward, with the most memory that it takes. About five minutes; `--draw` only draws the figures of the last time.
"""

import argparse
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

from badak.core.errors import StateError
from badak.inspect.profiling.machine import describe
from badak.inspect.profiling.peer import Peer, interleave
from badak.inspect.profiling.timing import Timing
from bench.peers import chosen, command, missing
from bench.places import keep, place
from bench.workloads import Workload

ROOT = Path(__file__).parent
PICTURE = ROOT.parent / "docs" / "img" / "scale.png"
LABELS = ["badak blocks", "torch blocks"]
BASE = Workload("scale", "a small GPT", "gpt", d=128, heads=4, layers=2, batch=8, T=64, vocab=65)
ATTENTION = Workload("scale", "attention alone", "attention", d=128, heads=4, layers=0, batch=1, T=64)
SWEEPS = {
    "batch": [replace(BASE, batch=batch) for batch in (1, 2, 4, 8, 16, 32, 64)],
    "context": [replace(BASE, batch=1, T=T) for T in (64, 128, 256, 512, 1024, 2048, 4096)],
    "width": [replace(BASE, d=d, heads=d // 32) for d in (64, 128, 256, 512, 1024)],
    "attention": [replace(ATTENTION, T=T) for T in (64, 128, 256, 512, 1024, 2048, 4096)],
}
COLOURS = {"badak blocks": "#d95f02", "torch blocks": "#8da0cb"}


def size_of(sweep: str, work: Workload) -> int:
    """What a sweep varies."""
    return {"batch": work.batch, "width": work.d}.get(sweep, work.T)


def times(wanted: argparse.Namespace) -> list[dict]:
    """One point for each sweep, size, library and number of threads."""
    found = []
    counts = sorted({1, os.cpu_count() or 1})
    libraries = [each for each in chosen([]) if each.label in LABELS and not missing(each)]
    peers = {(each.label, count): Peer(command(each), count) for each in libraries for count in counts}
    try:
        for sweep, works in SWEEPS.items():
            for work in works[: wanted.points]:
                for peer in peers.values():
                    peer.ask("build", work=asdict(work))
                    peer.timing = Timing()
                interleave(list(peers.values()), wanted.rounds, wanted.secs)
                for (label, count), peer in peers.items():
                    point = {"sweep": sweep, "size": size_of(sweep, work), "label": label, "threads": count}
                    found.append({**point, "tokens": work.batch * work.T, **peer.timing.as_dict()})
    finally:
        for peer in peers.values():
            peer.close()
    return found


def memories(wanted: argparse.Namespace) -> list[dict]:
    """Peak memory of attention, forward and backward, beyond what the process held before; each in a process of its own."""
    found = []
    for work in SWEEPS["attention"][: wanted.points]:
        for library in [each for each in chosen([]) if each.label in LABELS and not missing(each)]:
            with Peer(command(library), os.cpu_count() or 1) as peer:
                peer.ask("build", work=asdict(SWEEPS["attention"][0]))
                peer.ask("steps", count=1)  # what the first call of all loads is not attention's
                before = peer.ask("memory")["peak_mb"]
                peer.ask("build", work=asdict(work))
                peer.ask("steps", count=2)
                taken = peer.ask("memory")["peak_mb"] - before
            found.append({"size": work.T, "label": library.label, "mb": round(taken, 1)})
    return found


def draw(document: dict, path: Path) -> None:
    """Four pictures: time per token against batch, context and width, and the memory of attention against context."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullFormatter

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    panels = dict(zip(("batch", "context", "width", "memory"), figure.subplots(2, 2).flat))
    for point_label, colour in COLOURS.items():
        for threads in sorted({point["threads"] for point in document["times"]}):
            style = {"color": colour, "linestyle": "-" if threads > 1 else ":", "marker": "o", "markersize": 3}
            for sweep in ("batch", "context", "width"):
                points = [
                    each for each in document["times"]
                    if (each["sweep"], each["label"], each["threads"]) == (sweep, point_label, threads)
                ]  # fmt: skip
                y = [1e3 * each["ms"] / each["tokens"] for each in points]
                name = f"{point_label.split()[0]}, {threads} thread{'s' * (threads > 1)}"
                panels[sweep].plot([each["size"] for each in points], y, label=name, **style)
        points = [each for each in document["memory"] if each["label"] == point_label]
        panels["memory"].plot([each["size"] for each in points], [each["mb"] for each in points], color=colour, marker="o",
                              markersize=3, label=point_label.split()[0])  # fmt: skip
    for sweep, (title, xlabel) in {
        "batch": ("a training step against its batch (64 tokens each, d 128, 2 layers)", "sequences in a batch"),
        "context": ("against the length of the context (one sequence)", "tokens in a sequence"),
        "width": ("against the width of the model (8 x 64 tokens)", "d"),
    }.items():
        panels[sweep].set(xscale="log", yscale="log", xlabel=xlabel, ylabel="µs per token")
        panels[sweep].set_title(title, fontsize=9)
    square_and_line(panels["memory"], document["memory"])
    for axes in panels.values():
        axes.set_xscale("log", base=2)
        plain = FuncFormatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_major_formatter(plain)
        axes.yaxis.set_major_formatter(plain)
        axes.yaxis.set_minor_formatter(plain if axes.get_ylim()[1] < 200 else NullFormatter())
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=120)


def square_and_line(axes, points: list[dict]) -> None:
    """The memory of attention, and next to it what a matrix of all scores alone would take."""
    sizes = sorted({each["size"] for each in points})
    axes.plot(sizes, [ATTENTION.heads * 4 * T * T / 2**20 for T in sizes], color="grey", linestyle="--",
              linewidth=1, label="the scores as one matrix")  # fmt: skip
    axes.set(yscale="log", ylim=(0.5, None), xlabel="tokens in a sequence", ylabel="MiB")
    axes.set_title("memory of attention, forward and backward (4 heads of 32)", fontsize=9)


def main() -> None:
    """Measure, write, draw."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--secs", type=float, default=0.3)
    parser.add_argument("--points", type=int, default=None, help="only so many sizes of each sweep, to try the machinery")
    parser.add_argument("--draw", action="store_true", help="only draw")
    parser.add_argument("--out", type=Path, default=place("scale"))
    parser.add_argument("--picture", type=Path, default=PICTURE)
    wanted = parser.parse_args()
    if not wanted.draw:
        document = {"machine": describe(), "times": times(wanted), "memory": memories(wanted)}
        keep(wanted.out, document)
    elif not wanted.out.exists():
        raise StateError(f"{wanted.out}: no such file", "python -m bench.scale measures first")
    draw(json.loads(wanted.out.read_text(encoding="utf-8")), wanted.picture)


if __name__ == "__main__":
    main()
