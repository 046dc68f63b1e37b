"""What a classifier takes for what, and how far its probabilities can be trusted, as a picture. Needs the extra `plot`."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from badak.core.errors import ArgumentError
from badak.core.i18n import say, tr
from badak.generation.attention_picture import ENDINGS, font_families
from badak.generation.figures import figures
from badak.io.atomic import write_file
from badak.io.errors import line
from badak.training.confusion import BINS, Confusion

NUMBERS = 20  # classes at most whose counts are written into the matrix
LETTERS = 24  # of a class's name


def draw_confusion(confusion: Confusion, path: str | os.PathLike, log: Callable[[str], None] = lambda words: None) -> None:
    """Draw the confusion matrix, each row as shares of its class, and the reliability diagram next to it.

    Args:
        confusion: what was found
        path: where to; PNG, SVG or PDF by its ending
        log: told which characters no font of this machine has

    Raises:
        ArgumentError: for another ending
        NotSupportedError: without matplotlib
    """
    path = Path(path)
    if path.suffix not in ENDINGS:
        raise ArgumentError(tr("--plot {}: expected a name that ends with {}", path, ", ".join(ENDINGS)), "--plot classes.png")
    names = [line(str(name), LETTERS) for name in confusion.names]
    titles = {
        "predicted": say("predicted class"), "right": say("right class"), "chance": say("probability that the model gives"),
        "hit": say("share that is right"), "ideal": say("as it should be"), "share": say("share of the class"),
    }  # fmt: skip
    with figures() as figure_class:
        import matplotlib

        with matplotlib.rc_context({"font.family": font_families("".join([*names, *titles.values()]), log)}):
            count = len(names)
            side = min(3.2 + 0.45 * count, 12.0)
            figure = figure_class(
                figsize=(side + (5.0 if confusion.bins is not None else 0.0), max(side, 4.2)), layout="constrained"
            )
            widths = [side, 4.6] if confusion.bins is not None else [side]
            axes = figure.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
            _matrix(axes[0], confusion, names, titles)
            if confusion.bins is not None:
                _reliability(axes[1], confusion, titles)
            write_file(path, lambda file: figure.savefig(file, format=path.suffix[1:], dpi=150))


def _matrix(axes, confusion: Confusion, names: list[str], titles: dict[str, str]) -> None:
    shares = confusion.counts / np.maximum(confusion.support, 1)[:, None]
    image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    every = range(len(names))
    axes.set_xticks(every, names, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    axes.set_yticks(every, names, parse_math=False)
    axes.set_xlabel(titles["predicted"])
    axes.set_ylabel(titles["right"])
    if len(names) <= NUMBERS:
        for i in every:
            for j in every:
                color = "white" if shares[i, j] > 0.5 else "black"
                axes.text(j, i, f"{confusion.counts[i, j]:,}", ha="center", va="center", color=color, fontsize=8)
    axes.figure.colorbar(image, ax=axes, label=titles["share"], fraction=0.046)


def _reliability(axes, confusion: Confusion, titles: dict[str, str]) -> None:
    assert confusion.bins is not None  # noqa: S101  (the caller has asked)
    count, _, right = confusion.bins
    there = count > 0
    middle = (np.arange(BINS) + 0.5) / BINS
    axes.bar(middle[there], right[there] / count[there], width=1 / BINS, color="tab:blue", edgecolor="white")
    axes.plot([0, 1], [0, 1], linestyle="--", color="gray", label=titles["ideal"])
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=titles["chance"], ylabel=titles["hit"])
    axes.set_title(f"ECE {confusion.calibration_error:.3f}")
    axes.set_aspect("equal")
    axes.legend(loc="upper left")
