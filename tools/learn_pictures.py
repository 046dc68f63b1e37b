"""Draw the pictures of the guide, docs/img/learn/*.svg: `python tools/learn_pictures.py [CHAPTER ...]` (needs matplotlib).

Each is drawn from the numbers that the programs of its chapter leave behind.
"""

import sys
from collections.abc import Callable

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tools import learn

PLACE = learn.ROOT / "docs" / "img" / "learn"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#8295a8"
STYLE = {
    "svg.fonttype": "none",  # letters stay letters: small files, and Korean in the reader's own font
    "svg.hashsalt": "badak",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}


def table(axes: Axes, weights: np.ndarray, rows: list[str], columns: list[str], numbers: bool = True) -> None:
    """Weights as squares, dark = much, with their words."""
    axes.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for (i, j), weight in np.ndenumerate(weights) if numbers else ():
        axes.text(j, i, f"{weight:.2f}", ha="center", va="center", color="white" if weight > 0.6 else "black")


def lines(axes: Axes, weights: np.ndarray, rows: list[str], columns: list[str]) -> None:
    """Weights as lines from each word to those that it looks at, thick = much."""
    left, right = -np.arange(len(rows)), -np.arange(len(columns))
    for (i, j), weight in np.ndenumerate(weights):
        axes.plot(
            [0, 1], [left[i], right[j]], color=BLUE, lw=8 * weight, alpha=0.15 + 0.75 * weight, solid_capstyle="round"
        )
    for place, words, x, side in ((left, rows, -0.05, "right"), (right, columns, 1.05, "left")):
        for y, word in zip(place, words):
            axes.text(x, y, word, ha=side, va="center")
    axes.set_xlim(-0.5, 1.5)
    axes.set_ylim(min(left[-1], right[-1]) - 0.5, 0.5)
    axes.axis("off")


def attention(names: dict) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    query, key, value = (names[name].numpy() for name in ("query", "key", "value"))
    _, weights = names["attention"](query, key, value)  # as the chapter begins, before its exercise
    table(left, weights, names["words"], names["words"])
    lines(right, weights, names["words"], names["words"])
    return figure


def positions(names: dict) -> Figure:
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    p = names["clocks"](64, 32)
    left.imshow(p, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    left.set(xlabel="number 0 .. 31", ylabel="position t")
    right.plot(p @ p[32], color=BLUE)
    right.axvline(32, color=GREY, lw=1, ls=":")
    right.set(xlabel="position t", ylabel="product with position 32", ylim=(0, 17))
    return figure


def heads(names: dict) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    words = [str(place) for place in range(6)]
    for ax, name, title in zip(axes, ("before", "after"), ("-1", "+2")):
        table(ax, names[name], words, words, numbers=False)
        ax.set_title(title)
    return figure


def masks(names: dict) -> Figure:
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    causal, padding = names["Mask"].causal(), names["Mask"].padding(names["ids"], pad=0)
    places = [str(place) for place in range(6)]
    for ax, mask, title in zip(axes, (causal, padding, causal & padding), ("causal", "padding", "causal & padding")):
        table(ax, 0.8 * mask.keep(6).reshape(-1, 6)[-6:].numpy(), places, places, numbers=False)
        ax.set_title(title)
    weights = names["F"].softmax(names["scores"].masked_fill(~names["keep"], float("-inf")), dim=-1)
    table(axes[3], weights[0, 0].numpy(), places, places, numbers=False)
    axes[3].set_title("softmax")
    return figure


PICTURES: dict[str, Callable[[dict], Figure]] = {
    "01-attention": attention,
    "02-positions": positions,
    "03-heads": heads,
    "04-masks": masks,
}


def main(chapters: list[str]) -> None:
    PLACE.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for page in learn.pages("en"):
            if page.stem in PICTURES and (not chapters or page.stem in chapters):
                names: dict = {}
                learn.printed(page, names)
                figure = PICTURES[page.stem](names)
                figure.savefig(PLACE / f"{page.stem}.svg", metadata={"Date": None})
                plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
