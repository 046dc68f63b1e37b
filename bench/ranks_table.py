"""The tables of docs/how-to/distributed.md, from what `bench.ranks` has kept: `python -m bench.ranks table`."""

from bench import ranks_model
from bench.places import kept

PAGE = ranks_model.PICTURE.parents[1] / "how-to" / "distributed.md"
BEGIN, END = "<!-- figures: python -m bench.ranks table -->", "<!-- end -->"


def table() -> str:
    """The tables, which are written into the page, too."""
    lines: list[str] = []
    for found in kept("ranks"):
        lines += [*sums(found.get("sums")), *steps(found)]
        if "check" in found:
            lines += ["Predicted from the constants next to measured; four ranks share two cores:", ""]
            lines += [*ranks_model.check(found["check"]), ""]
    lines += ranks_model.table()
    text = "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    if BEGIN in page:
        head, rest = page.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")
    return text


def sums(found: dict | None) -> list[str]:
    """all_reduce next to MPI's own and gloo."""
    if not found:
        return []
    names = ["badak", "badak, unchecked", "mpi4py", "torch, gloo"]
    lines = [f"all_reduce on two ranks, {found['machine']['cpu']}:", ""]
    lines += ["| float32 numbers | " + " | ".join(names) + " |", "| ---: |" + " ---: |" * len(names)]
    for size, row in found.items():
        if size != "machine":
            lines.append(f"| {int(size):,} | " + " | ".join(f"{row[name] * 1e6:,.0f} us" for name in names) + " |")
    return [*lines, ""]


def steps(found: dict) -> list[str]:
    """Steps alone, apart, with their sums, next to PyTorch's."""
    pieces = {name.split()[1]: each for name, each in found.items() if name.startswith("step ")}
    if not pieces:
        return []
    heads = ["one rank", "two, apart", "two, DDP", "sums at the end", "sums alone", "efficiency", "of at most", "PyTorch's DDP"]
    lines = ["A step, seconds (the least of several; two ranks of one thread and one core each):", ""]
    lines += ["| model | " + " | ".join(heads) + " |", "| --- |" + " ---: |" * len(heads)]
    for name, each in pieces.items():
        own, torch = each["seconds"]["badak"], each["seconds"]["torch"]
        row = [f"{own[mode]:.3f}" for mode in ("alone", "apart", "shared", "late", "sums")]
        row += [f"{each['efficiency']:.2f}", f"{each['bound']:.2f}", f"{torch['shared']:.3f} ({each['torch_efficiency']:.2f})"]
        lines.append(f"| {name} | " + " | ".join(row) + " |")
    return [*lines, ""]
