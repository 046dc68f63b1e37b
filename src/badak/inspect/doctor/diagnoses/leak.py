from collections.abc import Iterator

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.given import Pair
from badak.inspect.doctor.report import Finding

LEAST, EACH, KINDS = 96, 8, 20  # rows, rows of a class and of the others, classes that are looked at
FEW = 32  # rows that differ
EXACT = 1e-9  # what is missing to a correlation of 1: float32's rounding, squared


class LabelGiven(Diagnosis):
    """The label is among the numbers that the model reads: it copies one of them, and will not be given it later."""

    code = "BADAK-258"
    title = "the model is given the label"

    def look(self, visit: Visit) -> Findings:
        pairs = visit.watch.given.pairs
        for at, several in visit.watch.given.told.items():
            if len(several) >= 3 and all(each == "next to" for each in several):
                yield self.found(
                    at,
                    tr("one of the numbers that are given for each step ahead is the one that is asked for, in all {} batches that "
                       "were looked at", len(several)),
                    tr("give what is known before: the clock, the calendar, plans; not what is measured then"),
                )  # fmt: skip
                return
        for place in sorted({pair.place for pair in pairs}):
            own = [pair for pair in pairs if pair.place == place and pair.shape == pairs[0].shape]
            own = [pair for pair in own if pair.labels.ndim == own[0].labels.ndim]
            if not own or len(own[0].shape) > 2 or own[0].rows.shape[1] != np.prod(own[0].shape):
                continue
            late = own[0].shape[-1]  # of a window the last step: to remember the first one may be the task
            rows = np.concatenate([pair.rows for pair in own]).astype(np.float64) if own else np.empty((0, 0))
            if len(own) < 3 or len(rows) < LEAST or rows.shape[1] < 2 or not np.isfinite(rows).all():
                continue
            if own[0].labels.ndim == 2 and len({pair.labels.shape[1] for pair in own}) == 1:
                codes, labels = np.unique(np.concatenate([pair.labels for pair in own]), axis=0, return_inverse=True)
                column = named(rows, labels.reshape(-1)) if 2 < len(codes) <= KINDS else None
                if column is not None:
                    yield self.found(
                        place,
                        tr("number {} of each row that the model is given names its label, one of {}, in all {} rows that were "
                           "looked at", column, len(codes), len(rows)),
                        tr("take the label, and what is only known with it, out of what the model reads"),
                        column=column,
                    )  # fmt: skip
                    return
            if own[0].labels.ndim > 1 and own[0].labels.shape[1] >= max(own[0].shape):
                continue
            if own[0].labels.ndim > 1:
                yield from self.window(place, own, rows)
                continue
            labels = np.concatenate([pair.labels for pair in own])
            if len(own[0].shape) == 1 and (found := self.in_order(place, rows, labels)) is not None:
                yield found
                return
            once = np.unique(np.column_stack([rows, labels]), axis=0, return_index=True)[1]  # the same row again proves nothing
            if len(once) < FEW:
                continue
            rows, labels, seen = rows[once], labels[once], len(rows)
            for kind, target in targets(labels):
                column = copied(rows[:, -late:], target)
                if column is not None:
                    column += rows.shape[1] - late
                    yield self.found(
                        place,
                        tr("number {} of each row that the model is given is the label, but for a factor and a sum, in all "
                           "{} rows that were looked at", column, seen)
                        if kind is None else
                        tr("number {} of each row that the model is given says whether the label is {}, in all {} "
                           "rows that were looked at", column, kind, seen),
                        tr("take the label, and what is only known with it, out of what the model reads"),
                        column=column,
                    )  # fmt: skip
                    return

    def in_order(self, place: str, rows: np.ndarray, labels: np.ndarray) -> Finding | None:
        """One number of each row is all that the label is made of, as the price of its logarithm."""
        column = ordered(rows, labels)
        if column is None:
            return None
        return self.found(
            place,
            tr("number {} of each row that the model is given puts all {} rows that were looked at in the order of their "
               "labels: the label is made of it alone", column, len(rows)),
            tr("take the label, and what is only known with it, out of what the model reads"),
            column=column,
        )  # fmt: skip

    def window(self, place: str, own: list[Pair], rows: np.ndarray) -> Findings:
        """The last steps of a window are what is to be foretold."""
        if any(pair.labels.shape[1:] != own[0].labels.shape[1:] for pair in own):
            return
        labels = np.concatenate([pair.labels for pair in own]).astype(np.float64)
        k, steps = labels.shape[1], rows.reshape(len(rows), own[0].shape[0], -1)
        labels = labels.reshape(len(labels), k, -1)
        if k >= steps.shape[1]:  # (channels, steps)
            steps = steps.transpose(0, 2, 1)
        for channel in range(steps.shape[2] if k < steps.shape[1] else 0):
            late, asked = steps[:, -k:, channel], labels[:, :, channel if labels.shape[2] == steps.shape[2] else 0]
            if all(copied(late[:, i : i + 1], asked[:, i]) is not None for i in range(k)):
                yield self.found(
                    place,
                    tr("the last {} steps of each window that the model is given are the {} numbers that it is asked for, but for "
                       "a factor and a sum, in all {} rows that were looked at", k, k, len(rows)),
                    tr("end the window where what is to be foretold begins"),
                    steps=k,
                )  # fmt: skip
                return


def targets(labels: np.ndarray) -> Iterator[tuple[int | None, np.ndarray]]:
    """(class, numbers): the labels themselves, or whether a label is that class."""
    if labels.dtype.kind == "f":
        yield None, labels.astype(np.float64)
        return
    kinds = np.unique(labels)
    if len(kinds) > 2:
        yield None, labels.astype(np.float64)
    for kind in kinds if 2 <= len(kinds) <= KINDS else ():
        yield int(kind), (labels == kind).astype(np.float64)


def named(rows: np.ndarray, labels: np.ndarray) -> int | None:
    """The column that has one number for each of several labels, and another for each other."""
    kinds = labels.max() + 1
    for column in range(rows.shape[1]):
        values, which = np.unique(rows[:, column], return_inverse=True)
        if len(values) == kinds == len({*zip(which.reshape(-1).tolist(), labels.tolist())}):
            return column
    return None


def ordered(rows: np.ndarray, labels: np.ndarray) -> int | None:
    """The only column of several that rises, or falls, with the label, as a price with its logarithm; None where none does."""
    if labels.dtype.kind != "f" or rows.shape[1] < 4 or 2 * len(np.unique(labels)) < len(labels):
        return None
    sorted_rows = rows[np.argsort(labels, kind="stable")]
    steps = np.diff(sorted_rows, axis=0)[np.diff(np.sort(labels, kind="stable")) > 0]
    moves = (steps != 0).mean(axis=0) > 0.9
    along = np.flatnonzero(moves & ((steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)))
    return int(along[0]) if len(along) == 1 else None


def copied(rows: np.ndarray, target: np.ndarray) -> int | None:
    """The column that is a target but for a factor and a sum; None where none is."""
    if np.isnan(target).any() or min((target == target.max()).sum(), (target != target.max()).sum()) < (
        EACH if len(np.unique(target)) < EACH else 1
    ):
        return None
    x, y = rows - rows.mean(axis=0), target - target.mean()
    size = np.linalg.norm(x, axis=0) * np.linalg.norm(y)
    with np.errstate(all="ignore"):
        alike = np.where(size > 1e-9, np.abs(y @ x) / size, 0.0)
    return int(alike.argmax()) if alike.max() > 1 - EXACT else None
