"""The progress bar of a training: loss, accuracy, R² or perplexity, speed and time left; a line for each evaluation."""

import os
from collections.abc import Callable

from tqdm import tqdm

from badak.training.callbacks import Progress
from badak.training.metrics import row_line
from badak.training.presets import Setup

FORMAT = "{desc}{percentage:3.0f}%|{bar:24}| {n_fmt}/{total_fmt} [{elapsed}, {remaining} left{postfix}]"


class Bar:
    """Show every update on a terminal, every evaluation anywhere."""

    def __init__(self, setup: Setup, show: Callable[[str], None]):
        self.metric, self.counted, self.tell = setup.metric, setup.counted, show
        width = os.environ.get("BADAK_LAUNCH_WIDTH")  # of the terminal to which `badak launch` hands this on
        shown: dict = {"disable": False, "ncols": int(width)} if width else {"disable": None, "dynamic_ncols": True}
        self.bar = tqdm(bar_format=FORMAT, leave=False, **shown)  # None: only on a terminal

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *problem) -> None:
        self.bar.close()

    def show(self, progress: Progress) -> None:
        """One update; with a row, its line above the bar."""
        if self.bar.total is None:
            self.bar.reset(progress.last_step)
            self.bar.initial = progress.step - 1
        score = progress.score
        if score.count:
            value = getattr(score, self.metric)
            text = f"loss {score.loss:.3f}, {self.metric} {value:.3g}, {progress.per_second:,.0f} {self.counted}/s"
            self.bar.set_postfix_str(text, refresh=False)
        self.bar.update(progress.step - self.bar.n)
        if progress.row is not None:
            with self.bar.external_write_mode():
                self.tell(row_line(progress.row, self.metric, self.counted))
