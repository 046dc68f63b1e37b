"""The pictures of docs/explanation/matmul.md, which `python -m bench.stages` draws: tiles, the rate of each stage, the roofline."""

from pathlib import Path

from badak.kernels.numba.codegen.caches import SECOND_CACHE
from badak.kernels.numba.codegen.registers import REGISTER, ROWS
from badak.kernels.numba.simd.tiles import DEPTH
from bench.stage_table import brief, share

IMAGES = Path(__file__).parent.parent / "docs" / "img"
GREY, LIGHT = "#555555", "#dddddd"
# (colour, how strong) by where something lies
PLACES = {"registers": ("#d95f02", 1), "first": ("#e6ab02", 1), "second": ("#1b9e77", 0.45), "far": ("#8da0cb", 0.35)}
UNITS = {
    "float32": "#1b9e77",
    "avx512_bf16": "#e6ab02",
    "amx_bf16": "#d95f02",
    "vnni": "#8da0cb",
    "amx_int8": "#7570b3",
}
LEFT = 1e-3  # GFLOP/s at which bars begin


def draw(document: dict, folder: Path) -> None:
    """Write product-tiles.png, product-rates.png and product-roofline.png."""
    from matplotlib.figure import Figure

    folder.mkdir(parents=True, exist_ok=True)
    for name, picture, size in (("tiles", tiles, (10, 5.2)), ("rates", rates, (9, 5.6)), ("roofline", roofline, (9, 5.2))):
        figure = Figure(figsize=size, layout="constrained")
        picture(figure.subplots(), document)
        figure.savefig(folder / f"product-{name}.png", dpi=120)


def tiles(axes, document: dict) -> None:
    """a lies left of c and b above it, so that a row of a and a column of b meet where their sum belongs."""
    columns, block = 3 * REGISTER // 4, SECOND_CACHE * 3 // 8 // (4 * DEPTH) // ROWS * ROWS
    kib = lambda rows, columns: f"{rows} x {columns}, {4 * rows * columns / 1024:,.3g} KiB"
    write = lambda x, y, text, colour=GREY: axes.text(x, y, text, ha="center", va="center", fontsize=9, color=colour)

    def box(where, x, y, width, height):
        from matplotlib.patches import Rectangle

        colour, strength = PLACES[where]
        shape = Rectangle((x, y), width, height, facecolor=colour, alpha=strength, edgecolor=GREY, linewidth=0.8)
        axes.add_patch(shape)

    for x, y, width, text in ((0, 0, 4, "a  (M, K)"), (4.6, 4.6, 5, "b  (K, N)"), (4.6, 0, 5, "c = a b  (M, N)")):
        box("far", x, y, width, 4)
        write(x + width / 2, y + 4.3 if y else -0.3, text, "black")
    box("second", 1.2, 1.4, 1.6, 2.6)  # a block of a
    box("first", 1.2, 2.6, 1.6, 0.3)  # a strip of it
    box("first", 6.4, 5.8, 0.9, 1.6)  # a panel of b
    box("registers", 6.4, 2.6, 0.9, 0.3)  # a tile of c
    for start, end in {(2.8, 2.75): (6.4, 2.75), (6.85, 5.8): (6.85, 2.9)}.items():
        axes.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": GREY, "linestyle": ":"})
    write(2.0, 4.25, f"{DEPTH} of k")
    write(0.58, 2.75, f"{ROWS} rows")
    write(0.58, 1.75, f"{block}")
    write(0.58, 1.4, "rows")
    write(5.45, 6.6, f"{DEPTH} of k")
    write(6.85, 7.65, f"{columns} columns")
    legend = (
        ("registers", f"tile of c: {ROWS} x {columns}, {3 * ROWS} registers", "in registers for a whole block of k"),
        ("first", f"panel of b: {kib(DEPTH, columns)}", "packed; read in order, through the first cache"),
        ("first", f"strip of a: {kib(ROWS, DEPTH)}", "one number of it for a whole register of the panel"),
        ("second", f"block of a: {kib(block, DEPTH)}", "in the second cache for all panels"),
        ("far", "a, b and c", "third cache and memory: read and written seldom"),
    )
    for i, (where, what, how) in enumerate(legend):
        y = 8.0 - 1.75 * i
        box(where, 10.4, y - 0.35, 0.7, 0.7)
        axes.text(11.4, y + 0.28, what, va="center", fontsize=9.5)
        axes.text(11.4, y - 0.28, how, va="center", fontsize=8.5, color=GREY)
    axes.set(xlim=(-0.4, 18.6), ylim=(-0.7, 9.3), aspect="equal")
    axes.axis("off")


def rates(axes, document: dict) -> None:
    """A bar for each stage on a logarithmic scale, and a line where its unit cannot do more."""
    rows, size = document["stages"], document["size"]
    write = lambda x, y, text, colour, **more: axes.text(
        x, y, text, fontsize=8.5, color=colour, transform=axes.get_yaxis_transform(), **more
    )
    for i, row in enumerate(rows):
        axes.barh(i, row["gflops"], color=LIGHT if row["beside"] else UNITS[row["unit"]], height=0.7, left=LEFT)
        axes.plot([row["peak"]] * 2, [i - 0.42, i + 0.42], color="black", linewidth=1.6)
        write(1.01, i, brief(row["gflops"]), "black", va="center")
        write(1.09, i, share(row), GREY, va="center")
    write(1.01, -0.75, "rate", GREY, va="bottom")
    write(1.09, -0.75, "of the\npeak", GREY, va="bottom")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=9)
    axes.invert_yaxis()
    axes.set(xscale="log", xlim=(LEFT, 1.6 * max(row["peak"] for row in rows)))
    axes.set_xlabel("GFLOP/s (int8: giga-operations a second); black line: peak of the unit")
    axes.set_title(f"{document['machine']['cpu']}: {size} x {size} times {size} x {size}", fontsize=9)
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def roofline(axes, document: dict) -> None:
    """The rate that operations for each byte allow, and linear layers of a GPT."""
    read, peaks = document["read_gb_s"], {row["unit"]: row for row in document["layers"]}
    left, right = 0.25, 6 * max(row["intensity"] for row in document["layers"])
    for height, (unit, row) in zip((-10, -3, 5), peaks.items()):
        most, colour = row["peak"], UNITS[unit]
        axes.plot([left, most / read, right], [left * read, most, most], color=colour, linewidth=1.5)
        axes.text(right, most * 1.12, f"{row['of']}: {most:,.0f}", ha="right", fontsize=8.5, color=colour)
        points = [each for each in document["layers"] if each["unit"] == unit]
        for each in points:
            place = each["intensity"], each["gflops"]
            axes.plot(*place, "o", color=colour, markersize=5)
            aside = {"xytext": (-6, height), "ha": "right"} if each is points[-2] else {"xytext": (6, height)}
            axes.annotate(each["name"], place, **aside, textcoords="offset points", fontsize=8, color=colour)
    axes.set(xscale="log", yscale="log", xlim=(left, right))
    axes.text(right / 1.1, 1.3 * left * read, f"slope: memory, {read:.0f} GB/s", ha="right", fontsize=8.5, color=GREY)
    axes.set_xlabel("operations for each byte of a, b and c (widths 768 to 3072; with 2048 tokens 384 to 1536)")
    axes.set_ylabel("GFLOP/s, all threads")
    axes.set_title(f"linear layers of a GPT, by the number of tokens computed at once; {document['machine']['cpu']}", fontsize=9)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
