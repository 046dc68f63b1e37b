import re
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Step
from badak.inspect.doctor.source import own_text
from badak.nn import Module

LATER = re.compile(
    r"pre_?train|\bload_?(?!er)\w*(state|model|weight|check|ckpt|param|net|body|bone|encoder)|(?<!np\.)(?<!json\.)\bload\(|freez|frozen(?!\s*=)|"
    r"prob(e|ing)\b|fine.?tun|transfer|reservoir|teacher(?![ _-]?forc|['\"])|perceptual|attack"
    r"|requires_grad_\((?!True|\))|requires_grad\s*=\s*(?!True)|\blora|adapter",
    re.IGNORECASE,
)  # a program that says so may leave weights to themselves
BEST = re.compile(r"load_state_dict\(\w*best\w*(\[[^\]]*\])?\)", re.IGNORECASE)
KEPT = re.compile(r"(\w+)\s*=[^=\n]*\.state_dict\(\)")
SAVED = re.compile(r"\bsave\([\w.]*\.state_dict\(\),\s*([^,()\n]+)\)")


def without_own(text: str) -> str:
    """The text without the loading of what the program itself keeps, in a name or a file: that is no body of others."""
    text = BEST.sub("", text)
    if "def load(" in text:  # of data, as a rule
        text = re.sub(r"(?<![.\w])load\(", "", text)
    for name in set(KEPT.findall(text)):
        text = re.sub(rf"\bload_state_dict\({name}\)", "", text)
    for file in set(SAVED.findall(text)):
        text = re.sub(rf"\bload_state_dict\((torch\.)?load\({re.escape(file)}(,[^()]*)?\)\)", "", text)
    return text


def alone(visit: Visit, outside: list[Any]) -> bool:
    """Whether weights that were drawn here and get gradients are left to themselves: a body that was trained before may rest."""
    given, text = visit.watch.given, without_own(own_text())
    return (
        bool(outside)
        and bool(text)
        and not LATER.search(text)
        and not given.loaded
        and not any(id(p._array) in given.written for p in outside)
    )


def in_both(one: list[Step], other: list[Step]) -> bool:
    """Whether two optimizers that make their steps by turns hold the same parameters."""
    held = [{id(p) for p in steps[0].optimizer._parameters()} for steps in (one, other)]
    return bool(held[0] & held[1]) and one[0].number < other[-1].number and other[0].number < one[-1].number


def halves(visit: Visit, outside: list[Any]) -> bool:
    """Whether the optimizer has the weights of layers whose biases get gradients and are left out."""
    trained, owners = visit.trained, visit.names.owners
    biases = [p for p in outside if p.dim() <= 1 and id(p) in owners]
    left = [p for p in biases if any(id(q) in trained and q.dim() > 1 for q in owners[id(p)]._parameters.values() if q is not None)]
    return len(left) >= 2 and all(p.dim() <= 1 for p in outside)


def thawed(visit: Visit, outside: list[Any]) -> bool:
    """Whether weights were frozen, although their modules were called, and then were to learn: what rests is not thawed."""
    watch, rounds = visit.watch, len(visit.rounds)
    used = {*watch.called, *watch.inside}
    first = {key: watch.first_reached.get(key, 0) for key in map(id, outside)}
    return bool(outside) and all(3 < first[id(p)] < rounds and id(visit.names.owners.get(id(p))) in used for p in outside)


class StaleOptimizer(Diagnosis):
    """The optimizer was built before a layer was replaced or added: it updates what nobody uses, and not what is used."""

    code = "BADAK-212"
    title = "the optimizer does not have all weights"

    def look(self, visit: Visit) -> Findings:
        trained, names, reached = visit.trained | visit.before, visit.names.parameters, visit.watch.reached
        left = visit.copies | trained
        outside = [p for key, p in reached.items() if key in names and key not in left and p.requires_grad]
        orphans = [
            p for optimizer in visit.watch.optimizers.values() for p in optimizer._parameters()
            if id(p) not in names and id(p) not in reached
        ]  # fmt: skip
        yield from self.loose(visit)
        inside = sum(1 for key in trained if key in names)
        order = {key: i for i, key in enumerate(reached)}  # as gradients came: what is nearest to the loss comes first
        nearest = min((order[key] for key in trained if key in order), default=len(order))
        behind = any(order[id(p)] < nearest for p in outside) and inside > 0
        doubled = any(in_both(a, b) for i, a in enumerate(visit.by_optimizer()) for b in visit.by_optimizer()[:i])
        split = halves(visit, outside)
        some = split or orphans or inside >= len(outside) or behind or doubled or alone(visit, outside) or thawed(visit, outside)
        if not outside or len(visit.steps) < 2 or not some:
            return
        step = visit.steps[0]
        more = tr(", and {} of its own are in no model", len(orphans)) if orphans else ""
        yield self.found(
            step.place,
            tr("{} parameters get gradients and are in no optimizer ({}); "
               "{} updates {} others{}", len(outside), visit.names.few(outside), type(step.optimizer).__name__, inside, more),
            tr("build the optimizer after the model is complete; or freeze them: requires_grad_(False)"),
            missing=len(outside), orphans=len(orphans),
        )  # fmt: skip

    def loose(self, visit: Visit) -> Findings:
        """Tensors of no module that get a gradient in each step, and that neither an optimizer has nor the program writes."""
        watch = visit.watch
        every = {id(m): m for m in visit.alive if isinstance(m, Module)} | {id(m): m for t in visit.names.tops for m in t.modules()}
        known = {id(p) for module in every.values() for p in vars(module).values()}
        lost = [
            p for key, p in watch.reached.items()
            if key not in visit.trained and key not in visit.names.parameters and key not in known and p.numel() > 1
            and watch.times_reached.get(key, 0) >= max(5, 0.8 * len(visit.rounds)) and watch.given.history(p) is None
            and p._grad is not None
        ]  # fmt: skip
        others = [p for x in watch.optimizers.values() for p in x._parameters() if id(p) not in visit.names.parameters]
        if lost and others:
            yield self.found(
                visit.steps[0].place,
                tr("{} tensors {} get gradients in each step and are in no optimizer, next to {} that are", len(lost),
                   tuple(lost[0].shape), len(others)),
                tr("give them to the optimizer, too; or leave out requires_grad=True"),
                missing=len(lost),
            )  # fmt: skip
