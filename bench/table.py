"""The figures of one run as a table: `python -m bench.table [FILE.json]` prints it again."""

import json
import sys
from pathlib import Path

from bench.places import place
from bench.workloads import WORKLOADS

AGREE = 1e-4  # how far the losses of two libraries may be apart in any of the checked steps
OWN = "badak blocks", "badak compile"
HEADS = (
    "", "workload", "badak", "badak.compile", "PyTorch", "torch.compile", "JAX", "CTranslate2", "PyTorch / badak",
    "of the bound", "spread", "losses apart",
)  # fmt: skip


class Row:
    """The figures of one workload, taken from the JSON of a run."""

    def __init__(self, name: str, found: dict):
        self.name, self.found, self.peers = name, found, found["peers"]

    def ms(self, *labels: str) -> float | None:
        """The best median of the peers whose label begins so, None where none of them ran."""
        taken = [peer["ms"] for label, peer in self.peers.items() if label.startswith(labels)]
        return min(taken, default=None)

    @property
    def eager(self) -> float | None:
        """PyTorch without torch.compile."""
        taken = [p["ms"] for label, p in self.peers.items() if label.startswith("torch") and "compile" not in label]
        return min(taken, default=None)

    @property
    def own(self) -> str:
        """Badak's better peer with hand-written blocks: run as they are, or the step compiled."""
        present = [label for label in OWN if label in self.peers]
        return min(present, key=lambda label: self.peers[label]["ms"], default=OWN[0])

    @property
    def ratio(self) -> float | None:
        """The best of PyTorch / the best of badak, each eager or compiled."""
        return quotient(self.ms("torch"), self.ms(self.own))

    @property
    def of_bound(self) -> float | None:
        """How much of what the machine could do at best."""
        return quotient(self.found["bound_ms"], self.ms(self.own))

    @property
    def apart(self) -> float | None:
        """The largest difference of a loss between badak and any other peer; None where there is nothing to compare."""
        return max((peer["apart"] for peer in self.peers.values() if peer["apart"] is not None), default=None)

    @property
    def agrees(self) -> bool:
        """Whether all that can be compared is the same."""
        return self.apart is None or self.apart <= AGREE

    @property
    def disturbed(self) -> bool:
        """Whether other programs took more than a tenth of a core while a peer was timed."""
        return any(peer["foreign_cores"] > 0.1 for peer in self.peers.values())

    def cells(self) -> list[str]:
        """The row of the table."""
        spread = self.peers.get(self.own, {}).get("spread")
        times = (self.ms("badak blocks"), self.ms("badak compile"), self.eager, self.ms("torch compile"), self.ms("jax"))
        return [
            self.name, WORKLOADS[self.name].title,
            *map(number, times), number(self.ms("ctranslate2")),
            number(self.ratio), number(self.of_bound),
            "-" if spread is None else f"{spread:.0%}",
            ("-" if self.apart is None else f"{self.apart:.0e}") + ("" if self.agrees else " NOT THE SAME"),
        ]  # fmt: skip


def quotient(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def number(x: float | None) -> str:
    """Three or four digits."""
    return "-" if x is None else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def rows_of(document: dict) -> list[Row]:
    """In the order of the table of workloads."""
    return [Row(name, document["workloads"][name]) for name in WORKLOADS if name in document["workloads"]]


def markdown(document: dict) -> str:
    """The table, what it was measured on, and what must be known to read it."""
    lines = [" | ".join(HEADS), " | ".join(["---", "---"] + ["---:"] * (len(HEADS) - 2))]
    rows = rows_of(document)
    lines += [" | ".join(row.cells()) for row in rows]
    return "\n".join([*(f"| {line} |" for line in lines), "", *about(document, rows)])


def about(document: dict, rows: list[Row]) -> list[str]:
    """Machine, versions, rates, and warnings."""
    rates, settings = document["rates"], document["settings"]
    facts = {name: fact for name, fact in document["machine"].items() if name not in ("cpu", "vectors", "load_before")}
    products = {name.removesuffix("_gflops"): rate for name, rate in rates.items() if name.endswith("_gflops")}
    named = ", ".join(f"{library} {rate:g}" for library, rate in sorted(products.items(), key=lambda item: -item[1]))
    lines = [
        "Milliseconds per step, the median of "
        f"{settings['rounds']} rounds of {settings['seconds']} s in turns; measured {document['date']} at {document['commit']}; "
        + ", ".join(f"{name} {fact}" for name, fact in facts.items()) + ".",
        f"In the same run, products of matrices: {named} GFLOP/s; memory: read {rates['read_gb_s']} GB/s, read and written "
        f"{rates['update_gb_s']}.",
    ]  # fmt: skip
    for label, rival in (("badak", "torch"), ("badak", "jax"), ("badak", "ctranslate2")):
        behind = [row.name for row in rows if (quotient(row.ms(rival), row.ms(row.own)) or 1) < 1]
        if behind:
            lines.append(f"{label} is behind {rival} in {', '.join(behind)}.")
    disturbed = [row.name for row in rows if row.disturbed]
    if disturbed:
        lines.append(f"**Not valid**: other programs were computing while {', '.join(disturbed)} ran.")
    if document["settings"]["tiny"]:
        lines.append("**Not valid**: every workload was shrunk, to try the machinery.")
    for row in rows:
        lines += [f"{row.name}: no {label}: {reason}." for label, reason in row.found["missing"].items()]
    return lines


def details(document: dict) -> str:
    """Every peer of every workload: median, the middle 80 %, steps, and how far its losses are apart."""
    lines = []
    for row in rows_of(document):
        best = row.ms("torch")
        lines.append(f"{row.name} {row.found['title']}: {row.found['parameters']:,} parameters")
        for label, peer in sorted(row.peers.items(), key=lambda item: item[1]["ms"]):
            relative = f"{peer['ms'] / best:5.2f} x PyTorch" if best else ""
            apart = "" if peer["apart"] is None else f"losses {peer['apart']:.0e} apart"
            span = f"{peer['p10']:.2f} .. {peer['p90']:.2f}"
            lines.append(
                f"  {label:<24}{peer['ms']:>12.3f} ms  {relative:<16}{span:>24}{peer['steps']:>6} steps  {apart}"
            )
    return "\n".join(lines)


if __name__ == "__main__":
    run = json.loads((Path(sys.argv[1]) if sys.argv[1:] else place("bench")).read_text(encoding="utf-8"))
    print(details(run), "\n")
    print(markdown(run))
