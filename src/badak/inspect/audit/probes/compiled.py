"""Compiled: the model replayed as a list of kernel calls gives the bits of the model run as it is written."""

from badak.core.errors import ArgumentError, tr
from badak.inspect.audit.compare import change
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject


def ask(subject: Subject) -> list[Finding]:
    """The forwards of other probes that nobody watched were recorded; one more is replayed, with the first batch."""
    if subject.broken:
        raise NotApplicable(NO_NUMBERS)
    needed = max(0, 3 - subject.compiled_calls)
    subject.afford(needed + 1)
    for _ in range(needed):
        outputs = subject.plain(subject.batch)
        if any(change(a, b) != 0.0 for a, b in zip(subject.reference.outputs, outputs)):
            subject.expect_same(subject.reference, subject.forward(subject.batch))  # names the module
            raise ArgumentError(
                tr("audit: two forwards of {} in eval mode differ", type(subject.model).__name__),
                "draw random numbers in training only: F.dropout(x, p, self.training)",
            )
    if not subject.compiled.recordings:
        raise NotApplicable(tr("badak.compile runs it as it is: {}", subject.compiled.fallback_reason or tr("it was not recorded")))
    outputs = subject.plain(subject.batch)
    gaps = [change(a, b) for a, b in zip(subject.reference.outputs, outputs)]
    if not any(gaps):
        return []
    cause = tr("replayed, the model gives other numbers than run: they differ by up to {:.2g} of their size", max(gaps))
    fix = tr("BADAK_COMPILE_CHECK=1 names the call; let forward depend on its arguments, parameters and buffers only")
    return [Finding("compiled", "", cause, fix, {"largest change": max(gaps)})]
