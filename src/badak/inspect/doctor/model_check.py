"""What the audit has to say of a model that a program trains: one forward in eval mode shows what no loss tells of."""

from contextlib import suppress
from typing import TYPE_CHECKING

from badak.inspect.audit.report import TITLES
from badak.inspect.doctor.report import Finding
from badak.nn.recurrent import RNNBase

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit

ASKED = ("future", "padding", "positions", "order", "residual", "rotary", "heads", "axis")  # what no diagnosis looks for


def asked(visit: "Visit") -> list[Finding]:
    """The findings of those probes of the audit, for each model that is trained. The model is left exactly as it was."""
    from badak.inspect.audit.questions import ask_all

    found: list[Finding] = []
    labels = [loss.target for step in visit.steps[:1] for loss in step.losses if loss.target is not None]
    for module, args, kwargs in list(visit.watch.given.example.values()):
        if found or not any(id(p) in visit.trained for p in module.parameters()):
            continue
        place = next((call.place for step in visit.steps for call in step.calls if call.module is module), "")
        with suppress(Exception):  # of a model that cannot be asked nothing is said
            report = ask_all(module, (args, kwargs), None, None, None, None, 10, labels)
            modules = dict(module.named_modules())
            for each in report.findings:
                alone = len(args) + len(kwargs) == 1  # nothing says how long texts are, and few pack them
                recurrent = each.probe == "padding" and alone and isinstance(modules.get(each.module), RNNBase)
                unordered = each.probe == "order" and report.kind not in (
                    "causal",
                    "encoder-decoder",
                )  # a bag of words may be meant
                if each.probe in ASKED and not recurrent and not unordered:
                    where = visit.names.of(modules.get(each.module)) or each.module
                    found.append(
                        Finding(each.code, TITLES[each.probe], f"{place} {where}".strip(), each.cause, each.fix, each.numbers)
                    )
    return found
