"""metrics.csv: one row for each evaluation, readable by any spreadsheet."""

import csv
import hashlib
import io
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from badak.core.errors import ArgumentError, FileError, tr
from badak.io.atomic import append_to, read_small, write_file
from badak.io.errors import reason, shown


@dataclass(frozen=True)
class Row:
    """The state of learning after `step` updates; losses in nats, `train_*` since the row before."""

    step: int
    epoch: float
    lr: float
    train_loss: float
    train_accuracy: float
    val_loss: float
    val_accuracy: float
    val_perplexity: float
    per_second: float  # pictures or tokens
    seconds: float  # since the start of this process
    figures: dict[str, float] = field(default_factory=dict)  # what else the evaluation found: columns of their own, val_NAME

    def val(self, name: str) -> float:
        """A figure of the evaluation: loss, accuracy, perplexity, or one of `figures`. Raises ArgumentError where there is none."""
        if name in self.figures:
            return self.figures[name]
        if not hasattr(self, f"val_{name}"):
            known = ["loss", "accuracy", "perplexity", *self.figures]
            raise ArgumentError(tr("metrics: there is no figure {}", shown(name)), tr("one of {}", ", ".join(known)))
        return getattr(self, f"val_{name}")

    @property
    def train_r2(self) -> float:
        """See `Score.r2`."""
        return 1 - self.train_loss


HIGHER = ("accuracy", "r2")  # figures of which more is better


def is_better(value: float, best: float, higher: bool, min_delta: float = 0.0) -> bool:
    """Whether `value` is better than `best` by more than `min_delta`; any number is better than NaN."""
    return (value - best if higher else best - value) > min_delta or (math.isnan(best) and not math.isnan(value))


COLUMNS = tuple(one.name for one in fields(Row) if one.name != "figures")


def write_row(path: Path, row: Row) -> None:
    """Append `row`, with the head line where the file is new. Numbers are written so that they read back exactly."""
    values = asdict(row)
    values.update({f"val_{name}": value for name, value in values.pop("figures").items()})
    text = io.StringIO()
    writer = csv.DictWriter(text, list(values))
    before = _read(path).partition(b"\n")[0] if path.is_file() else b""
    if not before:
        writer.writeheader()
    elif before.decode(errors="replace").strip().split(",") != list(values):
        raise ArgumentError(tr("{}: its columns are not {}", path, ", ".join(values)), "the metrics that this run began with")
    writer.writerow(values)
    append_to(path, text.getvalue().encode())


def measure(path: Path) -> dict[str, Any]:
    """Size and SHA-256 of the rows so far, by which `cut` knows them again."""
    data = _read(path)
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def cut(path: Path, measured: dict[str, Any]) -> None:
    """Forget what was written since `measure`, a row that was torn included: a run that goes on from there writes it again.

    A file that is gone begins again. Raises FileError where the rows of then are others now.
    """
    known = _known(path, measured)
    if len(_read(path)) > len(known):
        write_file(path, lambda file: file.write(known))


def _known(path: Path, measured: dict[str, Any]) -> bytes:
    """The rows of then, as `measure` saw them; none where the file is gone."""
    data, size = _read(path), measured["bytes"]
    if data and (len(data) < size or hashlib.sha256(data[:size]).hexdigest() != measured["sha256"]):
        cause = tr("{}: damaged or edited: it does not begin with the rows that this run had", path)
        raise FileError(cause, "restore it from a copy, or move it away: the rows to come then begin a new one")
    return data[:size]


def _read(path: Path) -> bytes:
    try:
        return read_small(path)
    except FileNotFoundError:
        return b""


def read_rows(path: Path, measured: dict[str, Any] | None = None) -> list[Row]:
    """The rows of a metrics.csv, none where there is no file; with `measured`, those of then alone, checked as `cut` does."""
    data = _read(path) if measured is None else _known(path, measured)
    try:
        return [_row(record) for record in csv.DictReader(io.StringIO(data.decode(), newline=""))]
    except (KeyError, TypeError, ValueError, UnicodeDecodeError, csv.Error) as error:
        cause = tr("{}: not a metrics file of badak ({})", path, reason(error))
        raise FileError(cause, "restore it from a copy, or move it away") from None


def _row(record: dict[str, str]) -> Row:
    values = {name: (int if name == "step" else float)(record[name]) for name in COLUMNS}
    if math.isnan(values["epoch"]):
        raise ValueError("epoch is not a number")
    if None in record:
        raise ValueError("a row has more columns than the first one")
    figures = {name.removeprefix("val_"): float(value) for name, value in record.items() if name not in COLUMNS}
    return Row(**values, figures=figures)  # type: ignore[arg-type]  # int for step, float for the others


def row_line(row: Row, metric: str = "", counted: str = "examples") -> str:
    """An evaluation in one line, with all figures that there are. metric: the first of them to show besides the losses."""
    first = [metric] if metric else [] if math.isnan(row.val_accuracy) else ["accuracy"]
    shown_ = dict.fromkeys([*first, *row.figures])
    val = "" if math.isnan(row.val_loss) else f"val {row.val_loss:7.4f}   "
    figures = "".join(f"{name} {row.val(name):7.4g}   " for name in shown_)
    return tr("step {:>6}   loss {:7.4f}   {}{}{:,.0f} {}/s   {:.0f} s", row.step, row.train_loss, val, figures, row.per_second,
              counted, row.seconds)  # fmt: skip
