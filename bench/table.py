"""The figures of one run as a table: `python -m bench.table [FILE.json]` prints it again."""

import json
import sys
from pathlib import Path

from bench.peers import precision_of
from bench.places import place
from bench.workloads import WORKLOADS

# How far the losses of two libraries may be apart in any of the checked steps. A number of bfloat16 is off by 2^-9 of itself at
# most: losses of about 10, summed of thousands of those, stay within 2^-7 of them. int8 is compared where sentences are encoded.
AGREE = {"float32": 1e-4, "bf16": 0.08, "int8": 0.2}
OWN = "badak blocks", "badak compile"
HEADS = {
    "float32": (
        "", "workload", "badak", "badak.compile", "PyTorch", "torch.compile", "JAX", "CTranslate2", "PyTorch / badak",
        "of the bound", "spread", "losses apart", "MiB: badak", "badak.compile", "PyTorch",
    ),
    "bf16": (
        "", "workload", "badak", "badak.compile", "PyTorch", "torch.compile", "PyTorch / badak", "best of PyTorch, float32 too",
        "that / badak", "badak, float32 / bf16", "spread", "losses apart", "MiB: badak", "badak.compile", "PyTorch",
    ),
    "int8": (
        "", "workload", "badak", "badak.compile", "CTranslate2", "CTranslate2 / badak", "CTranslate2, float32",
        "badak, float32 / int8", "spread", "apart", "MiB: badak", "badak.compile", "CTranslate2",
    ),
}  # fmt: skip
TITLES = {"float32": "float32", "bf16": "bfloat16", "int8": "int8"}


class Row:
    """The figures of one workload in one precision, taken from the JSON of a run."""

    def __init__(self, name: str, found: dict, precision: str = "float32"):
        self.name, self.found, self.precision = name, found, precision
        self.peers = {
            label.removesuffix(f" {precision}"): peer for label, peer in found["peers"].items() if precision_of(label) == precision
        }
        self.wide = self if precision == "float32" else Row(name, found)  # the same in float32

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
    def called(self) -> str:
        return self.name if self.precision == "float32" else f"{self.name} ({TITLES[self.precision]})"

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
        return self.apart is None or self.apart <= AGREE[self.precision]

    @property
    def disturbed(self) -> bool:
        """Whether other programs took more than a tenth of a core while a peer was timed."""
        return any(peer["foreign_cores"] > 0.1 for peer in self.peers.values())

    def mib(self, label: str) -> float | None:
        """The peak of memory of the fastest peer whose label begins so; of PyTorch's, those that do not compile."""
        found = [p for name, p in self.peers.items() if name.startswith(label) and not name.startswith("torch compile")]
        return min(found, key=lambda peer: peer["ms"], default={}).get("peak_mb")

    def cells(self) -> list[str]:
        """The row of the table."""
        own, rival = self.ms(self.own), "ctranslate2" if self.precision == "int8" else "torch"
        times = [self.ms("badak blocks"), self.ms("badak compile")]
        if self.precision == "float32":
            times += [self.eager, self.ms("torch compile"), self.ms("jax"), self.ms("ctranslate2"), self.ratio, self.of_bound]
        elif self.precision == "bf16":
            either = min(filter(None, (self.ms("torch"), self.wide.ms("torch"))), default=None)
            times += [self.eager, self.ms("torch compile"), self.ratio, either, quotient(either, own)]
            times.append(quotient(self.wide.ms(self.wide.own), own))
        else:
            other = self.ms("ctranslate2")
            times += [other, quotient(other, own), self.wide.ms("ctranslate2"), quotient(self.wide.ms(self.wide.own), own)]
        spread = self.peers.get(self.own, {}).get("spread")
        return [
            self.name, WORKLOADS[self.name].title, *map(number, times),
            "-" if spread is None else f"{spread:.0%}",
            ("-" if self.apart is None else f"{self.apart:.0e}") + ("" if self.agrees else " NOT THE SAME"),
            *(("-" if mib is None else f"{mib:.0f}") for mib in map(self.mib, (*OWN, rival))),
        ]  # fmt: skip


