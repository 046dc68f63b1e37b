"""Not a number: NaN in what the model gives. Nothing else can be told from it."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject
from badak.inspect.audit.watch import Call

FIX = tr("look there for a logarithm, a root, 0 / 0, or a softmax of a row that is hidden throughout")
MOST = 0.5  # of the numbers; with more of them nothing can be compared


def ask(subject: Subject) -> list[Finding]:
    """Look at the first forward. NaN at places of padding is nobody's concern, and is noted."""
    outputs = [y for y in subject.reference.outputs if y.dtype.kind == "f"]
    shares = [float(np.isnan(y).mean()) for y in outputs]
    real = [float(np.isnan(y).mean()) for y in map(subject.without_padding, outputs) if y.size]
    if not any(real):
        if any(shares):
            subject.notes.append(tr("outputs at places of padding are NaN: a sum over all places is NaN with them"))
        return []
    subject.broken = max(real) > MOST
    call = first_broken(subject.reference.calls)
    path = call.path if call is not None else ""
    which = path or tr("the model itself")
    cause = tr("{:.0%} of what the model gives is NaN; {} is the first that was given numbers and gave NaN", max(real), which)
    return [Finding("numbers", path, cause, FIX, {"share of NaN": max(real)})]


def first_broken(calls: list[Call]) -> Call | None:
    """The call that ended first with NaN, though it was given none."""
    for call in sorted(calls, key=lambda each: each.ended):
        if any(map(broken, call.outputs)) and not any(map(broken, call.inputs)):
            return call
    return None


def broken(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())
