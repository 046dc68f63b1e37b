"""Answers and labels of a loss are laid out alike: class by class, row by row, place by place."""

from collections.abc import Iterator

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import asked_by, given_losses
from badak.inspect.audit.kind import one_further
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject

ORDER = tr("lay both out alike before they are made flat: (B, T, V) with (B, T), or (T, B, V) with (T, B)")
CLASSES = tr("cross_entropy(logits.transpose(1, 2), labels), or logits.reshape(-1, V) of logits (B, T, V)")


def other_layout(subject: Subject) -> list[Finding]:
    """Answers laid out for a loss in another order than its labels, (T, B) flat with (B, T) flat; or cut into classes again."""
    for scores, labels, changed in compared(subject):
        if cut_anew(scores, subject):
            cause = tr("its loss compares each label with numbers that answer several places")
            return [Finding("future", "", cause, CLASSES)]
        if changed is not None and changed.shape == scores.shape and not subject.leaks_rows:
            rows = rows_first(scores, changed, subject)
            name = "" if rows is None else labels_laid(labels, subject, not rows)
            if name:
                cause = tr("its loss compares answers laid out along one axis with labels of {} along the other", name)
                return [Finding("future", "", cause, ORDER)]
    return []


def compared(subject: Subject) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """The scores (N, V), the labels (N,) of each loss, and its scores in the forward in which other rows changed."""
    other = subject.neighbours.watch if subject.neighbours is not None else None
    twins = {loss.number: loss.inputs[0] for loss in given_losses(other)} if other is not None else {}
    within = [(*loss.inputs[:2], twins.get(loss.number)) for loss in given_losses(subject.reference)]
    later = asked_by(subject.loss, other).scores if subject.loss is not None and other is not None else []
    asked = zip(subject.asked.scores, subject.asked.labels, [*later, *[None] * (len(subject.asked.scores) - len(later))])
    for scores, labels, changed in (*within, *asked):
        if scores is None or labels is None or labels.dtype.kind not in "iu" or scores.ndim < 2:
            continue
        yield flat(scores), labels.ravel(), None if changed is None else flat(changed)


def flat(scores: np.ndarray) -> np.ndarray:
    """(N, V) of (N, V), or of (B, V, T)."""
    return np.ascontiguousarray(np.moveaxis(scores, 1, -1)).reshape(-1, scores.shape[1])


def cut_anew(scores: np.ndarray, subject: Subject) -> bool:
    """Whether scores are the numbers of an answer, though none of them are those of one place of it."""
    for y in (*subject.reference.outputs, *(y for gave in subject.asked.wholes for y in gave)):
        if y.dtype.kind != "f" or y.ndim < 3 or y.size < scores.size or y.shape[-1] != scores.shape[1] or np.ptp(y) == 0:
            continue
        places = {row.tobytes() for row in np.ascontiguousarray(y, scores.dtype).reshape(-1, y.shape[-1])}
        own = sum(row.tobytes() in places for row in scores)
        if 2 * own < len(scores) and np.isin(scores, y).all():
            return True
    return False


def rows_first(scores: np.ndarray, changed: np.ndarray, subject: Subject) -> bool | None:
    """Whether scores (N, V) have the places of a row one after the other, by the row that was kept; None where nothing tells."""
    assert subject.neighbours is not None
    kept, at = (scores == changed).all(axis=1), np.arange(len(scores))
    if len(scores) % subject.rows or kept.all():
        return None
    one = kept[at // (len(scores) // subject.rows) == subject.neighbours.row].all()
    other = kept[at % subject.rows == subject.neighbours.row].all()
    return bool(one) if one != other else None


def labels_laid(labels: np.ndarray, subject: Subject, rows: bool) -> str:
    """What labels are, where the places of a row stand one after the other in them (rows), or the rows of a place; else ""."""
    for name, leaf in subject.batch.leaves.items():
        if not leaf.integer or leaf.array.ndim != 2 or min(leaf.array.shape) < 2:
            continue
        x = leaf.array if rows == (subject.batch.batch_axis == 0) else leaf.array.T
        given = x.size == labels.size and (labels >= 0).any() and np.array_equal(x.ravel()[labels >= 0], labels[labels >= 0])
        if given or name in subject.texts and one_further(labels, x, 0 if rows else 1):
            return name
    for mask in subject.padding.values():  # labels that do not count where a text is padding
        ignored = labels < 0
        if mask.size == labels.size and ignored.any() and min(mask.shape) > 1:
            if np.array_equal(ignored, (mask if rows else mask.T).ravel()) and not np.array_equal(mask.ravel(), mask.T.ravel()):
                return tr("the places of a text")
    return ""
