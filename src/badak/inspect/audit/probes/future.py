"""Future leak: in a causal model nothing before a position may change, not by a bit, when the token there does."""

from functools import partial

import numpy as np

from badak.inspect.audit.answer import given_losses
from badak.inspect.audit.compare import along, before, same
from badak.inspect.audit.graph import Ran, mixers
from badak.inspect.audit.kind import UNKNOWN, part_of
from badak.inspect.audit.localize import Begin, begins, but_totals, judged
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.nn.recurrent import RNNBase


class FutureLeak:
    """Change the token at position t in every row at random; twice, at a place in the middle and at the last one."""

    name = "future"

    def ask(self, subject: Subject) -> list[Finding]:
        if subject.kind.kind == UNKNOWN:
            raise NotApplicable(f'{subject.kind.why}: kind="causal" asks, kind="bidirectional" says that it may')
        if not subject.causal:
            raise NotApplicable(f"the model is no causal one: {subject.kind.kind}", moot=True)
        length = subject.length()
        if length < 2:
            raise NotApplicable("the text has one position")
        places = subject.places[subject.kind.text]
        name = subject.kind.text
        if (loss := same_places(subject)) is not None:
            cause = f"its loss compares the answer at each place with the token of {name} that it reads at that place"
            if given_apart(subject, loss):
                subject.notes.append(f"in this batch {cause}: labels are the ids one further")
            else:
                subject.leaks_future = True
                return [Finding("future", "", cause, SHIFT)]
        middle = length // 2 + int(subject.rng.integers(0, max(1, length // 4)))
        watch = subject.forward(subject.batch.with_({name: changed(subject, name, middle)}))
        clean = partial(before, t=middle, places=places, rows=subject.rows)
        if not subject.clean(watch, clean):
            subject.leaks_future = True
            return [finding(subject, middle, watch.outputs, begins(subject.reference.calls, watch.calls, clean))]
        subject.forgets = forgotten(subject, watch.outputs, middle)
        last = length - 1
        batch = subject.batch.with_({name: changed(subject, name, last)})
        outputs = subject.plain(batch)
        clean = partial(before, t=last, places=places, rows=subject.rows)
        if judged(subject.reference.outputs, outputs, but_totals(clean)) is False:
            subject.leaks_future = True
            begin = begins(subject.reference.calls, subject.forward(batch).calls, clean)
            return [finding(subject, last, outputs, begin)]
        return []


SHIFT = "shift them by one: read ids[:, :-1], and compare with ids[:, 1:]"


def forgotten(subject: Subject, outputs: list[np.ndarray], t: int) -> bool:
    """Whether nothing behind a token changes with it, though the model has what reads one after the other."""
    if subject.answer is None or not (mixers(subject.reference) or any(isinstance(m, RNNBase) for m in subject.model.modules())):
        return False
    a, b = subject.reference.outputs[subject.answer], outputs[subject.answer]
    for shape, axis, first in along(a.shape, subject.places[subject.kind.text], subject.rows):
        late = (slice(None),) * axis + (slice(max(0, t + 1 - first), None),)
        x, y = a.reshape(shape)[late], b.reshape(shape)[late]
        return bool(x.size) and same(x, y) and not same(a, b)
    return False


def given_apart(subject: Subject, loss: Ran) -> bool:
    """Whether labels are a tensor of the batch of their own, next to the text."""
    size = loss.inputs[1].size  # type: ignore[union-attr]
    beside = [leaf.array for name, leaf in subject.batch.leaves.items() if name not in subject.texts]
    return any(x.size == size and np.array_equal(x.ravel(), loss.inputs[1].ravel()) for x in beside)  # type: ignore[union-attr]


def same_places(subject: Subject) -> Ran | None:
    """The loss whose labels are the ids that are read, place for place: what hides the future hides nothing of the answer."""
    axis, text = subject.batch.batch_axis, subject.batch.leaves[subject.kind.text].array
    for look in subject.reference.lookups:
        read = look.indices if axis == 0 else look.indices.T
        if look.indices.ndim != 2 or part_of(look.indices, text, axis) is None or read.shape[1] < 3:
            continue
        for loss in given_losses(subject.reference):
            labels = loss.inputs[1]
            if labels is None or labels.dtype.kind not in "iu" or labels.size != read.size:
                continue
            y = labels.reshape(look.indices.shape)
            y = y if axis == 0 else y.T
            counts = y >= 0
            for padding in subject.padding.values():
                counts &= ~padding if padding.shape == counts.shape else True
            moved = (y[:, :-1] == read[:, 1:])[counts[:, :-1]]
            if counts.mean() > 0.5 and (y == read)[counts].all() and not moved.all():
                return loss
    return None


def changed(subject: Subject, name: str, t: int) -> np.ndarray:
    """The text, or the rows of numbers, with something else at position t."""
    leaf = subject.batch.leaves[name]
    if leaf.integer:
        where = np.zeros(subject.ids(name).shape, bool)
        where[:, t] = True
        return subject.other_tokens(name, where)
    return subject.other_values(name, (slice(None), t) if subject.batch.batch_axis == 0 else (t,))


def finding(subject: Subject, t: int, outputs: list[np.ndarray], begin: Begin) -> Finding:
    """What was measured in the output that changed most."""
    largest, size, early = 0.0, 0.0, set()
    for a, b in zip(subject.reference.outputs, outputs):
        if a.shape != b.shape or a.dtype.kind != "f":
            continue
        for shape, axis, start in list(along(a.shape, subject.places[subject.kind.text], subject.rows))[:1]:
            x, y = (np.moveaxis(z.reshape(shape), axis, 0).reshape(shape[axis], -1).astype("f8") for z in (a, b))
            gap = np.abs(np.nan_to_num(x) - np.nan_to_num(y)).max(axis=1)
            gap = gap[: max(0, t - start)]
            early |= set(np.flatnonzero(gap).tolist())
            if gap.size and gap.max() >= largest:
                largest, size = float(gap.max()), float(np.sqrt(np.mean(np.nan_to_num(x) ** 2)))
    first = min(early, default=0)
    where = f"{first}..{max(early)}" if len(early) > 1 else str(first)
    told = f": at {where}, by up to {largest:.2g} (outputs are of size {size:.2g})" if early else ", seen within the model"
    return Finding(
        "future",
        begin.path,
        f"with another token at position {t}, the output before it changes{told}",
        "hide what follows: is_causal=True, or a mask that is True on and below the diagonal only, tril(ones(T, T))",
        {
            "position changed": t,
            "positions before it that change": len(early),
            "largest change": largest,
            "size of outputs": size,
        },
        begin.between,
    )
