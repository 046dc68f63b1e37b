"""Loss: it is given what it takes, its softmax keeps rows apart, padding does not count, and it adds up what each row brings."""

from collections.abc import Iterator

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.answer import TAKES, Taken, counted, given_losses
from badak.inspect.audit.graph import through
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.ops.loss import NLL, BCEWithLogits
from badak.tensor import Tensor

LOGITS = tr("give it the numbers before the softmax, or the sigmoid: they are made within the loss")
LOGARITHMS = tr("give nll_loss what log_softmax makes, or give cross_entropy the logits")
IGNORE = tr("leave padding out: ignore_index=ID, labels of -100, or a mask before the mean")
CLASSES = tr("take it over the axis of the classes: dim=1 of (B, C, ...), dim=-1 of (B, T, V)")
MASKS = tr("take the last label of each row by its length, and hide padding in each step of the loss")
APART = tr("look for a sum, a logsumexp, a mean or an index over the axis of the batch")


def ask(subject: Subject) -> list[Finding]:
    """Look at the numbers and the labels that the loss of the model, or of its program, is given. Of one that a model gives and
    makes by hand: other labels in the places of padding; then other numbers in one half of the rows, in the other, and in both."""
    found = normed(subject) or across_rows(subject) or padding_counts(subject)
    if found:
        return found
    at = next((i for i, y in enumerate(subject.reference.outputs) if y.ndim == 0 and y.dtype.kind == "f"), None)
    if at is not None and np.isfinite(subject.reference.outputs[at]) and not given_losses(subject.reference):
        return labels_behind(subject, at) or joined(subject, at)
    if not any(True for _ in taken(subject)) and not subject.asked.labels and at is None:
        raise NotApplicable(tr("no loss was seen: audit(..., loss=lambda out: ...)"), moot=True)
    return []


def taken(subject: Subject) -> Iterator[Taken]:
    """What the losses of the model and of its program are given."""
    yield from (Taken(run.op, run.inputs, run.attributes, run.path) for run in given_losses(subject.reference) if run.op in TAKES)
    yield from subject.asked.taken


def normed(subject: Subject) -> list[Finding]:
    """Probabilities, where logits or their logarithms are taken."""
    sink = subject.sink()
    maker = through(sink)
    for op, (x, *_), _, _ in taken(subject):
        if x is None or x.ndim == 0 or not x.size:
            continue
        if op is BCEWithLogits:
            made = maker is not None and maker.op.__name__ == "Sigmoid" and x.size == maker.output.size
            if made and ((x >= 0) & (x <= 1)).all():
                cause = tr(
                    "its loss takes logits, and is given what a sigmoid made: numbers from {:.2g} to {:.2g}", x.min(), x.max()
                )
                return [Finding("loss", maker.path, cause, LOGITS)]  # type: ignore[union-attr]
            continue
        axis = min(1, x.ndim - 1)
        if x.shape[axis] > 1 and x.min() >= 0 and np.abs(x.sum(axis, dtype=np.float64) - 1).max() < CLOSE:
            what = tr("logarithms of probabilities") if op is NLL else tr("logits")
            cause = tr("its loss takes {}, and is given probabilities, which sum to 1 over {} classes", what, x.shape[axis])
            own = maker is not None and maker.op.__name__ == "Softmax"
            return [Finding("loss", maker.path if own else "", cause, LOGARITHMS if op is NLL else LOGITS)]  # type: ignore[union-attr]
    return []


CLOSE = 1e-3


def across_rows(subject: Subject) -> list[Finding]:
    """A softmax of the answer in the program's loss, over the first axis of (B, C, ...)."""
    answers = [y.shape for y in (*subject.reference.outputs, *(y for gave in subject.asked.wholes for y in gave))]
    for shape in subject.asked.first_axis if not subject.asked.across else ():  # else the axis is named by its labels
        if shape in answers and shape[0] != shape[1]:
            cause = tr("its loss takes a softmax of the answer {} over the first axis: over {} rows of the batch", shape, shape[0])
            return [Finding("loss", "", cause, CLASSES)]
    return []


