"""metrics.csv: one row for each evaluation, readable by any spreadsheet."""

import csv
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from badak.errors import FileError


@dataclass(frozen=True)
class Row:
    """The state of learning after `step` updates; losses in nats, `train_*` since the row before."""

    step: int
    epoch: float
    lr: float
    train_loss: float
    train_accuracy: float
    valid_loss: float
    valid_accuracy: float
    valid_perplexity: float
    per_second: float  # pictures or tokens
    seconds: float  # since the start of this process


def write_row(path: Path, row: Row) -> None:
    """Append `row`, with the head line where the file is new. Numbers are written so that they read back exactly."""
    is_new = not path.exists()
    try:
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [field.name for field in fields(Row)])
            if is_new:
                writer.writeheader()
            writer.writerow(asdict(row))
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written ({error.strerror})", "check the folder, its rights and the free space"
        ) from None


def read_rows(path: Path) -> list[Row]:
    """The rows of a metrics.csv, none where there is no file."""
    if not path.exists():
        return []
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [_row(record) for record in csv.DictReader(file)]
    except (KeyError, TypeError, ValueError, UnicodeDecodeError, csv.Error) as error:
        raise FileError(
            f"{path}: not a metrics file of badak ({error!r})", fix="delete it to start a new one"
        ) from None


def drop_rows_after(path: Path, step: int) -> None:
    """Forget what was written after `step`: a run that goes on from there writes it again."""
    rows = read_rows(path)
    if any(row.step > step for row in rows):
        path.unlink()
        for row in rows:
            if row.step <= step:
                write_row(path, row)


def _row(record: dict[str, str]) -> Row:
    values = {field.name: (int if field.name == "step" else float)(record[field.name]) for field in fields(Row)}
    if math.isnan(values["epoch"]):
        raise ValueError("epoch is not a number")
    return Row(**values)  # type: ignore[arg-type]  # int for step, float for the others
