"""What a training tells while it goes on, and who listens.

A callback is an object with any of these methods, or a function, which is called as `on_step` is:

    on_begin(progress)         before the first update, also where a run goes on
    on_step(progress)          after each update, and after its evaluation where there was one: `progress.row`
    on_evaluation(progress)    after an evaluation, whose row is written; before it is saved
    on_end(progress)           once the training has ended in good order: at its last step, by Ctrl-C, or by `progress.end`

They may read everything and change nothing that a training computes with, but `progress.end(why)`, which ends it after this
step as its last step would. What they keep themselves is not saved: `progress.rows` is, and what is computed from it
is the same in a run that was interrupted.
"""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.io import safetensors
from badak.nn import Module
from badak.training.metrics import HIGHER, Row, is_better
from badak.training.score import Score

MOMENTS = ("on_begin", "on_step", "on_evaluation", "on_end")


@dataclass
class Ending:
    """Whether a callback asked the training to end, and why."""

    why: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a training has come; `row` where an evaluation was just made, `rows` all of them."""

    step: int  # updates made
    last_step: int
    score: Score  # of the training batches since the last row
    per_second: float  # pictures, tokens or examples
    model: Module
    row: Row | None = None
    rows: Sequence[Row] = ()
    _ending: Ending = field(default_factory=Ending, repr=False)

    def end(self, why: str) -> None:
        """End the training after this step; it is evaluated no more, and saved."""
        self._ending.why = why or "a callback ended it"


class Callback:
    """The base of callbacks: each method does nothing until a subclass defines it."""

    def on_begin(self, progress: Progress) -> None:
        """Before the first update."""

    def on_step(self, progress: Progress) -> None:
        """After an update."""

    def on_evaluation(self, progress: Progress) -> None:
        """After an evaluation: `progress.row`."""

    def on_end(self, progress: Progress) -> None:
        """After the last update."""


class ProgressBar(Callback):
    """A progress bar, in a terminal or a notebook: steps, training loss, speed, time left.

    Where other lines are printed, print them above the bar: fit(..., callbacks=[bar], log=bar.write).

    Args:
        **options: of tqdm, such as file= or disable=

    Example:
        >>> from badak.data import DataLoader, TensorDataset
        >>> from badak.training import ProgressBar, fit
        >>> x = badak.randn(8, 4)
        >>> bar = ProgressBar(disable=True)
        >>> _ = fit(nn.Linear(4, 4), DataLoader(TensorDataset(x, x)), F.mse_loss, epochs=1, callbacks=[bar], log=bar.write)
    """

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.bar: Any = None

    def on_begin(self, progress: Progress) -> None:
        from tqdm.auto import tqdm  # a widget in a notebook that can show one

        self.bar = tqdm(total=progress.last_step, initial=progress.step, unit=" steps", **self.options)

    def on_step(self, progress: Progress) -> None:
        if self.bar is not None:
            if progress.score.count:
                self.bar.set_postfix_str(f"loss {progress.score.loss:.4g}", refresh=False)
            self.bar.update(progress.step - self.bar.n)

    def on_end(self, progress: Progress) -> None:
        if self.bar is not None:
            self.bar.close()

    def write(self, line: str) -> None:
        """Print a line above the bar."""
        if self.bar is not None and not self.bar.disable:
            self.bar.write(line, file=self.options.get("file"))


class EarlyStopping(Callback):
    """End a training run whose held-out `monitor` has not improved for `patience` evaluations.

    monitor: "loss", "accuracy", "perplexity" or one of your metrics. min_delta: an improvement is larger than this.
    mode: "min" or "max", whether less or more is better; "auto" knows it of the first three, and takes "min" for others.

    Args:
        monitor: "loss", "accuracy", "perplexity" or one of your metrics
        min_delta: an improvement is larger than this
        patience: evaluations without improvement that are allowed
        mode: "min", "max" or "auto"

    Example:
        >>> from badak.training import EarlyStopping
        >>> EarlyStopping(patience=5).patience
        5
    """

    def __init__(self, monitor: str = "loss", min_delta: float = 0.0, patience: int = 3, mode: str = "auto") -> None:
        if type(patience) is not int or patience < 1:
            cause = tr("EarlyStopping: expected patience of 1 evaluation or more; got {!r}", patience)
            raise ArgumentError(cause, "EarlyStopping(patience=3)")
        self.monitor, self.min_delta, self.patience = monitor, min_delta, patience
        self.higher = more_is_better("EarlyStopping", monitor, mode)

    def on_begin(self, progress: Progress) -> None:
        """A run that ended so and goes on has to ask again."""
        self.on_evaluation(progress)

    def on_evaluation(self, progress: Progress) -> None:
        best = best_row(progress.rows, self.monitor, self.higher, self.min_delta)
        if best is not None and len(progress.rows) - 1 - best >= self.patience:
            value = progress.rows[best].val(self.monitor)
            progress.end(f"{self.monitor} has been no better than {value:.4g} for {self.patience} evaluations")


class ModelCheckpoint(Callback):
    """Write the weights to a safetensors file whenever the held-out `monitor` is better than ever before.

    monitor and mode: as in EarlyStopping. badak.io.safetensors.load_file(path) reads them for model.load_state_dict.
    """

    def __init__(self, path: str | os.PathLike, monitor: str = "loss", mode: str = "auto") -> None:
        self.path, self.monitor = path, monitor
        self.higher = more_is_better("ModelCheckpoint", monitor, mode)

    def on_evaluation(self, progress: Progress) -> None:
        if best_row(progress.rows, self.monitor, self.higher) == len(progress.rows) - 1:
            safetensors.save_file(progress.model.state_dict(), self.path, {"step": str(progress.step)})


def more_is_better(where: str, monitor: str, mode: str) -> bool:
    """What `mode` says of `monitor`. Raises ArgumentError for another mode."""
    if mode not in ("auto", "min", "max"):
        cause = tr("{}: expected mode 'auto', 'min' or 'max'; got {!r:.60}", where, mode)
        raise ArgumentError(cause, "mode='max' where more is better")
    return monitor in HIGHER if mode == "auto" else mode == "max"


def best_row(rows: Sequence[Row], monitor: str, higher: bool, min_delta: float = 0.0) -> int | None:
    """The place of the best row, the first of equals; None where there is no row. Raises ArgumentError for an unknown figure."""
    best, place = math.nan, None
    for at, row in enumerate(rows):
        value = row.val(monitor)
        if place is None or is_better(value, best, higher, min_delta):
            best, place = value, at
    return place


def listening(callbacks: Any) -> Callable[[str, Progress], None]:
    """tell(moment, progress) calls what `callbacks` have for that moment, in their order. Raises ArgumentError for what is none."""
    given = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    for one in given:
        if isinstance(one, type) or not (callable(one) or any(hasattr(one, moment) for moment in MOMENTS)):
            cause = tr("fit: expected callbacks with {}, or functions; got {!r:.80}", ", ".join(MOMENTS), one)
            raise ArgumentError(cause, f"{one.__name__}()" if isinstance(one, type) else "a subclass of badak.training.Callback")

    def tell(moment: str, progress: Progress) -> None:
        for one in given:
            listener = getattr(one, moment, None)
            if listener is not None:
                listener(progress)
            elif moment == "on_step" and not any(hasattr(one, known) for known in MOMENTS):
                one(progress)

    return tell
