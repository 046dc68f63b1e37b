"""Put the measured figures into docs/reference/performance.md and docs/explanation/matmul.md: `python tools/performance_page.py`.

What is measured stands between `<!-- NAME -->` and `<!-- /NAME -->` and is made of bench/results/PROCESSOR/NAME.json; all other
text of a page is written by hand and stays.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import operations, places, stage_table, table, world_table  # noqa: E402

PAGE, PRODUCTS = ROOT / "docs" / "reference" / "performance.md", ROOT / "docs" / "explanation" / "matmul.md"


def processor(document: dict) -> str:
    """Its name, with the instructions that decide, and what all were held to."""
    machine, held = document["machine"], document.get("settings", {}).get("features")
    threads, cores = machine.get("threads", machine["cores"]), machine["cores"]
    limits = [f"held to {held.upper()}"] if held else []
    limits += [f"{threads} thread{'s' * (threads != 1)}"] if threads != cores else []
    named = machine["vectors"].replace(" ", ", ")
    return f"{machine['cpu']} ({'; '.join([named, f'{cores} cores', *limits])})"


def bench_tables(documents: list[dict]) -> str:
    """A table for each processor."""
    return "\n\n".join(f"### {processor(each)}\n\n{table.markdown(each)}" for each in documents)


def memory_table(documents: list[dict]) -> str:
    """Peak memory, and how it compares with the better one of PyTorch's."""
    lines = ["| CPU | workload | program | peak MiB | of PyTorch |", "| --- | --- | --- | ---: | ---: |"]
    for document in documents:
        for name, found in document["workloads"].items():
            best = min((each["peak_mb"] for label, each in found.items() if label.startswith("torch")), default=None)
            for label, each in found.items():
                ratio = f"{each['peak_mb'] / best:.2f}" if best else "-"
                cells = document["machine"]["cpu"], table.WORKLOADS[name].title, label, f"{each['peak_mb']:.0f}", ratio
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def start_table(documents: list[dict]) -> str:
    """Seconds until something happens."""
    names = list(dict.fromkeys(name for document in documents for name in document["seconds"]))
    heads = [document["machine"]["cpu"] for document in documents]
    lines = [f"| seconds | {' | '.join(heads)} |", f"| --- |{' ---: |' * len(heads)}"]
    for name in names:
        found = [document["seconds"].get(name) for document in documents]
        cells = [f"{each['seconds']:.2f}" if each else "-" for each in found]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def llama_table(documents: list[dict]) -> str:
    """Tokens per second next to llama.cpp's."""
    lines = [
        "| CPU | model | weights | MiB of the file | prefill: badak | llama.cpp | badak / llama.cpp | decode: badak | llama.cpp | badak / llama.cpp | of the rate of reading | MiB: badak | llama.cpp |",  # noqa: E501
        "| --- | --- | --- |" + " ---: |" * 10,
    ]
    for document in documents:
        for row in document["rows"]:
            ours, theirs = row["badak"], row["llama.cpp"]
            cells = [document["machine"]["cpu"], row["shape"], row["form"], f"{row['file_mb']:.0f}"]
            for what in ("prefill", "decode"):
                cells += [f"{ours[what]:.1f}", f"{theirs[what]:.1f}", f"{ours[what] / theirs[what]:.2f}"]
            cells.append(f"{row['share_read']:.0%}" if "share_read" in row else "-")
            cells += [f"{one['memory']:.0f}" for one in (ours, theirs)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def serving_table(documents: list[dict]) -> str:
    """Tokens per second of badak's server next to llama.cpp's."""
    lines = [
        "| CPU | model | clients | badak, tokens/s | llama.cpp | badak / llama.cpp | first token, ms | MiB |",
        "| --- | --- |" + " ---: |" * 6,
    ]
    for document in documents:
        for row in document["rows"]:
            both = row["badak"], row["llama.cpp"]
            cells = [document["machine"]["cpu"], f"{row['shape']} {row['form']}", str(row["streams"])]
            cells += [f"{one['tokens']:.1f} ({one['least']:.1f} to {one['most']:.1f})" for one in both]
            cells += ["{:.2f} ({:.2f} to {:.2f})".format(*row["ratio"])]
            cells += [" / ".join(f"{each:.0f}" for each in pair) for pair in zip(*((1e3 * x["first"], x["memory"]) for x in both))]
            lines.append(f"| {' | '.join(cells)} |")
    rows = [row for document in documents for row in document["rows"]]
    same = ", ".join(f"{name} in {sum(row[name]['same'] for row in rows)} of {len(rows)} rows" for name in ("badak", "llama.cpp"))
    loads = ", ".join("{}: {} to {}".format(each["machine"]["cpu"], each["load"][0], each["load"][-1]) for each in documents)
    return "\n".join([*lines, "", f"One text for a client at every load: {same}. The machine's load meanwhile: {loads}."])


def qlora_table(documents: list[dict]) -> str:
    """Tokens per second of LoRA next to weights of 4 bits, and PyTorch's next to bfloat16."""
    lines = [
        "| CPU | tokens of a step | badak, tokens/s | PyTorch | badak / PyTorch | MiB: badak | PyTorch | weights, MiB |",
        "| --- |" + " ---: |" * 7,
    ]
    for document in documents:
        for row in document["rows"]:
            both = row["badak"], row["torch"]
            cells = [document["machine"]["cpu"], f"{row['batch']} x {row['length']}"]
            cells += [f"{one['tokens']:.1f} ({one['slowest']:.1f} to {one['fastest']:.1f})" for one in both]
            cells += ["{:.2f} ({:.2f} to {:.2f})".format(*row["ratio"]), *(f"{one['memory']:.0f}" for one in both)]
            cells += [" / ".join(f"{one['weights']:.0f}" for one in both)]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def world_tables(documents: list[dict]) -> str:
    """A table for each processor."""
    return "\n\n".join(f"### {processor(each)}\n\n{world_table.markdown(each)}" for each in documents)


def operation_tables(documents: list[dict]) -> str:
    """A table for each processor."""
    return "\n\n".join(f"{processor(each)}:\n\n{operations.markdown(each)}" for each in documents)


def stage_tables(documents: list[dict]) -> str:
    """A table for each processor."""
    return "\n\n".join(f"### {processor(each)}\n\n{stage_table.markdown(each)}" for each in documents)


TABLES: dict[Path, dict[str, Callable[[list[dict]], str]]] = {
    PAGE: {
        "bench": bench_tables,
        "world": world_tables,
        "operations": operation_tables,
        "llama_cpp": llama_table,
        "serving": serving_table,
        "qlora": qlora_table,
        "memory": memory_table,
        "start": start_table,
    },
    PRODUCTS: {"stages": stage_tables},
}


def page(path: Path = PAGE) -> str:
    """The page with the tables of the figures that there are."""
    text = path.read_text(encoding="utf-8")
    for name, render in TABLES[path].items():
        documents = places.kept(name)
        parts = re.split(f"(<!-- /?{name} -->)", text)
        if len(parts) != 5:
            raise SystemExit(f"{path.name}: the marks <!-- {name} --> and <!-- /{name} --> must stand there once")
        parts[2] = f"\n{render(documents) if documents else 'Not measured yet.'}\n"
        text = "".join(parts)
    return text


if __name__ == "__main__":
    for path in TABLES:
        path.write_text(page(path), encoding="utf-8")
