"""Optimizers: every trainable parameter is in one of them, in no two, and they hold nothing that the model does not."""

from collections import Counter

from badak.audit.probes.gradients import below, covering
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked


class Optimizers:
    """The parameters of the groups, compared with the model's."""

    name = "optimizers"

    def ask(self, subject: Subject) -> list[Finding]:
        if not subject.optimizers:
            raise Unasked("no optimizer was given: audit(..., optimizer=opt)")
        count = Counter(id(p) for opt in subject.optimizers for group in opt.param_groups for p in group["params"])
        own = {name: p for name, p in subject.model.named_parameters() if p.requires_grad}
        none = {name for name, p in own.items() if not count[id(p)]}
        several = {name for name, p in own.items() if count[id(p)] > 1}
        known = {id(p) for p in subject.model.parameters()}
        strange = sum(1 for key in count if key not in known)
        found = [
            finding(path, names, f"in no optimizer, so that step() leaves them: {len(names)} parameters, e.g. {names[0]}",
                    "build the optimizer of model.parameters(), after the last change of the model", strange)
            for path in covering(subject, none)
            for names in [below(none, path)]
        ]  # fmt: skip
        found += [
            finding(path, names, f"updated {max(count[id(own[n])] for n in names)} times in a step: {len(names)} parameters, e.g. {names[0]}",
                    "each parameter in one group of one optimizer", strange)
            for path in covering(subject, several)
            for names in [below(several, path)]
        ]  # fmt: skip
        if strange and not none:
            subject.notes.append(f"the optimizers hold {strange} tensors that are no parameters of the model")
        return found


def finding(path: str, names: list[str], cause: str, fix: str, strange: int) -> Finding:
    """One module's parameters, and how many tensors the optimizers hold that belong to no module."""
    more = f"; the optimizers hold {strange} tensors that the model no longer has" if strange else ""
    return Finding("optimizers", path, f"{path or 'the model'} is {cause}{more}", fix, {"parameters": len(names), "strange": strange})
