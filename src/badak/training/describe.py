"""What a run folder holds, in words."""

import dataclasses
from pathlib import Path
from typing import Any

from badak.core.errors import tr
from badak.io.checkpoint import Checkpoint
from badak.training.best import Best
from badak.training.metrics import Row
from badak.training.run import METRICS, Run


def describe(folder: str | Path) -> dict[str, str]:
    """What the run is: model, data, training, how far it has come and its best figure.

    Every file is read as training reads it, against its checksum: FileError or StateError where one is not as it was written.
    """
    run = Run.open(folder)
    state, setup = run.load(), run.setup
    facts = {"run": str(run.folder), "task": setup.experiment}
    settings = {name: _settings(getattr(setup, name)) for name in ("model", "data", "train")}
    if state is None:
        return facts | settings | {"steps": tr("none are saved yet; {} begins", run.resuming())}
    numbers = sum(x.numel() for x in state.model.values())
    rows = run.rows(state)
    settings["model"] = f"{numbers:,} numbers; {settings['model']}"
    facts |= settings | {"steps": _progress(state.step, setup.train, rows), "weights": weights_of(state, setup)}
    return facts | {"best": _best(rows, setup.metric) if rows else tr("unknown: {} has no rows", METRICS)}


def weights_of(state: Checkpoint, setup: Any) -> str:
    """Which weights a run answers with."""
    if setup.train.keep == "best" and state.best is not None:
        best = Best.of(state.best, state.model)
        return tr("those of the best evaluation, {} at step {:,}", best.shown, best.step)
    return tr("the last ones, of step {:,}", state.step)


def _settings(config: Any) -> str:
    """ "d_model 128, heads 4", without those that are empty or off."""
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    return ", ".join(f"{name} {value:,}" if type(value) is int else f"{name} {value}" for name, value in values.items() if value)


def _progress(step: int, train: Any, rows: list[Row]) -> str:
    if train.steps:
        return f"{step:,} of {train.steps:,}"
    return tr("{:,}, epoch {:.4g} of {}", step, rows[-1].epoch, train.epochs) if rows else f"{step:,}"


def _best(rows: list[Row], metric: str) -> str:
    """The evaluation with the highest accuracy or R², or the lowest perplexity."""
    best = Best.among(rows, metric)
    return tr("{}, val loss {:.4f}", best, best.loss)
