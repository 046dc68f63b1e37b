"""The folder of a run: what was asked for, what was learned, and how it went.

    config.json              the settings and the vocabulary
    model.safetensors        the weights, readable by any safetensors program
    optimizer.safetensors    moments and random generators, and
    state.json               the position in the data: with them the run goes on where it stopped
    metrics.csv              a row for each test
    curves.png               the rows as curves

`io/checkpoint.py` writes the three in the middle, as one.
"""

from collections.abc import Callable
from pathlib import Path

from badak.errors import ArgumentError, FileError
from badak.io import checkpoint
from badak.io.config import from_dict, read_json, write_config
from badak.io.safetensors import load_file
from badak.nn import Module
from badak.train.curves import draw_curves
from badak.train.metrics import Row, drop_rows_after, read_rows, write_row
from badak.train.setups import SETUPS, Setup

CONFIG, METRICS, CURVES = "config.json", "metrics.csv", "curves.png"


class Run:
    """A run's folder and its settings."""

    def __init__(self, folder: str | Path, setup: Setup):
        self.folder, self.setup = Path(folder), setup

    @classmethod
    def create(cls, folder: str | Path, setup: Setup) -> "Run":
        """A new run; a folder that holds one already is refused."""
        folder = Path(folder)
        if (folder / CONFIG).exists():
            raise ArgumentError(
                f"{folder}: there is a run in this folder already",
                f"--resume {folder} goes on with it; --run names another folder",
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(
                f"{folder}: cannot be made ({error.strerror})", "choose another folder with --run"
            ) from None
        write_config(folder / CONFIG, setup)
        return cls(folder, setup)

    @classmethod
    def open(cls, folder: str | Path) -> "Run":
        """The run of an earlier `badak train`; damaged settings are an error that names file and cause."""
        folder = Path(folder)
        if not (folder / CONFIG).is_file():
            raise FileError(
                f"{folder}: not a run folder, it has no {CONFIG}", "give a folder that badak train wrote, e.g. runs/gpt"
            )
        table = read_json(folder / CONFIG)
        kind = table.get("experiment") if isinstance(table, dict) else None
        if kind not in SETUPS:
            raise FileError(
                f"{folder / CONFIG}: expected experiment to be one of {', '.join(SETUPS)}; got {kind!r}",
                "restore the file from a copy, or train anew",
            )
        return cls(folder, from_dict(SETUPS[kind], table, folder / CONFIG))

    def save(self, state: checkpoint.Checkpoint) -> None:
        """Make `state` the one to go on from."""
        checkpoint.save(self.folder, state)

    def load(self) -> checkpoint.Checkpoint | None:
        """The state to go on from, None in a new run; rows written after it are dropped."""
        if not checkpoint.exists(self.folder):
            return None
        state = checkpoint.load(self.folder)
        drop_rows_after(self.folder / METRICS, state.step)
        return state

    def load_weights(self, model: Module) -> None:
        """Give `model` the weights that this run has learned so far."""
        path = self.folder / checkpoint.MODEL
        if not path.is_file():
            raise FileError(
                f"{path}: no such file: the run has not saved anything yet",
                f"badak train {self.setup.experiment} --resume {self.folder}",
            )
        model.load_state_dict(load_file(path))
        model.eval()

    def write(self, row: Row) -> None:
        """Append a row to metrics.csv."""
        write_row(self.folder / METRICS, row)

    def rows(self) -> list[Row]:
        """The rows of metrics.csv."""
        return read_rows(self.folder / METRICS)

    def draw(self, log: Callable[[str], None] = lambda line: None) -> bool:
        """Draw curves.png, where matplotlib is installed."""
        return draw_curves(
            self.rows(), self.setup.metric, self.folder / CURVES, f"badak train {self.setup.experiment}", log
        )
