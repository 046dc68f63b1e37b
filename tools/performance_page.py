"""Put the measured figures into docs/performance.md: `python tools/performance_page.py`.

What is measured stands between `<!-- NAME -->` and `<!-- /NAME -->` and is made of bench/results/NAME.json; all other text of the
page is written by hand and stays.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import start, table  # noqa: E402

PAGE, RESULTS = ROOT / "docs" / "performance.md", ROOT / "bench" / "results"


def memory_table(document: dict) -> str:
    """Peak memory, and how it compares with the better one of PyTorch's."""
    lines = ["| workload | peer | imports | peak MiB | of PyTorch |", "| --- | --- | ---: | ---: | ---: |"]
    for name, found in document["workloads"].items():
        best = min((each["peak_mb"] for label, each in found.items() if label.startswith("torch")), default=None)
        for label, each in found.items():
            ratio = f"{each['peak_mb'] / best:.2f}" if best else "-"
            lines.append(f"| {name} | {label} | {each['imported_mb']:.0f} | {each['peak_mb']:.0f} | {ratio} |")
    return "\n".join(lines)


def start_table(document: dict) -> str:
    """Seconds until something happens."""
    lines = ["| what | median s | best | worst | goal |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, each in document["seconds"].items():
        goal = f"≤ {start.GOALS[name]:g}" if name in start.GOALS else ""
        lines.append(f"| {name} | {each['seconds']:.3f} | {each['best']:.3f} | {each['worst']:.3f} | {goal} |")
    return "\n".join(lines)


def crowded_table(document: dict) -> str:
    """Milliseconds of a step alone and among busy processes."""
    lines = ["| workload | peer | median ms | middle 80 % |", "| --- | --- | ---: | ---: |"]
    for name, found in document["workloads"].items():
        for label, each in found.items():
            lines.append(f"| {name} | {label} | {each['ms']:.2f} | {each['p10']:.2f} to {each['p90']:.2f} |")
    return "\n".join(lines)


def scale_picture(document: dict) -> str:
    """The picture that bench/scale.py drew."""
    return "![Time per token against batch, context and width, and the memory of attention](img/scale.png)"


TABLES: dict[str, Callable[[dict], str]] = {
    "bench": table.markdown,
    "memory": memory_table,
    "start": start_table,
    "scale": scale_picture,
    "crowded": crowded_table,
}


def page() -> str:
    """The page with the tables of the figures that there are."""
    text = PAGE.read_text(encoding="utf-8")
    for name, render in TABLES.items():
        path = RESULTS / f"{name}.json"
        made = render(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else "Not measured yet."
        parts = re.split(f"(<!-- /?{name} -->)", text)
        if len(parts) != 5:
            raise SystemExit(f"{PAGE.name}: the marks <!-- {name} --> and <!-- /{name} --> must stand there once")
        parts[2] = f"\n{made}\n"
        text = "".join(parts)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
