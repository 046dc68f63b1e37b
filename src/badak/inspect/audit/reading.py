"""Whether a model without attention reads from left to right: asked by one more forward, which may not apply."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from badak.inspect.audit.compare import change
from badak.inspect.audit.kind import open_kind

if TYPE_CHECKING:
    from badak.inspect.audit.subject import Subject


class NotApplicable(Exception):
    """A probe does not apply; says why. moot: there is nothing to ask; else the question is open."""

    def __init__(self, why: str, moot: bool = False):
        super().__init__(why)
        self.moot = moot


T = TypeVar("T")


def tried(ask: Callable[[], T]) -> T | None:
    """What is asked; None where that does not apply, as where the model fails, or a forward is one too many."""
    try:
        return ask()
    except NotApplicable:
        return None


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
    other = subject.other_at(name, t)
    if (watch := tried(lambda: subject.forward({name: other}))) is None:
        return False
    for first, (x, y) in subject.by_place(a, watch.outputs[subject.answer]):
        early, late = change(x[: t - first], y[: t - first]), change(x[t + 1 - first :], y[t + 1 - first :])
        if early <= subject.rounding < late:
            return True
    return False
