"""Positions that do not matter: nothing depends on what stands there."""

from contextlib import suppress

import numpy as np

from badak.audit.descend import dies
from badak.audit.probes.gradients import Failed, backward
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked


class Positions:
    """The gradient of the outputs with respect to what the table of tokens gave: exactly zero at a place says that nothing
    depends on it. Padding is left out."""

    name = "positions"

    def ask(self, subject: Subject) -> list[Finding]:
        if not subject.texts:
            raise Unasked("the model reads no text")
        with suppress(Failed):  # which another probe reports
            backward(subject)
        if not subject.tables:
            raise Unasked("no gradient reaches a table of tokens")
        found = []
        for indices, gradient in subject.tables:
            name = subject.text_of(indices)
            if name is None:
                continue
            grad = gradient.reshape(*subject.batch.leaves[name].array.shape, -1)
            dead = ~np.any(grad if subject.batch.batch_axis == 0 else grad.swapaxes(0, 1), axis=-1)  # (B, T)
            real = ~subject.padding[name] if name in subject.padding else np.ones_like(dead)
            lost = np.flatnonzero((dead | ~real).all(axis=0) & real.any(axis=0))
            if len(lost) and not (dead | ~real).all():
                found.append(self.finding(subject, name, lost))
        return found

    def finding(self, subject: Subject, name: str, lost: np.ndarray) -> Finding:
        where = np.zeros(subject.ids(name).shape, bool)
        where[:, lost] = True
        try:
            batch = subject.batch.with_({name: subject.other_tokens(name, where)})
            path = dies(subject.reference.calls, subject.forward(batch).calls)
        except Unasked:
            path = ""
        places = ", ".join(map(str, lost[:8].tolist())) + (", ..." if len(lost) > 8 else "")
        return Finding(
            "positions",
            path,
            f"nothing depends on position {places} of {name}: the gradient there is zero in every row",
            "look for a slice, a mask or a product that takes these places out",
            {"positions": len(lost), "of": subject.length(name)},
        )
