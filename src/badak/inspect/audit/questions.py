"""One model, one batch, every question, in the order of `probes/`."""

from time import perf_counter
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.inspect.audit.answer import Losses
from badak.inspect.audit.batch import Batch
from badak.inspect.audit.kind import KINDS
from badak.inspect.audit.preserve_state import as_it_was
from badak.inspect.audit.probes import PROBES
from badak.inspect.audit.report import Audit, Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.nn import Module
from badak.nn.unregistered import describe_unregistered, forgotten
from badak.optim import Optimizer

MAIN = ("batch", "future", "padding", "gradients")  # without them nothing can be said


def ask_all(
    model: Any, batch: Any, kind: Any, pad: Any, optimizer: Any, loss: Any, forwards: Any, asked: Losses | list | None = None
) -> Audit:
    """What `badak.audit` gives; its arguments are checked here. asked: what a program's loss compared the answers with, or
    the labels alone."""
    started = perf_counter()
    given = checked(model, kind, optimizer)
    if not isinstance(forwards, int) or forwards < 1:
        raise ArgumentError(tr("audit: forwards={!r} allows for none", forwards), "forwards=12")
    if pad is not None and not isinstance(pad, int):
        raise ArgumentTypeError(tr("audit: pad={!r} is no id", pad), "pad=0, the id that fills texts up")
    if lost := unregistered(model):
        report = Audit(type(model).__name__, kind or "", "", "", lost)
        report.notes.append(tr("nothing else was asked: eval() does not reach layers that are not registered"))
        return report
    with as_it_was(model):
        subject = Subject(model, Batch.of(model, batch), kind, pad, forwards, loss, asked)
        subject.optimizers = given
        report = Audit(type(model).__name__, subject.kind.kind, subject.kind.why, sizes_of(subject))
        for probe, ask in PROBES.items():
            try:
                found = ask(subject)
            except NotApplicable as why:
                report.unasked[probe] = str(why)
                if probe in MAIN and not why.moot:
                    report.open.append(probe)
                continue
            report.findings += found
            subject.found |= {probe} if found else set()
            if not found:
                report.sound.append(probe)
        report.notes, report.forwards, report.backwards = subject.notes, subject.forwards, subject.backwards
    report.seconds = perf_counter() - started
    return report


def checked(model: Any, kind: str | None, optimizer: Any) -> list[Optimizer]:
    """The optimizers as a list; raises for what cannot be audited."""
    if not isinstance(model, Module):
        raise ArgumentTypeError(
            tr("audit: model is {}, not a badak.nn.Module", type(model).__name__), "audit(model, batch), the model first"
        )
    if not any(p is not None for module in model.modules() for p in module._parameters.values()):
        cause, fix = describe_unregistered(model, model._plain_containers())
        raise ArgumentError(tr("audit: {}", cause), fix)
    if kind is not None and kind not in KINDS:
        raise ArgumentError(tr("audit: kind={!r} is none of {}", kind, ", ".join(KINDS)), "kind=None finds it")
    several = [optimizer] if isinstance(optimizer, Optimizer) else list(optimizer or [])
    for each in several:
        if not isinstance(each, Optimizer):
            raise ArgumentTypeError(
                tr("audit: optimizer holds {}, not a badak.optim.Optimizer", type(each).__name__), "optimizer=[opt]"
            )
    return several


def unregistered(model: Module) -> list[Finding]:
    """Layers in plain lists: they never learn, and eval() does not reach them, so that no forward can be trusted."""
    paths = {id(module): path for path, module in model.named_modules()}
    return [
        Finding("gradients", f"{paths[id(module)]}.{name}".lstrip("."), cause, fix)
        for module, name, value in model._plain_containers()
        for cause, fix, _ in forgotten(model, [(module, name, value)])
    ]


def sizes_of(subject: Subject) -> str:
    """The batch in words."""
    if subject.texts:
        long = " and ".join(f"{subject.length(name)}" for name in subject.texts)
        return tr("{} texts of {} tokens", subject.rows, long)
    return f"{subject.rows} x {subject.primary.shape[1:]}"
