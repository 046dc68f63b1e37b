"""What the audit has to say of a model that a program trains: forwards in eval mode show what no loss tells of."""

from contextlib import suppress
from typing import TYPE_CHECKING

from badak.inspect.audit.questions import ask_all
from badak.inspect.audit.report import TITLES
from badak.inspect.audit.report import Finding as Audited
from badak.inspect.doctor.report import Finding
from badak.nn import Module
from badak.nn.recurrent import RNNBase

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit

ASKED = ("future", "padding", "positions", "order", "residual", "rotary", "heads", "axis")  # what no diagnosis looks for


def asked(visit: "Visit") -> list[Finding]:
    """The findings of those probes of the audit, of the first trained model that has some. It is left exactly as it was."""
    labels = [loss.target for step in visit.steps[:1] for loss in step.losses if loss.target is not None]
    mixes = any(step.attended for step in visit.steps)
    for module, args, kwargs in list(visit.watch.given.example.values()):
        if not any(id(p) in visit.trained for p in module.parameters()):
            continue
        place = next((call.place for step in visit.steps for call in step.calls if call.module is module), "")
        with suppress(Exception):  # of a model that cannot be asked nothing is said
            report = ask_all(module, (args, kwargs), None, None, None, None, 10, labels)
            ordered = mixes and (report.kind in ("causal", "encoder-decoder") or fills_in(visit))
            modules = dict(module.named_modules())
            found = [each for each in report.findings if counts(each, modules, ordered, len(args) + len(kwargs) == 1)]
            if found:
                return [told(visit, each, place, modules) for each in found]
    return []


def fills_in(visit: "Visit") -> bool:
    """Whether a token is asked for at each place of a text, as of a masked model."""
    return any(
        loss.target is not None and loss.target.size == lookup.ids.size and loss.classes == lookup.rows and lookup.ids.ndim == 2
        for step in visit.steps[:2]
        for loss in step.losses
        for lookup in step.lookups
    )


def counts(found: Audited, modules: dict[str, Module], ordered: bool, alone: bool) -> bool:
    """Whether it is said in a training. ordered: no bag of words, or of tokens one by one; alone: the model is not told how long
    texts are, and few pack them for a recurrent layer."""
    by_design = found.probe == "order" and not ordered
    by_design |= found.probe == "padding" and alone and isinstance(modules.get(found.module), RNNBase)
    return found.probe in ASKED and not by_design


def told(visit: "Visit", found: Audited, place: str, modules: dict[str, Module]) -> Finding:
    """A finding of the audit as one of the doctor's: with the line that calls the model, and the module's name."""
    where = visit.names.of(modules.get(found.module)) or found.module
    return Finding(found.code, TITLES[found.probe], f"{place} {where}".strip(), found.cause, found.fix, found.numbers)
