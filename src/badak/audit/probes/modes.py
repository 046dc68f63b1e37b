"""Train mode without dropout, eval mode, and no_grad give the same numbers."""

from badak.audit.compare import ROUNDING, change, near
from badak.audit.descend import anywhere, begins
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked
from badak.audit.watch import Watch


class Modes:
    """The forward for the backward is one in train mode with every p = 0, with a graph; the first one was in eval, without."""

    name = "modes"

    def ask(self, subject: Subject) -> list[Finding]:
        watch = subject.training
        if self.alike(subject.reference, watch):
            return []
        if subject.training_random:
            raise Unasked("in train mode the model draws random numbers beside dropout, so it differs from eval")
        again = subject.forward(subject.batch, grad=True)
        by_mode = self.alike(subject.reference, again)
        other = watch if by_mode else again
        begin = begins(subject.reference.calls, other.calls, near)
        if not begin.path:
            begin = anywhere(subject.reference.calls, other.calls, near)[0]
        largest = max(change(a, b) for a, b in zip(subject.reference.outputs, other.outputs))
        what = "train mode (p = 0) and eval mode" if by_mode else "a forward with gradients and one under no_grad"
        return [
            Finding(
                "modes",
                begin.path,
                f"{what} differ by up to {largest:.2g} of the output's size",
                "use self.training for dropout only"
                if by_mode
                else "compute the same with and without is_grad_enabled()",
                {"largest change": largest, "explained by rounding": ROUNDING},
                begin.between,
            )
        ]

    @staticmethod
    def alike(one: Watch, other: Watch) -> bool:
        """Whether all that modules gave is alike: a norm behind it can hide a difference."""
        return not anywhere(one.calls, other.calls, near)
