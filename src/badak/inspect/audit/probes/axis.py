"""Softmax over the wrong axis: the weights that values are summed with do not sum to 1."""

from collections.abc import Iterator

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import PRODUCTS, Ran, additive, product_after, scores_of
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.ops.einsum import Contract
from badak.ops.matmul import MatMul
from badak.ops.select import Dropout
from badak.ops.softmax import Softmax

FIX = tr("softmax over the axis of the keys, the last of (..., T, S): scores.softmax(-1)")
CLASSES = tr("log_softmax over the axis of the classes: F.log_softmax(logits, dim=-1); or F.cross_entropy(logits, labels)")
CLOSE = 1e-3


def ask(subject: Subject) -> list[Finding]:
    """Add the weights of each attention up along the axis that the product with its values sums over, and along the others."""
    consumers, found, looked = subject.reference.consumers(), {}, False
    others = {mixer.q.number for mixer in additive(subject.reference)}
    for run in subject.reference.runs:
        if run.op is not Softmax or run.output.ndim < 2:
            continue
        core = product_after(run, consumers)
        if scores_of(run) is None and run.number not in others and not heads_last(run, core):
            continue
        weights = None if core is None else weights_of(core, run)
        if core is None or weights is None:
            continue
        looked = True
        if core.path not in found and (axes := wrong(*weights)):
            shape, (one, over) = weights[0].shape, axes
            cause = tr("weights {} sum to 1 along axis {}, and their product with the values sums over axis {}", shape, one, over)
            numbers = {"softmax over axis": one, "summed over axis": over}
            found[core.path] = Finding("axis", core.path, cause, FIX, numbers)
    for core, shape in unweighted(subject):
        looked = True
        cause = tr("scores {} multiply the values as they are: no softmax makes them weights that sum to 1", shape)
        found.setdefault(core.path, Finding("axis", core.path, cause, FIX))
    if subject.asked.across:
        shape = subject.asked.across[0]
        cause = tr("its loss takes a softmax, {}, that does not sum to 1 over the classes that labels choose from", shape)
        found[""] = Finding("axis", "", cause, CLASSES)
    if not looked and not found:
        raise NotApplicable(tr("no attention was seen whose weights are made by a softmax of its own"), moot=True)
    return list(found.values())


def heads_last(softmax: Ran, core: Ran | None) -> bool:
    """Whether weights (B, T, T, H), which are no product of queries and keys, sum values up by an einsum that names the axis."""
    shape = softmax.output.shape
    return core is not None and core.op is Contract and len(shape) == 4 and shape[1] == shape[2] > 2 and bool(softmax.reads)


def unweighted(subject: Subject) -> Iterator[tuple[Ran, tuple[int, ...]]]:
    """Products with values of what is a product of queries and keys, of several heads, scaled and dropped at most."""
    for core in subject.reference.runs:
        heads = core.op is MatMul and core.output.ndim == 4 and core.output.shape[1] > 1
        heads = heads or core.op is Contract and len(core.attributes["ta"]) == 4 and len(core.attributes["tb"]) == 4
        scores = core.sources[0] if heads and not any(core.parameters) else None
        while scores is not None and (scores.moves or scores.op.__name__ in KEPT):
            alone = len(scores.inputs) < 2 or scores.inputs[1] is None or scores.inputs[1].size == 1 or scores.op is Dropout
            scores = scores.sources[0] if alone else None
        if scores is None or scores.op not in PRODUCTS or None in scores.sources[:2] or scores.output.ndim != 4:
            continue
        if scores.output.shape[-1] == scores.output.shape[-2] > 2 and core.inputs[0].size == scores.output.size:  # type: ignore[union-attr]
            yield core, scores.output.shape


KEPT = ("Mul", "Div", "Scale", "Shift", "Dropout")


def weights_of(core: Ran, softmax: Ran) -> tuple[np.ndarray, int] | None:
    """The weights as the product has them, and the axis that it sums over; None where that cannot be told."""
    for side, source in enumerate(core.sources[:2]):
        x = core.inputs[side]
        if x is None or source is None or (x.size != softmax.output.size and x.shape[-2:] != softmax.output.shape[-2:]):
            continue
        if softmax.number not in {each.number for each in source.inside()}:
            continue
        if core.op is MatMul:
            return (x, x.ndim - 1 - side) if x.ndim > 1 else None
        own, other, made = (core.attributes[each] for each in (("ta", "tb", "ty") if side == 0 else ("tb", "ta", "ty")))
        over = [i for i, letter in enumerate(own) if letter in other and letter not in made]
        return (x, over[0]) if len(over) == 1 and x.ndim == len(own) else None
    return None


def wrong(weights: np.ndarray, over: int) -> tuple[int, int] | None:
    """(axis along which weights sum to 1, axis that is summed over), where they are not one."""
    if sums_to_one(weights, over):
        return None
    return next(((axis, over) for axis in range(weights.ndim) if axis != over and sums_to_one(weights, axis)), None)


def sums_to_one(weights: np.ndarray, axis: int) -> bool:
    """Whether all do; a row of zeros, or of NaN, is one that sees nothing."""
    total = weights.astype(np.float64).sum(axis=axis)
    return bool((np.abs(total - 1) < CLOSE)[(total != 0) & np.isfinite(total)].all())
