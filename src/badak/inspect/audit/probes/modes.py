"""Train mode without dropout, eval mode, and no_grad give the same numbers."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.compare import ROUNDING, change, near
from badak.inspect.audit.localize import anywhere
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject
from badak.inspect.audit.watch import Watch


class Modes:
    """The forward for the backward is one in train mode with every p = 0, with a graph; the first one was in eval, without."""

    name = "modes"

    def ask(self, subject: Subject) -> list[Finding]:
        watch = subject.training
        if self.alike(subject.reference, watch):
            return []
        if subject.broken:
            raise NotApplicable(NO_NUMBERS)
        again = subject.forward(subject.batch, grad=True)
        by_mode = self.alike(subject.reference, again)
        if by_mode and subject.training_random:
            raise NotApplicable(tr("in train mode the model draws random numbers next to dropout, so it differs from eval"))
        other = watch if by_mode else again
        pair = anywhere(subject.reference.calls, other.calls, near)
        assert pair is not None
        inside = max((change(a, b) for a, b in zip(pair[0].outputs, pair[1].outputs)), default=np.inf)
        largest = max((change(a, b) for a, b in zip(subject.reference.outputs, other.outputs)), default=0.0)
        if inside <= ROUNDING and largest <= ROUNDING:  # more of it, such as what the next forward takes
            return []
        what = tr("train mode (p = 0) and eval mode") if by_mode else tr("a forward with gradients and one under no_grad")
        return [
            Finding(
                "modes",
                pair[0].path,
                tr("{} differ: what it gives by up to {:.2g} of its size, the model's output by {:.2g}", what, inside, largest),
                tr("use self.training for dropout only") if by_mode else tr("compute the same with and without is_grad_enabled()"),
                {"largest change inside": inside, "largest change": largest, "explained by rounding": ROUNDING},
            )
        ]

    @staticmethod
    def alike(one: Watch, other: Watch) -> bool:
        """Whether all that modules gave is alike: a norm behind it can hide a difference."""
        return anywhere(one.calls, other.calls, near) is None
