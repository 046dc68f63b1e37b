"""Whether a model without attention reads from left to right: asked by one more forward, which may not apply."""

from typing import TYPE_CHECKING

import numpy as np

from badak.inspect.audit.compare import along, change
from badak.inspect.audit.kind import open_kind

if TYPE_CHECKING:
    from badak.inspect.audit.subject import Subject


class NotApplicable(Exception):
    """A probe does not apply; says why. moot: there is nothing to ask; else the question is open."""

    def __init__(self, why: str, moot: bool = False):
        super().__init__(why)
        self.moot = moot


def reads_on(subject: "Subject") -> bool:
    """Whether a model of words or of a series without attention, such as a recurrent one, goes from left to right."""
    name, kind = subject.kind.text, subject.kind
    array = subject.batch.leaves[name].array
    series = array.dtype.kind == "f" and array.ndim in (2, 3) and any(y.shape[:2] == array.shape[:2] for y in subject.shown.labels)
    if series:
        fits = not kind.source and kind.kind != "causal" and not subject.shown.attentions
    else:
        fits = open_kind(kind, subject.shown, subject.batch) and name in subject.texts
    if not fits or subject.answer is None:
        return False
    a, t = subject.reference.outputs[subject.answer], subject.length() // 2
    if a.ndim < 2 or t < 2 or not series and subject.vocabulary(name) not in (a.shape[-1], a.shape[1]):
        return False
    if series:
        other = subject.other_values(name, (slice(None), t) if subject.batch.batch_axis == 0 else (t,))
    else:
        where = np.zeros(subject.ids(name).shape, bool)
        where[:, t] = True
        other = subject.other_tokens(name, where)
    try:
        b = subject.forward(subject.batch.with_({name: other})).outputs[subject.answer]
    except NotApplicable:
        return False
    for shape, axis, first in along(a.shape, subject.places[name], subject.rows):
        x, y = (np.moveaxis(each.reshape(shape), axis, 0) for each in (a, b))
        early, late = change(x[: t - first], y[: t - first]), change(x[t + 1 - first :], y[t + 1 - first :])
        if early <= subject.rounding < late:
            return True
    return False
