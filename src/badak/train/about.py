"""What a run folder holds, in words."""

import dataclasses
import math
from pathlib import Path
from typing import Any

from badak.train.metrics import Row
from badak.train.run import METRICS, Run


def describe(folder: str | Path) -> dict[str, str]:
    """What the run is: model, data, training, how far it has come and its best figure.

    Every file is read as training reads it, against its checksum: FileError or StateError where one is not as it was written.
    """
    run = Run.open(folder)
    state, setup = run.load(), run.setup
    facts = {"run": str(run.folder), "task": setup.experiment}
    settings = {name: _settings(getattr(setup, name)) for name in ("model", "data", "train")}
    if state is None:
        return facts | settings | {"steps": f"none are saved yet; {run.resuming()} begins"}
    numbers = sum(x.numel() for x in state.model.values())
    rows = run.rows(state)
    settings["model"] = f"{numbers:,} numbers; {settings['model']}"
    facts |= settings | {"steps": _progress(state.step, setup.train, rows)}
    return facts | {"best": _best(rows, setup.metric) if rows else f"unknown: {METRICS} has no rows"}


def _settings(config: Any) -> str:
    """ "d_model 128, heads 4", without those that are empty or off."""
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    return ", ".join(f"{name} {value:,}" if type(value) is int else f"{name} {value}" for name, value in values.items() if value)


def _progress(step: int, train: Any, rows: list[Row]) -> str:
    if train.steps:
        return f"{step:,} of {train.steps:,}"
    return f"{step:,}" + (f", epoch {rows[-1].epoch:.4g} of {train.epochs}" if rows else "")


def _best(rows: list[Row], metric: str) -> str:
    """The test with the highest accuracy or R², or the lowest perplexity; the first of equals."""
    figures = [(row.valid(metric), row) for row in rows]
    known = [pair for pair in figures if not math.isnan(pair[0])] or figures[:1]
    value, row = (min if metric in ("perplexity", "loss") else max)(known, key=lambda pair: pair[0])
    return f"{metric} {value:.4g} at step {row.step:,}, test loss {row.valid_loss:.4f}"
