"""curves.png: loss on the left, accuracy, R² or perplexity on the right."""

import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.generation.figures import figures
from badak.io.atomic import write_file
from badak.training.metrics import Row

TRAIN, VALID = "#8da0cb", "#d95f02"


def draw_curves(rows: list[Row], metric: str, path: Path, title: str = "", log: Callable[[str], None] = lambda line: None) -> bool:
    """Draw the curves of `rows` into `path`; without matplotlib say so in one line and return False."""
    try:
        with figures() as figure_class:
            _draw(figure_class, rows, metric, path, title)
    except NotSupportedError as error:
        log(tr("no curves.png: {} ({}); the numbers are in metrics.csv", error.cause, error.fix))
        return False
    return True


def _draw(figure_class: Any, rows: list[Row], metric: str, path: Path, title: str) -> None:
    figure = figure_class(figsize=(9, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    steps = [row.step for row in rows]
    left.plot(steps, [row.train_loss for row in rows], color=TRAIN, label="training")
    if not all(math.isnan(row.val_loss) for row in rows):
        left.plot(steps, [row.val_loss for row in rows], color=VALID, label="val")
    units = {"r2": " (squared error)", "loss": ""}.get(metric, " (nats)")
    left.set(xlabel="step", ylabel=f"loss{units}", ylim=(0, None) if units else None)
    if metric == "loss":  # of a program of somebody's own: its metrics, or accuracy where answers are right or wrong
        known = rows[0].figures if rows else {}
        figures = list(known) or ([] if all(math.isnan(row.val_accuracy) for row in rows) else ["accuracy"])
        for name in figures:
            right.plot(steps, [row.val(name) for row in rows], label=name)
        right.set(xlabel="step")
        right.set_visible(bool(figures))
    elif metric != "perplexity":
        right.plot(steps, [getattr(row, f"train_{metric}") for row in rows], color=TRAIN, label="training")
        right.plot(steps, [row.val(metric) for row in rows], color=VALID, label="val")
        right.set(xlabel="step", ylabel="R²" if metric == "r2" else metric, ylim=(None, 1))
    else:
        right.plot(steps, [row.val_perplexity for row in rows], color=VALID, label="val")
        right.set(xlabel="step", ylabel="perplexity", yscale="log")
        right.yaxis.set_major_formatter("{x:g}")
        low, high = right.get_ylim()
        if high < 10 * low:  # then the labels stand at the minor ticks
            right.yaxis.set_minor_formatter("{x:g}")
    for axes in (left, right) if right.get_visible() else (left,):
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    figure.suptitle(textwrap.fill(title, 100), fontsize="medium")
    write_file(path, lambda file: figure.savefig(file, format="png", dpi=120))
