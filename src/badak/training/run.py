"""The folder of a run: what was asked for, what was learned, and how it went.

    config.json              the settings and the vocabulary
    tokenizer.json           the vocabulary, where it is one of pieces of words
    model.safetensors        the weights, readable by any safetensors program
    optimizer.safetensors    moments and random generators, and
    state.json               the position in the data: with them the run goes on where it stopped
    metrics.csv              a row for each test
    curves.png               the rows as curves
    .lock                    held while a training is at work

`io/checkpoint.py` writes the three in the middle, as one. Nothing is believed that is not as it was written: config.json and
state.json carry their own SHA-256, and state.json has those of the weights, of the settings and data that they were learned
with, and of the rows. A training that is killed, whenever that is, goes on from the last state.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, FileError, StateError, command, tr
from badak.generation.text import TextVocabulary
from badak.io import checkpoint
from badak.io.atomic import as_path, make_folder, remove_leftovers, write_file
from badak.io.config import from_dict, to_dict
from badak.io.errors import line
from badak.io.lock import locked
from badak.io.sealed import seal, unseal
from badak.nn import Module
from badak.nn.lora import load_lora, lora_state_dict
from badak.training.curves import draw_curves
from badak.training.metrics import Row, cut, measure, read_rows, write_row
from badak.training.presets import FOLDERS, SETUPS, Setup
from badak.training.vocabulary import read as read_vocabulary
from badak.training.vocabulary import write as write_vocabulary

CONFIG, METRICS, CURVES, LOCK = "config.json", "metrics.csv", "curves.png", ".lock"
RESTORE = tr("restore it from a copy, or train again")
CHANGING = {"train": ("epochs", "steps", "patience"), "data": ("path",)}  # how long a run is, and where its data lies
_NONE_YET = {"bytes": 0, "sha256": hashlib.sha256().hexdigest()}  # of metrics.csv before its first row


class Run:
    """A run's folder and its settings."""

    def __init__(self, folder: str | Path, setup: Setup, table: dict[str, Any] | None = None) -> None:
        self.folder, self.setup = as_path(folder), setup
        self.table = to_dict(setup) if table is None else table  # as config.json has it, without options that came later

    @classmethod
    def create(cls, folder: str | Path, setup: Setup, vocabulary: TextVocabulary | None = None) -> "Run":
        """A new run; a folder that holds one already is refused."""
        run = cls(folder, setup)
        run.refuse_another()  # before anything is made
        make_folder(run.folder)
        with run.locked():
            run.refuse_another()
            write_vocabulary(run.folder, vocabulary)
            run.write_settings()
        return run

    def refuse_another(self) -> None:
        """Raise ArgumentError where the folder holds a run, or what is left of one."""
        if (self.folder / CONFIG).exists() or checkpoint.exists(self.folder):
            cause = tr("{}: there is a run in this folder already", self.folder)
            raise ArgumentError(cause, tr("{} goes on with it; --run names another folder", self.resuming()))

    @classmethod
    def open(cls, folder: str | Path) -> "Run":
        """The run of an earlier `badak train`; damaged settings are an error that names file and cause."""
        folder = as_path(folder)
        path = folder / CONFIG
        if not path.is_file():
            cause = tr("{}: not a run folder, it has no {}", folder, CONFIG)
            raise FileError(cause, "give a folder that badak train wrote, e.g. runs/gpt")
        table = unseal(path, RESTORE + tr("; --epochs next to --resume trains further"))
        kind = table.get("experiment")
        if not isinstance(kind, str) or kind not in FOLDERS:
            cause = tr("{}: expected experiment to be one of {}; got {!r}", path, ", ".join(FOLDERS), str(kind)[:80])
            raise FileError(cause, RESTORE)
        return cls(folder, from_dict(FOLDERS[kind], table, path), table)

    def resuming(self) -> str:
        """The command that goes on with this run."""
        if self.setup.experiment not in SETUPS:
            return f"fit(..., folder={str(self.folder)!r}, resume=True)"
        return command("train", self.setup.experiment, "--resume", self.folder)

    def made_by(self) -> str:
        """What began this run."""
        kind = self.setup.experiment
        return tr("badak train {}", kind) if kind in SETUPS else "badak.training.fit"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within the block no other training writes into the folder. Raises StateError where one is at work."""
        fix = tr("wait until it ends, or stop it; --run names another folder for a new run")
        with locked(self.folder / LOCK, str(self.folder), fix) as alone:
            if alone:
                remove_leftovers(self.folder)
            yield

    def write_settings(self) -> None:
        """Write config.json."""
        data = seal(self.table)
        write_file(self.folder / CONFIG, lambda file: file.write(data))

    def change(self, setup: Setup) -> None:
        """Take from `setup`, and keep, what may change while a run goes on."""
        for section, names in CHANGING.items():
            values = {name: getattr(part, name) for name in names if hasattr(part := getattr(setup, section), name)}
            self.table = {**self.table, section: {**self.table.get(section, {}), **values}}
        self.setup = setup
        with self.locked():
            self.write_settings()

    def save(self, state: checkpoint.Checkpoint, data: str) -> None:
        """Make `state`, learned from data with this hash, the one to go on from."""
        origin = {"settings": settings_hash(self.table), "data": data, "history": measure(self.folder / METRICS)}
        checkpoint.save(self.folder, replace(state, origin=origin))

    def load(self) -> checkpoint.Checkpoint | None:
        """The state to go on from, None in a run that saved nothing yet."""
        if not checkpoint.exists(self.folder):
            return None
        state = checkpoint.load(self.folder)
        self._check_origin(state.origin)
        return state

    def rewind(self, state: checkpoint.Checkpoint | None) -> None:
        """Drop what was written after `state`: rows of metrics.csv, and files of a save that was cut short."""
        checkpoint.finish(self.folder)
        cut(self.folder / METRICS, state.origin["history"] if state else _NONE_YET)

    def load_weights(self, model: Module) -> None:
        """Give `model` the weights that this run has learned so far."""
        if not checkpoint.exists(self.folder):
            cause = tr("{}: no such file: the run has not saved anything yet", self.folder / checkpoint.MODEL)
            raise FileError(cause, self.resuming())
        weights, origin = checkpoint.load_model(self.folder)
        self._check_origin(origin)
        try:
            load_lora(model, weights) if lora_state_dict(model) else model.load_state_dict(weights)
        except StateError as error:  # whose lines name every key
            what = line(" ".join(error.cause.split()), 300)
            cause = tr("{}: not the weights of the model in {}: {}", self.folder / checkpoint.MODEL, CONFIG, what)
            raise StateError(cause, "restore the folder from a copy, or train again") from error
        model.eval()

    def vocabulary(self) -> TextVocabulary | None:
        """What the model's tokens stand for, if it reads tokens; FileError where it is not as it was written."""
        return read_vocabulary(self.folder, self.setup, self.folder / CONFIG)

    def expect_weights(self, count: int) -> None:
        """Raise FileError where the saved file is too small for so many numbers: a model of any size could be asked for."""
        path = self.folder / checkpoint.MODEL
        size = max((one.stat().st_size for one in (path, path.with_name(path.name + ".new")) if one.is_file()), default=None)
        if size is not None and size < 4 * count:
            raise FileError(tr("{}: {:,} bytes, too few for the model in {}", path, size, CONFIG), RESTORE)

    def _check_origin(self, origin: Any) -> None:
        where, history = self.folder / checkpoint.INDEX, origin.get("history") if isinstance(origin, dict) else None
        if not isinstance(history, dict) or set(history) != set(_NONE_YET) or type(history["bytes"]) is not int:
            raise FileError(tr("{}: damaged, or not of a run of badak train: it has no history", where), RESTORE)
        if origin.get("settings") != settings_hash(self.table):
            cause = tr("{}: learned with other settings than {} has", where, CONFIG)
            raise StateError(cause, "restore both files from one copy of the folder")

    def write(self, row: Row) -> None:
        """Append a row to metrics.csv."""
        write_row(self.folder / METRICS, row)

    def rows(self, state: checkpoint.Checkpoint | None = None) -> list[Row]:
        """The rows of metrics.csv; with a state that was loaded, those that it was saved with, checked by their hash."""
        return read_rows(self.folder / METRICS, state.origin["history"] if state else None)

    def draw(self, log: Callable[[str], None] = lambda line: None) -> bool:
        """Draw curves.png; where that cannot be done, say why."""
        title = self.made_by()
        try:
            return draw_curves(self.rows(), self.setup.metric, self.folder / CURVES, title, log)
        except FileError as error:
            log(tr("no {}: {}", CURVES, error.cause))
            return False


class Follower(Run):
    """The run of a rank that is not the first: it reads, and the first one writes."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nothing is written."""
        yield

    def write_settings(self) -> None:
        """The first rank does."""

    def save(self, state: checkpoint.Checkpoint, data: str) -> None:
        """The first rank does."""

    def rewind(self, state: checkpoint.Checkpoint | None) -> None:
        """The first rank does."""

    def write(self, row: Row) -> None:
        """The first rank does."""

    def draw(self, log: Callable[[str], None] = lambda line: None) -> bool:
        """The first rank does."""
        return False


def settings_hash(table: dict[str, Any]) -> str:
    """SHA-256 of all settings but those that may change while a run goes on."""
    fixed = dict(table)
    for section, names in CHANGING.items():
        fixed[section] = {name: value for name, value in fixed.get(section, {}).items() if name not in names}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()
