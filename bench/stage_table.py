"""The table of docs/explanation/matmul.md, from what `python -m bench.stages` kept."""

HEADS = ("stage", "threads", "ms", "GFLOP/s", "of its unit's peak", "times the first")


def markdown(document: dict) -> str:
    """The table of one CPU; what stands next to the stages is in italics."""
    first = document["stages"][0]["ms"]
    lines = [f"| {' | '.join(HEADS)} |", f"| --- |{' ---: |' * (len(HEADS) - 1)}"]
    for row in document["stages"]:
        name = f"*{row['name']}*" if row["beside"] else row["name"]
        cells = name, str(row["threads"]), brief(row["ms"]), brief(row["gflops"]), share(row), brief(first / row["ms"])
        lines.append(f"| {' | '.join(cells)} |")
    size, measured = document["size"], f"{document['date']} at {document['commit']}"
    lines += [
        "",
        f"{size} x {size} times {size} x {size}, the fastest of {document['rounds']} rounds; measured {measured}.",
    ]
    most = {row["of"]: row["peak"] for row in document["stages"] if row["threads"] == document["machine"]["threads"]}
    peaks = "; ".join(f"{name}: {rate:,.0f}" for name, rate in most.items())
    lines += [f"Peaks of the units on all threads, giga-operations a second: {peaks}. Memory: {document['read_gb_s']:.0f} GB/s."]
    lines += [f"Left out: {name}, as {reason}." for name, reason in document["left_out"].items()]
    return "\n".join(lines)


def share(row: dict) -> str:
    """Of what the unit does at most."""
    part = row["gflops"] / row["peak"]
    return f"{part:.0%}" if part >= 0.01 else f"{part:.2%}"


def brief(number: float) -> str:
    """Three digits, or all before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
