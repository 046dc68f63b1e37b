"""Train mode without dropout, eval mode, and no_grad give the same numbers."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.compare import ROUNDING, change, near
from badak.inspect.audit.localize import anywhere
from badak.inspect.audit.ready import normalises_batches
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject
from badak.inspect.audit.watch import Watch


def ask(subject: Subject) -> list[Finding]:
    """The forward for the backward is one in train mode with every p = 0, with a graph; the first one was in eval, without."""
    if found := of_norms(subject):
        return found
    watch = subject.training
    if alike(subject.reference, watch):
        return []
    if subject.broken:
        raise NotApplicable(NO_NUMBERS)
    again = subject.forward(subject.batch, grad=True)
    by_mode = alike(subject.reference, again)
    if by_mode and subject.training_random:
        raise NotApplicable(tr("in train mode the model draws random numbers next to dropout, so it differs from eval"))
    other = watch if by_mode else again
    pair = anywhere(subject.reference, other, near)
    assert pair is not None
    inside = max((change(a, b) for a, b in zip(pair[0].outputs, pair[1].outputs)), default=np.inf)
    largest = max((change(a, b) for a, b in zip(subject.reference.outputs, other.outputs)), default=0.0)
    if inside <= ROUNDING and largest <= ROUNDING:  # more of it, such as what the next forward takes
        return []
    what = tr("train mode (p = 0) and eval mode") if by_mode else tr("a forward with gradients and one under no_grad")
    cause = tr("{} differ: what it gives by up to {:.2g} of its size, the model's output by {:.2g}", what, inside, largest)
    fix = tr("use self.training for dropout only") if by_mode else tr("compute the same with and without is_grad_enabled()")
    numbers = {"largest change inside": inside, "largest change": largest, "explained by rounding": ROUNDING}
    return [Finding("modes", pair[0].path, cause, fix, numbers)]


def alike(one: Watch, other: Watch) -> bool:
    """Whether all that modules gave is alike: a norm behind it can hide a difference."""
    return anywhere(one, other, near) is None


def of_norms(subject: Subject) -> list[Finding]:
    """A norm over rows whose running mean stays what it was made as, or becomes that of the last batch alone."""
    for path, module in subject.model.named_modules():
        momentum = getattr(module, "momentum", None) if normalises_batches(module) and module.track_running_stats else None
        if momentum == 0 and not module.running_mean._array.any():
            cause = tr("momentum=0 keeps the running mean and variance as they were made: eval mode never knows the data")
            return [Finding("modes", path, cause, MOMENTUM)]
        if momentum is not None and momentum >= LAST_BATCH:
            cause = tr(
                "momentum={} is the weight of the new batch, not of those before: eval mode knows the last one alone", momentum
            )
            return [Finding("modes", path, cause, MOMENTUM)]
    return []


LAST_BATCH = 0.9  # as a momentum
MOMENTUM = tr("momentum=0.1 weighs the new batch by 0.1; momentum=None takes the mean of all")
