"""`badak.audit`: one model, one batch, every question."""

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from badak.audit.batch import Batch
from badak.audit.keep import as_it_was
from badak.audit.kind import KINDS
from badak.audit.probes import PROBES
from badak.audit.report import Audit
from badak.audit.subject import Subject, Unasked
from badak.errors import ArgumentError, KindError
from badak.nn import Module
from badak.nn.unregistered import describe_unregistered
from badak.optim import Optimizer


def audit(
    model: Module,
    batch: Any,
    *,
    kind: str | None = None,
    pad: int | None = None,
    optimizer: Optimizer | Iterable[Optimizer] | None = None,
    loss: Callable[[Any], Any] | None = None,
    forwards: int = 10,
) -> Audit:
    """Look for faults that no error tells of: does the model see the future, its padding, its neighbours; does all of it learn?

        report = badak.audit(model, ids)
        assert report.ok, report

    batch        what the model is called with: a tensor, a tuple of arguments, a dict of them by name, or the pair of both
    kind         "causal", "bidirectional", "encoder-decoder" or "pictures"; found by itself where it is None
    pad          id of padding; found in masks of the batch, padding_idx and attributes such as pad_id where it is None
    optimizer    one or several, to see whether every parameter is in one of them
    loss         function of what the model gives, to differentiate; else the outputs are summed with random weights
    forwards     most forwards that may be made; there is one backward. Probes that come too late say so

    Gives an `Audit`: findings, ok, text by print, page by to_html(). The model is left exactly as it was: weights, modes,
    gradients, buffers, hooks and the random generators; also after an error.

    Raises KindError for what is no module and no batch, ArgumentError for a model without parameters, for one that does not
    take the batch, and for one that is random in eval mode. PyTorch has no such function. docs/audit.md says what each probe asks.
    """
    started = perf_counter()
    given = checked(model, kind, optimizer)
    if not isinstance(forwards, int) or forwards < 1:
        raise ArgumentError(f"audit: forwards={forwards!r} allows for none", "forwards=10")
    if pad is not None and not isinstance(pad, int):
        raise KindError(f"audit: pad={pad!r} is no id", "pad=0, the id that fills texts up")
    with as_it_was(model):
        subject = Subject(model, Batch.of(model, batch), kind, pad, forwards, loss)
        subject.optimizers = given
        report = Audit(type(model).__name__, subject.kind.kind, subject.kind.why, sizes_of(subject))
        for probe in PROBES:
            try:
                found = probe().ask(subject)
            except Unasked as why:
                report.unasked[probe.name] = str(why)
                continue
            report.findings += found
            if not found:
                report.sound.append(probe.name)
        report.notes, report.forwards, report.backwards = subject.notes, subject.forwards, subject.backwards
    report.seconds = perf_counter() - started
    return report


def checked(model: Any, kind: str | None, optimizer: Any) -> list[Optimizer]:
    """The optimizers as a list; raises for what cannot be audited."""
    if not isinstance(model, Module):
        raise KindError(
            f"audit: model is {type(model).__name__}, not a badak.nn.Module", "audit(model, batch), the model first"
        )
    if not any(p is not None for module in model.modules() for p in module._parameters.values()):
        cause, fix = describe_unregistered(model, model._plain_containers())
        raise ArgumentError(f"audit: {cause}", fix)
    if kind is not None and kind not in KINDS:
        raise ArgumentError(f"audit: kind={kind!r} is none of {', '.join(KINDS)}", "kind=None finds it")
    several = [optimizer] if isinstance(optimizer, Optimizer) else list(optimizer or [])
    for each in several:
        if not isinstance(each, Optimizer):
            raise KindError(
                f"audit: optimizer holds {type(each).__name__}, not a badak.optim.Optimizer", "optimizer=[opt]"
            )
    return several


def sizes_of(subject: Subject) -> str:
    """The batch in words."""
    if subject.texts:
        long = " and ".join(f"{subject.length(name)}" for name in subject.texts)
        return f"{subject.rows} texts of {long} tokens"
    return f"{subject.rows} x {subject.primary.shape[1:]}"
