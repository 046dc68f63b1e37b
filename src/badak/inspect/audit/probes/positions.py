"""Positions that do not matter: nothing depends on what stands there."""

from contextlib import suppress

import numpy as np

from badak.inspect.audit.localize import dies
from badak.inspect.audit.probes.gradients import Failed, backward
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject


class Positions:
    """The gradient of the outputs with respect to what the table of tokens gave: exactly zero at a place says that nothing
    depends on it. Padding is left out."""

    name = "positions"

    def ask(self, subject: Subject) -> list[Finding]:
        if not subject.texts:
            raise NotApplicable("the model reads no text", moot=True)
        with suppress(Failed):  # which another probe reports
            backward(subject)
        if not subject.tables:
            raise NotApplicable("no gradient reaches a table of tokens")
        found = []
        for indices, gradient in subject.tables:
            name = subject.text_of(indices)
            if name is None:
                continue
            shape = subject.ids(name).shape
            rows_first = indices.ndim != 2 or indices.shape[0] == shape[0]
            grad = gradient.reshape(*(indices.shape if indices.ndim == 2 else subject.batch.leaves[name].array.shape), -1)
            if indices.ndim != 2:
                rows_first = subject.batch.batch_axis == 0
            dead = ~np.any(grad if rows_first else grad.swapaxes(0, 1), axis=-1)  # (B, T)
            places = subject.places[name]
            if dead.shape[1] not in places.all or len(dead) != shape[0]:
                continue
            first = places.all[dead.shape[1]]
            real = ~subject.padding[name] if name in subject.padding else np.ones(shape, bool)
            real = places.moved(real & answered(subject, name), dead.shape[1])
            lost = np.flatnonzero((dead | ~real).all(axis=0) & real.any(axis=0)) + first
            if len(lost) and not (dead | ~real).all():
                found.append(self.finding(subject, name, lost))
        return found

    def finding(self, subject: Subject, name: str, lost: np.ndarray) -> Finding:
        where = np.zeros(subject.ids(name).shape, bool)
        where[:, lost] = True
        try:
            batch = subject.batch.with_({name: subject.other_tokens(name, where)})
            path = dies(subject.reference.calls, subject.forward(batch).calls)
        except NotApplicable:
            path = ""
        places = ", ".join(map(str, lost[:8].tolist())) + (", ..." if len(lost) > 8 else "")
        return Finding(
            "positions",
            path,
            f"nothing depends on position {places} of {name}: the gradient there is zero in every row",
            "look for a slice, a mask or a product that takes these places out",
            {"positions": len(lost), "of": subject.length(name)},
        )


def answered(subject: Subject, name: str) -> np.ndarray:
    """(B, T) True where a place can matter: in a causal model none does behind the last that has an answer."""
    fine = np.ones(subject.ids(name).shape, bool)
    if not subject.causal or name != subject.kind.text or subject.answer is None:
        return fine
    shape, places = subject.reference.outputs[subject.answer].shape, subject.places[name]
    ends = [min(first + n, places.length) for n, first in places.all.items() if n in shape or n * subject.rows in shape]
    fine[:, max(ends, default=places.length) :] = False
    return fine
