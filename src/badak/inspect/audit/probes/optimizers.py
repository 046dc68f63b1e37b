"""Optimizers: every trainable parameter is in one of them, in no two, and they hold nothing that the model does not."""

from collections import Counter

from badak.core.errors import tr
from badak.inspect.audit.probes.gradients import below, covering
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject


def ask(subject: Subject) -> list[Finding]:
    """The parameters of the groups, compared with the model's."""
    if not subject.optimizers:
        raise NotApplicable(tr("no optimizer was given: audit(..., optimizer=opt)"), moot=True)
    count = Counter(id(p) for opt in subject.optimizers for group in opt.param_groups for p in group["params"])
    own = {name: p for name, p in subject.model.named_parameters() if p.requires_grad}
    none = {name for name, p in own.items() if not count[id(p)]}
    several = {name for name, p in own.items() if count[id(p)] > 1}
    known = {id(p) for p in subject.model.parameters()}
    strange = sum(1 for key in count if key not in known)
    found = []
    for path in covering(subject, none):
        found.append(finding(path, below(none, path), tr("in no optimizer"), FORGOTTEN, strange))
    for path in covering(subject, several):
        names = below(several, path)
        times = max(count[id(own[n])] for n in names)
        cause, fix = tr("updated {} times in a step", times), tr("each parameter in one group of one optimizer")
        found.append(finding(path, names, cause, fix, strange))
    if strange and not none:
        subject.notes.append(tr("the optimizers hold {} tensors that are no parameters of the model", strange))
    return found


FORGOTTEN = tr("build the optimizer of model.parameters(), after the last change of the model")


def finding(path: str, names: list[str], cause: str, fix: str, strange: int) -> Finding:
    """One module's parameters, and how many tensors the optimizers hold that belong to no module."""
    more = tr("; the optimizers hold {} tensors that the model no longer has", strange) if strange else ""
    text = tr("{} is {}: {} parameters, e.g. {}{}", path or tr("the model"), cause, len(names), names[0], more)
    return Finding("optimizers", path, text, fix, {"parameters": len(names), "strange": strange})
