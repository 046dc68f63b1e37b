"""One more place of padding, behind each row or behind the letters of each word, where something reads it to the end."""

from functools import partial

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.compare import change, real
from badak.inspect.audit.localize import twins
from badak.inspect.audit.padding import nested_padding
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.nn.recurrent import RNNBase


def in_total(subject: Subject, masks: dict) -> list[Finding]:
    """A loss that a model gives, as one number, and that changes with one more place of padding in each row."""
    totals = [i for i, y in enumerate(subject.reference.outputs) if y.ndim == 0 and y.dtype.kind == "f" and np.isfinite(y)]
    longer: dict[str, np.ndarray] = {}
    for name, leaf in subject.batch.leaves.items():
        x, mask = leaf.array, masks.get(name, next(iter(masks.values())))
        if x.ndim and mask.shape[1] in x.shape[1:]:
            filled = np.unique(x[mask]) if x.shape == mask.shape else np.zeros(0)
            if len(filled) != 1:
                return []
            longer[name] = np.concatenate([x, np.full((len(x), 1), filled[0], x.dtype)], axis=1)
    if not totals or subject.batch.batch_axis or subject.texts != [*masks] or not longer:
        return []
    try:
        watch = subject.forward(longer)
    except NotApplicable:
        return []
    moved = [change(subject.reference.outputs[i], watch.outputs[i]) for i in totals if i < len(watch.outputs)]
    if max(moved, default=0.0) < LEAST:
        return []
    gives = ((call.path, zip(call.outputs, twin.outputs)) for call, twin in twins(subject.reference, watch))
    differs = (path for path, both in gives if any(a.shape == b.shape and change(a, b) > LEAST for a, b in both))
    cause = tr("with one more place of padding in each row, the loss that it gives changes by {:.2g} of its size", max(moved))
    fix = tr("leave padding out of the loss: ignore_index, or a mask before the mean")
    return [Finding("padding", next(differs, ""), cause, fix, {"largest change": max(moved)})]


LEAST = 2e-4  # of a loss


def letters(subject: Subject, paddings: list[np.ndarray]) -> list[Finding]:
    """One more place of padding behind the letters of each word, which a recurrent layer reads: no word changes."""
    for name, hidden in nested_padding(subject).items():
        x, pads = subject.batch.leaves[name].array, np.unique(subject.batch.leaves[name].array[hidden])
        reading = [
            call for call in subject.reference.calls
            if isinstance(call.module, RNNBase) and call.inputs and call.inputs[0].ndim == 3
            and x.shape[2] in call.inputs[0].shape[:2] and x[..., 0].size in call.inputs[0].shape[:2]
        ]  # fmt: skip
        if not reading or len(pads) != 1 or subject.answer is None:
            continue
        longer = np.concatenate([x, np.full_like(x[..., :1], pads[0])], axis=2)
        try:
            watch = subject.forward({name: longer})
        except NotApplicable as why:
            subject.notes.append(tr("what recurrent layers make of padding behind the letters of {} was not asked: {}", name, why))
            continue
        if subject.clean(watch, partial(real, paddings=paddings, tolerance=1e-3), moves=False):
            continue
        largest = change(subject.reference.outputs[subject.answer], watch.outputs[subject.answer])
        cause = tr("with one more place of padding behind each word of {}, the answer changes by up to {:.2g} of its size",
                   name, largest)  # fmt: skip
        return [Finding("padding", reading[0].path, cause, LETTERS, {"largest change": largest})]
    return []


LETTERS = tr("pack them: pack_padded_sequence(x, lengths, enforce_sorted=False), or take each word's state at its own end")