def quotient(one: float | None, other: float | None) -> float | None:
    return one / other if one is not None and other else None


def number(x: float | None) -> str:
    """Three or four digits."""
    return "-" if x is None else f"{x:.2f}" if x < 100 else f"{x:.0f}"


def rows_of(document: dict, precision: str = "float32") -> list[Row]:
    """In the order of the table of workloads; where nobody ran in this precision, there is no row."""
    rows = [Row(name, document["workloads"][name], precision) for name in WORKLOADS if name in document["workloads"]]
    return [row for row in rows if row.peers]


def markdown(document: dict) -> str:
    """A table for each precision, what they were measured on, and what must be known to read them."""
    tables = [(each, rows) for each in HEADS if (rows := rows_of(document, each))]
    lines = []
    for precision, rows in tables:
        heads = HEADS[precision]
        table = [" | ".join(heads), " | ".join(["---", "---"] + ["---:"] * (len(heads) - 2))]
        table += [" | ".join(row.cells()) for row in rows]
        lines += [f"**{TITLES[precision]}**", "", *(f"| {line} |" for line in table), ""]
    return "\n".join([*lines, *about(document, [row for _, rows in tables for row in rows])])


def about(document: dict, rows: list[Row]) -> list[str]:
    """Machine, versions, rates, and warnings."""
    rates, settings = document["rates"], document["settings"]
    facts = {name: fact for name, fact in document["machine"].items() if fact and name not in ("cpu", "vectors", "load_before")}
    products = {name.removesuffix("_gflops"): rate for name, rate in rates.items() if name.endswith("_gflops")}
    named = ", ".join(f"{library} {rate:g}" for library, rate in sorted(products.items(), key=lambda item: -item[1]))
    lines = [
        "Milliseconds per step, the median of "
        f"{settings['rounds']} rounds of {settings['seconds']} s interleaved; measured {document['date']} at {document['commit']}; "
        + ", ".join(f"{name} {fact}" for name, fact in facts.items()) + ".",
        f"In the same run, matrix products: {named} GFLOP/s; memory: read {rates['read_gb_s']} GB/s, read and written "
        f"{rates['update_gb_s']}.",
    ]  # fmt: skip
    for rival in ("torch", "jax", "ctranslate2"):
        behind = [row.called for row in rows if (quotient(row.ms(rival), row.ms(row.own)) or 1) < 1]
        if behind:
            lines.append(f"badak is behind {rival} in {', '.join(behind)}.")
    disturbed = list(dict.fromkeys(row.name for row in rows if row.disturbed))
    if disturbed:
        lines.append(f"**Not valid**: other programs were computing while {', '.join(disturbed)} ran.")
    if document["settings"]["tiny"]:
        lines.append("**Not valid**: every workload was shrunk, to try the machinery.")
    for row in {row.name: row for row in rows}.values():
        lines += [f"{row.name}: no {label}: {reason}." for label, reason in row.found["missing"].items()]
    return lines


def details(document: dict) -> str:
    """Every peer of every workload: median, the middle 80 %, steps, and how far its losses are apart."""
    lines = []
    for name, found in document["workloads"].items():
        best = Row(name, found).ms("torch")
        lines.append(f"{name} {found['title']}: {found['parameters']:,} parameters")
        for label, peer in sorted(found["peers"].items(), key=lambda item: item[1]["ms"]):
            relative = f"{peer['ms'] / best:5.2f} x PyTorch" if best else ""
            apart = "" if peer["apart"] is None else f"losses {peer['apart']:.0e} apart"
            span, steps = f"{peer['p10']:.2f} .. {peer['p90']:.2f}", f"{peer['steps']} steps"
            mib = f"{peer['peak_mb']} MiB" if "peak_mb" in peer else ""
            lines.append(f"  {label:<24}{peer['ms']:>12.3f} ms  {relative:<16}{span:>24}{steps:>12}{mib:>10}  {apart}")
    return "\n".join(lines)


if __name__ == "__main__":
    run = json.loads((Path(sys.argv[1]) if sys.argv[1:] else place("bench")).read_text(encoding="utf-8"))
    print(details(run), "\n")
    print(markdown(run))
