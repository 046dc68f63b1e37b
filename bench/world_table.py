"""The figures of `world` as a table: `python -m bench.world_table [FILE.json]` prints it again."""

import json
import sys
from pathlib import Path

import numpy as np

from bench.places import place


def ratios(document: dict) -> list[float]:
    """PyTorch / badak, for each program and each number of threads."""
    return [of(found, threads) for found in document["workloads"].values() for threads in counts(found)]


def of(found: dict, threads: str) -> float:
    return found["peers"][f"torch {threads}"]["ms"] / found["peers"][f"badak {threads}"]["ms"]


def counts(found: dict) -> list[str]:
    """The numbers of threads."""
    return [label.split()[1] for label in found["peers"] if label.startswith("badak")]


def mean(numbers: list[float]) -> float:
    """The geometric one, as these are ratios."""
    return float(np.exp(np.mean(np.log(numbers))))


def markdown(document: dict) -> str:
    """The tables, and what must be known to read them."""
    threads = counts(next(iter(document["workloads"].values()))) if document["workloads"] else []
    heads = [
        "program",
        *(
            f"{part} ({count} thread{'s' * (count != '1')})"
            for count in threads
            for part in ("badak", "PyTorch", "PyTorch / badak")
        ),
        "spread",
        "peak MiB, badak",
        "PyTorch",
        "apart",
    ]
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)]]
    lines += [row(found) for found in document["workloads"].values()]
    text = ["| " + " | ".join(line) + " |" for line in lines] if threads else []
    if document["first"]:
        text += [
            "",
            "| from the start of the process to | badak, s | PyTorch, s | PyTorch / badak | peak MiB, badak | PyTorch |",
            "| --- | ---: | ---: | ---: | ---: | ---: |",
        ]
        text += [first_row(found) for found in document["first"].values()]
    return "\n".join([*text, "", *about(document)])


def row(found: dict) -> list[str]:
    """The line of one program."""
    peers, cells = found["peers"], [found["title"]]
    for threads in counts(found):
        cells += [number(peers[f"{library} {threads}"]["ms"]) for library in ("badak", "torch")]
        cells.append(f"**{of(found, threads):.2f}**")
    spread = max(peer["spread"] for peer in peers.values())
    most = [max(peer["peak_mb"] for label, peer in peers.items() if label.startswith(name)) for name in ("badak", "torch")]
    apart = f"{found['apart']:.0e}" + ("" if found["agrees"] else " NOT THE SAME")
    return [*cells, f"{spread:.0%}", *map(str, most), apart]


def first_row(found: dict) -> str:
    """The line of one first answer."""
    badak, torch = found["badak"], found["torch"]
    cells = [
        found["title"],
        f"{badak['seconds']:.2f}",
        f"{torch['seconds']:.2f}",
        f"**{torch['seconds'] / badak['seconds']:.2f}**",
        str(badak["peak_mb"]),
        str(torch["peak_mb"]),
    ]
    return f"| {' | '.join(cells)} |"


def about(document: dict) -> list[str]:
    """Mean, versions, sizes, and warnings."""
    settings, sizes = document["settings"], {name: each["mib"] for name, each in document["installed"].items()}
    versions = {**document["installed"]["torch"]["versions"], **document["installed"]["badak"]["versions"]}
    lines = []
    if document["workloads"]:
        lines = [
            f"PyTorch / badak in the geometric mean of all: **{mean(ratios(document)):.2f}**. Milliseconds, the median of "
            f"{settings['rounds']} rounds of {settings['seconds']} s interleaved; measured {document['date']} at "
            f"{document['commit']}; " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."
        ]
    lines.append(
        f"Installed, with transformers and all that they need: badak {sizes['badak']} MiB, PyTorch (for CPUs) {sizes['torch']} MiB."
    )
    behind = [
        f"{found['title']} ({threads} threads)"
        for found in document["workloads"].values()
        for threads in counts(found)
        if of(found, threads) < 1
    ]
    if behind:
        lines.append(f"badak is behind in: {'; '.join(behind)}.")
    disturbed = [
        found["title"]
        for found in document["workloads"].values()
        if any(peer["foreign_cores"] > 0.1 for peer in found["peers"].values())
    ]
    if disturbed:
        lines.append(f"**Not valid**: other programs were computing during: {'; '.join(disturbed)}.")
    if settings["tiny"]:
        lines.append("**Not valid**: every program was shrunk, to try the machinery.")
    return lines


def number(ms: float) -> str:
    return f"{ms:.1f}" if ms < 100 else f"{ms:.0f}"


if __name__ == "__main__":
    run = json.loads((Path(sys.argv[1]) if sys.argv[1:] else place("world")).read_text(encoding="utf-8"))
    print(markdown(run))
