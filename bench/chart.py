"""The chart of the README: `python -m bench.chart [OUT.svg]` draws PyTorch's time / badak's time from bench/results."""

import json
import re
import sys
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure

from bench.table import OWN, TITLES, Row, quotient, rows_of

RESULTS = Path(__file__).parent / "results"
OUT = RESULTS.parent.parent / "docs" / "img" / "speed.svg"
COLORS = {"float32": "#2f6db5", "bf16": "#c8741a", "int8": "#5a8f3c"}
AXIS = (0.8, 1, 1.5, 2, 3, 4, 7)


def runs() -> dict[str, dict]:
    """{CPU: the run of all workloads on it}, AMD first."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("*/bench.json"))]
    return {short(run["machine"]["cpu"]): run for run in found}


def short(cpu: str) -> str:
    """Intel(R) Xeon(R) Processor 6/167 is Intel Xeon 6/167."""
    return " ".join(re.sub(r"\(R\)|\(TM\)|Processor|CPU", " ", cpu).split())


def ratio(row: Row) -> float | None:
    """The best time of PyTorch, in this precision or in float32, over the best of badak in this precision."""
    theirs = [ms for ms in (row.ms("torch"), row.wide.ms("torch")) if ms is not None]
    own = row.ms(*OWN)
    return quotient(min(theirs), own) if theirs else None


def draw(out: Path) -> None:
    """A panel for each CPU, a line for each workload, a mark for each precision."""
    with matplotlib.rc_context({"svg.hashsalt": "badak", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        machines = runs()
        figure = Figure(figsize=(10, 3.9), layout="constrained")
        panels = figure.subplots(1, len(machines), sharey=True)
        names = [row.name for row in rows_of(next(iter(machines.values())))]
        for panel, (cpu, run) in zip(panels, machines.items()):
            for precision, color in COLORS.items():
                points = [
                    (at, names.index(row.name)) for row in rows_of(run, precision) if row.name in names and (at := ratio(row))
                ]
                if points:
                    panel.scatter(*zip(*points), color=color, s=34, label=TITLES[precision], zorder=3)
                for x, y in points if precision == "float32" else []:
                    panel.plot([1, x], [y, y], color=color, linewidth=2, alpha=0.35)
            panel.axvline(1, color="#444444", linewidth=1)
            panel.set(xscale="log", xlim=(AXIS[0], AXIS[-1]), title=f"{cpu}, {run['machine']['threads']} threads")
            panel.set_xticks(AXIS, [f"{tick:g}x" for tick in AXIS])
            panel.minorticks_off()
            panel.grid(axis="x", color="#dddddd")
        panels[0].set_yticks(range(len(names)), [f"{row.name}: {label(row)}" for row in rows_of(next(iter(machines.values())))])
        panels[0].invert_yaxis()
        figure.legend(*panels[-1].get_legend_handles_labels(), loc="outside upper right", ncols=len(COLORS), frameon=False)
        figure.supxlabel(
            "PyTorch's time / badak's time, the better of eager and compiled on both sides (above 1x badak is faster)", fontsize=9
        )
        figure.savefig(out, metadata={"Date": None})


def label(row: Row) -> str:
    """What the workload is, without the sizes of its batch."""
    return re.sub(r", \d+ x \d+$", "", row.found["title"])


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if sys.argv[1:] else OUT)
