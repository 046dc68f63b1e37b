"""Batch leak: what a row gives may not depend on its neighbours, neither on their content nor on their order."""

from functools import partial

import numpy as np

from badak.audit.batch import Batch
from badak.audit.compare import change, kept
from badak.audit.descend import begins, judged
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked, normalises_batches


class BatchLeak:
    """Keep one row in the middle, and fill all others with something else, drawn at random."""

    name = "batch"

    def ask(self, subject: Subject) -> list[Finding]:
        for path, module in subject.model.named_modules():
            if normalises_batches(module):
                subject.notes.append(
                    f"{path} ({type(module).__name__}) mixes the rows of a batch in train mode, by design; asked in eval mode"
                )
        if subject.rows < 2:
            raise Unasked("the batch has one row")
        row = subject.rows // 2
        watch = subject.forward(neighbours_changed(subject, row))
        subject.neighbours = (row, watch)
        clean = partial(kept, row=row, rows=subject.rows)
        if judged(subject.reference.outputs, watch.outputs, _but_totals(clean)) is not False:
            return []
        subject.leaks_rows = True
        begin = begins(subject.reference.calls, watch.calls, clean)
        gaps = [_gap(a, b, row, subject.rows) for a, b in zip(subject.reference.outputs, watch.outputs)]
        largest = max(gaps, default=0.0)
        return [
            Finding(
                "batch",
                begin.path,
                f"with other texts in the other rows, row {row} of the output changes by up to {largest:.2g} of its size",
                "look for a mean, a norm, a softmax or a reshape over the axis of the batch",
                {"row kept": row, "rows changed": subject.rows - 1, "largest change": largest},
                begin.between,
            )
        ]


def _but_totals(clean):
    """Totals over the batch, such as a loss, change as they must."""
    return lambda a, b: True if a.ndim == 0 else clean(a, b)


def _gap(a: np.ndarray, b: np.ndarray, row: int, rows: int) -> float:
    axis = next((i for i, n in enumerate(a.shape) if n == rows), None)
    if axis is None:
        return change(a, b) if a.ndim else 0.0
    return change(np.take(a, row, axis), np.take(b, row, axis))


def neighbours_changed(subject: Subject, row: int) -> Batch:
    """The batch with other tokens or numbers in all rows but one."""
    changed = {}
    for name in subject.texts:
        where = np.ones(subject.ids(name).shape, bool)
        where[row] = False
        changed[name] = subject.other_tokens(name, where)
    if not subject.texts:
        for name, leaf in subject.batch.leaves.items():
            if leaf.array.dtype.kind == "f" and leaf.array.ndim > 1 and leaf.array.shape[0] == subject.rows:
                changed[name] = subject.other_values(name, np.arange(subject.rows) != row)
    return subject.batch.with_(changed)
