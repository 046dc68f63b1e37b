"""What the audit has to say of a model that a program trains: forwards in eval mode show what no loss tells of."""

import random
from contextlib import suppress

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.questions import ask_all
from badak.inspect.audit.report import TITLES
from badak.inspect.audit.report import Finding as Audited
from badak.inspect.doctor import around
from badak.inspect.doctor.facts import Visit
from badak.inspect.doctor.report import Finding
from badak.nn import Conv1d, Conv2d, Module
from badak.nn.recurrent import RNNBase
from badak.tensor import Tensor

WORDS = 20  # that a table of words has, at least
ASKED = frozenset(
    "batch future padding positions tokens order residual rotary heads axis straight scale".split()
)  # what no diagnosis looks for


def asked(visit: Visit) -> list[Finding]:
    """The findings of those probes of the audit, of the first trained model that has some. It is left exactly as it was."""
    labels = [loss.target for step in visit.steps[:1] for loss in step.losses if loss.target is not None]
    mixes = any(each.learnt for step in visit.steps for each in step.attended)
    for module, args, kwargs in list(visit.watch.given.example.values()):
        if not any(id(p) in visit.trained for p in module.parameters()):
            continue
        place = next((call.place for step in visit.steps for call in step.calls if call.module is module), "")
        with suppress(Exception):  # of a model that cannot be asked nothing is said
            report = ask_all(module, (args, kwargs), None, None, None, None, 10, labels)
            if any(each.probe == "positions" for each in report.findings):  # a place may be read by chance
                said = in_other_draws(module, args, kwargs, labels)
                report.findings[:] = [each for each in report.findings if each.probe != "positions" or each.cause in said]
            ordered = mixes and (report.kind in ("causal", "encoder-decoder") or fills_in(visit))
            modules = dict(module.named_modules())
            if report.kind != "causal":  # where one text asks another its scores need not be those of two maps
                report.findings[:] = [each for each in report.findings if each.probe != "scale"]
            plain = not told_lengths(args, kwargs)
            found = [each for each in report.findings if counts(each, modules, ordered, plain, mixes)]
            found = [each for each in found if each.probe != "batch" or rows_are_apart(visit, module, args, kwargs)]
            if any(step.divergences for step in visit.steps):  # a text is given back by what it was made into
                found = [each for each in found if each.probe != "future"]
            found = [each for each in found if each.probe != "tokens"] or found  # an input is not read where another bug hides it
            if found:
                return [told(visit, each, place, modules) for each in found]
    return []


def in_other_draws(module: Module, args: tuple, kwargs: dict, labels: list) -> set[str]:
    """What the audit says each time, where Python draws other numbers: what a decoder is given may hang on them."""
    state, several = random.getstate(), []
    try:
        for seed in (1, 2):
            random.seed(seed)
            report = ask_all(module, (args, kwargs), None, None, None, None, 10, labels)
            several.append({each.cause for each in report.findings})
    finally:
        random.setstate(state)
    return set.intersection(*several)


def padding_weighed(visit: Visit) -> list[Finding]:
    """Weights by which what a recurrent layer made of a text is added up, and that padding has its share of."""
    steps = [step for step in visit.rounds[:3] if step.filled]
    several = [share for step in steps for _, share in step.filled]
    if len(steps) < 3 or max(several) < 0.02 or min(several) < 0.002:
        return []
    cause = tr("weights over the places of texts give {:.0%} to what fills the texts up, in the mean of {} batches",
               sum(several) / len(several), len(steps))  # fmt: skip
    fix = tr('scores.masked_fill(ids == PAD, float("-inf")) before the softmax')
    return [Finding("BADAK-302", TITLES["padding"], steps[0].filled[0][0], cause, fix, {"share": max(several)})]


def not_joined(visit: Visit) -> list[Finding]:
    """Blocks that are called residual, or look so, and what they are given goes no other way than through them."""
    rounds = visit.rounds[: around.FIRST]
    kinds = [{kind for kind, _ in step.unjoined} for step in rounds]
    every = [each for step in rounds for each in step.unjoined]
    for kind in sorted(set.intersection(*kinds)) if len(kinds) == around.FIRST else ():
        times = sum(own == kind for own, _ in every) // len(rounds)
        if around.NAMED.search(kind) or times > 1:
            place = next(at for own, at in every if own == kind)
            cause = tr("what {} is given reaches what it gives by no other way than through its layers, {} times in a step", kind,
                       times)  # fmt: skip
            return [Finding("BADAK-317", TITLES["residual"], place, cause, "x = x + block(x)", {"times": times})]
    return []


def told_lengths(args: tuple, kwargs: dict) -> bool:
    """Whether a model is given numbers of the rows, as of how long they are, or a mask."""
    several = [x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    return any(x.dtype.kind == "b" or x.ndim == 1 or (x.ndim == 2 and x.size and set(np.unique(x)) <= {0, 1}) for x in several[1:])


def rows_are_apart(visit: Visit, module: Module, args: tuple, kwargs: dict) -> bool:
    """Whether the rows of a batch are examples of their own: drawn in ever other company, and each asked for its own label."""
    several = [x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if any(getattr(m, "track_running_stats", True) is False for m in module.modules()):
        return False
    n = len(several[0]) if several and several[0].ndim > 1 else 0
    if n < 4 or any(not x.ndim or len(x) != n or (x.ndim == 2 and x.shape[1] == n) for x in several):
        return False
    loaders = [each for each in visit.loaders if each.batch_size == n]
    calls = [call for step in visit.steps for call in step.calls if call.module is module and call.grad]
    drawn = any(len(each.rows) == n and each.of >= 2 * n for step in visit.steps for each in step.picked)
    if not loaders and not drawn and not any(call.whole >= 2 * n for call in calls):
        return False
    losses = [loss for step in visit.steps[:3] for loss in step.trained if loss.labels is not None and loss.classes != n]
    places = n * several[0].shape[1]  # a label for each place of a text
    labels = [y for loss in losses if len(y := np.asarray(loss.labels)) in (n, places) and len(np.unique(y)) > 1]
    return bool(labels) and not any(np.array_equal(y.ravel(), np.arange(n)) for y in labels)


def fills_in(visit: Visit) -> bool:
    """Whether a token, or a tag, is asked for at each place of a text, as of a masked model."""
    return any(
        loss.target is not None and loss.target.size == lookup.ids.size and lookup.rows >= WORDS and lookup.ids.ndim == 2
        for step in visit.steps[:2]
        for loss in step.losses
        for lookup in step.lookups
    )


def counts(found: Audited, modules: dict[str, Module], ordered: bool, alone: bool, mixes: bool) -> bool:
    """Whether it is said in a training. ordered: no bag of words, or of tokens one by one; alone: the model is not told how long
    texts are, and few pack them for a recurrent layer, or hide them from a convolution, as of letters; mixes: it attends."""
    by_design = found.probe == "order" and not ordered and "adds" not in found.numbers
    filters = not mixes and any(isinstance(m, Conv1d | Conv2d) for m in modules.values())
    begins = modules.get(found.module)
    by_design |= found.probe == "padding" and alone and (filters or isinstance(begins, RNNBase))
    by_design |= found.probe == "padding" and isinstance(begins, Conv1d | Conv2d)
    return found.probe in ASKED and not by_design


def told(visit: Visit, found: Audited, place: str, modules: dict[str, Module]) -> Finding:
    """A finding of the audit as one of the doctor's: with the line that calls the model, and the module's name."""
    where = visit.names.of(modules.get(found.module)) or found.module
    return Finding(found.code, TITLES[found.probe], f"{place} {where}".strip(), found.cause, found.fix, found.numbers)