def padding_counts(subject: Subject) -> list[Finding]:
    """Labels in the places of padding, which stand for a mean over the others."""
    if subject.invented:
        return []
    for op, (_, labels, *rest), attributes, path in taken(subject):
        weighs = any(x is not None for x in rest) or attributes.get("reduction", "mean") == "none"
        if op is BCEWithLogits or weighs or labels is None or labels.dtype.kind not in "iu":
            continue
        labels = counted(labels, attributes)
        for name, mask in subject.padding.items():
            for where in (mask, mask[:, 1:]):
                if labels.size != where.size or not where.any():
                    continue
                laid = labels.reshape(where.shape) if subject.batch.batch_axis == 0 else labels.reshape(where.shape[::-1]).T
                behind = (laid >= 0) & where
                one = len(np.unique(laid[where])) == 1 and not np.isin(laid[~where], laid[where]).any()
                if (name not in subject.texts[-1:] or where is mask or one) and (behind.sum(1) > 1).any() and behind[where].all():
                    cause = tr(
                        "its loss counts {} labels in the places of padding of {}, of {}", int(behind.sum()), name, labels.size
                    )
                    return [Finding("loss", path, cause, IGNORE)]
    return []


def labels_behind(subject: Subject, at: int) -> list[Finding]:
    """Other labels in the places of padding, of a loss that a model makes by hand."""
    if subject.invented or "padding" in subject.found:
        return []
    for name, leaf in subject.batch.leaves.items():
        mask = next((m for m in subject.padding.values() if subject.placed(m).shape == leaf.array.shape), None)
        if mask is None or name in subject.texts or not leaf.integer or leaf.array.max() < 2 or not mask.any():
            continue
        behind = subject.placed(mask)
        if any(np.array_equal(x.indices, leaf.array) for x in subject.reference.lookups):
            continue
        other = leaf.array.copy()
        other[behind] = subject.rng.integers(0, leaf.array.max() + 1, int(behind.sum()))
        watch = subject.forward({name: other})
        gap = abs(float(watch.outputs[at]) - float(subject.reference.outputs[at]))
        if gap > ROUND * max(1.0, abs(float(subject.reference.outputs[at]))):
            cause = tr("with other labels in the places of padding of {}, the loss that it gives changes by {:.2g}", name, gap)
            return [Finding("loss", made_in(subject, at), cause, MASKS)]
    return []


ROUND = 1e-5  # of a loss


def joined(subject: Subject, at: int) -> list[Finding]:
    """Whether what half of the rows bring to a loss depends on what the other half does: the last module before it gives others."""
    rows, graph = subject.rows, subject.reference
    last = [
        call for call in graph.calls if call.parent is not None and [y.shape[:1] for y in call.outputs if y.ndim > 1] == [(rows,)]
    ]
    if rows < 2 or not last or any(beside_each_other(run.output.shape, rows) for run in graph.runs) or subject.leaks_rows:
        return []
    subject.afford(3)
    call = max(last, key=lambda each: each.ended)
    drawn = subject.rng.standard_normal(call.outputs[0].shape) * STRONG
    half = np.arange(rows) < rows // 2

    def loss(where: np.ndarray) -> float:
        more = drawn * where.reshape(-1, *[1] * (drawn.ndim - 1))
        edit = {call.path: lambda y, _: y + Tensor._of(more.astype(y._array.dtype)) if y.shape == more.shape else y}
        return float(subject.forward(subject.batch, edit=edit).outputs[at])

    start, one, other, both = float(graph.outputs[at]), loss(half), loss(~half), loss(half | ~half)
    moved, gap = max(abs(one - start), abs(other - start)), abs(both - one - other + start)
    if gap <= max(MIXED * moved, ROUND * abs(start)):
        return []
    cause = tr(
        "what one half of the rows brings to the loss that it gives changes by {:.2g} of itself with the other half", gap / moved
    )
    return [Finding("loss", made_in(subject, at), cause, APART, {"largest change": gap})]


STRONG = 3.0  # how far numbers are moved whose rows a loss must keep apart
MIXED = 0.01  # of what rows bring to a loss


def beside_each_other(shape: tuple[int, ...], rows: int) -> bool:
    """Whether it has a number of each two rows, as in a contrastive loss; also of two views of each."""
    return len(shape) == 2 and shape[0] == shape[1] and shape[0] % rows == 0


def made_in(subject: Subject, at: int) -> str:
    """The module whose own code made a loss."""
    calls = [call for call in subject.reference.calls if any(y.ndim == 0 for y in call.outputs)]
    return max(calls, key=lambda call: call.path.count(".") + bool(call.path)).path if calls else ""
