from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from badak.doctor.checkup import Finding
from badak.doctor.diagnoses.diagnosis import Diagnosis
from badak.doctor.facts import Loss, Step

if TYPE_CHECKING:
    from badak.doctor.visit import Visit

SHARE = 0.05  # of the labels


class PaddingCounted(Diagnosis):
    """What fills texts up is asked for as if it were text: the model learns to write padding, and its loss flatters."""

    code = "BADAK-231"
    title = "padding is counted as labels"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            pairs = [(step, loss) for step in visit.steps for loss in step.trained if loss.place == place]
            every = [found for step, loss in pairs if (found := _counted(step, loss)) is not None]
            if len(every) < 3 or len(every) < len(pairs) or len({pad for pad, _, _ in every}) > 1:
                continue
            pad, count, total = every[0][0], sum(n for _, n, _ in every), sum(n for _, _, n in every)
            yield self.found(
                place,
                f"{count:,} of {total:,} labels ({count / total:.0%}) are {pad}, the id that fills the texts up, and the loss "
                "counts them",
                f"ignore_index={pad} in the loss; or -100 in the place of these labels",
                pad=pad, labels=count, share=count / total,
            )  # fmt: skip


def _counted(step: Step, loss: Loss) -> tuple[int, int, int] | None:
    """(id of padding, labels that are it, all labels), where the labels are of texts and padding counts among them."""
    target = loss.target
    if target is None:
        return None
    for lookup in step.lookups:
        ids = lookup.ids
        if ids.ndim != 2 or lookup.rows != loss.classes or not 0.5 * ids.size <= target.size <= ids.size:
            continue
        pad = filler(ids, getattr(lookup.module, "padding_idx", None))
        if pad is None or pad == loss.ignored:
            continue
        count = int((target == pad).sum())
        if count > max(len(ids), SHARE * target.size):  # one at the end of each text says that it ends
            return pad, count, target.size
    return None


def filler(ids: np.ndarray, known: int | None) -> int | None:
    """The id that ends texts of other lengths, and stands nowhere else in them; None where there is none."""
    for text in (ids, ids.T):
        last = text[:, -1]
        for pad in np.unique(last):
            here = text == pad
            first = np.where(here.any(axis=1), here.argmax(axis=1), text.shape[1])
            ends = np.arange(text.shape[1]) >= first[:, None]
            padded = int((here.sum(axis=1) >= 2).sum())
            if (here == ends).all() and padded >= 2 and (len(np.unique(first)) >= 3 or pad == known) and first.min() > 0:
                return int(pad)
    return None
