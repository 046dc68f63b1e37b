import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Attended, Step
from badak.inspect.doctor.losses import SHUT


class MaskInverted(Diagnosis):
    """Each query sees what comes after it and nothing else, or padding and nothing else: True and False are the wrong way round."""

    code = "BADAK-227"
    title = "a mask of the wrong polarity"
    explains = ("BADAK-210", "BADAK-216", "BADAK-217", "BADAK-218", "BADAK-220", "BADAK-233", "BADAK-247")

    def look(self, visit: Visit) -> Findings:
        for words, judge in ((tr("only keys that come after it"), _future), (tr("only padding"), _padding)):
            known = [(step, step.attended or step.pointed) for step in visit.rounds]
            known = [(step, [x for x in several if x.keep is None or x.keep.any()]) for step, several in known]  # else of full rows
            steps = [[seen for seen in several if judge(step, seen)] for step, several in known if several]
            if steps and all(steps[: min(3, visit.watch.broken_step or 3)]):  # with NaN nobody sees anything
                seen, several = steps[0][0], next(several for _, several in known if several)
                yield self.found(
                    seen.place,
                    tr("each query sees {} ({} of {} attentions{})", words, len(steps[0]), len(several),
                       tr(", first in {}", name) if (name := visit.names.of(seen.module)) else ""),
                    tr(
                        "~mask: True = hide in nn.MultiheadAttention, True = attend in scaled_dot_product_attention, 1 = attend in "
                        "transformers"
                    ),
                    attentions=len(steps[0]),
                )  # fmt: skip
                return
        asked = [(loss, step) for step in visit.steps[:SHUT] for loss in step.trained if loss.shut > 0.5]
        if len({step.number for _, step in asked}) >= SHUT:
            yield self.found(
                asked[0][0].place,
                tr("a mask hides what the loss asks for: {:.0%} of the rows have their label at a score of -1,000 and less",
                   min(loss.shut for loss, _ in asked)),
                tr("scores.masked_fill(~allowed, -1e9): True is what is filled"),
                share=min(loss.shut for loss, _ in asked),
            )  # fmt: skip


class MaskAdded(Diagnosis):
    """A mask of zeros and ones as floats is added to the scores, and hides nothing."""

    code = "BADAK-228"
    title = "a mask of zeros and ones is added"
    explains = ("BADAK-247",)

    def look(self, visit: Visit) -> Findings:
        steps = [[seen for seen in step.attended if seen.added] for step in visit.steps if step.attended]
        if len(steps) >= 2 and all(steps[:3]):
            yield self.found(
                steps[0][0].place,
                tr("the mask is float and holds only 0 and 1, so it is added to {} scores and hides nothing", len(steps[0])),
                tr(
                    "a mask of bools: mask == 0 hides the zeros in nn.MultiheadAttention, mask != 0 in scaled_dot_product_attention"
                ),
                attentions=len(steps[0]),
            )


def _future(step: Step, seen: Attended) -> bool:
    keep = seen.keep
    if keep is None or keep.ndim < 2 or not keep.shape[-1] == keep.shape[-2] > 2:
        return False
    flat = keep.reshape(-1, *keep.shape[-2:])
    one = flat[0]
    return bool(np.triu(one, 1).any() and not np.tril(one, -1).any() and not np.tril(flat, -1).any())


def _padding(step: Step, seen: Attended) -> bool:
    """Whether what is seen is one id, the same in all rows, that ends some of them, and what is hidden are others."""
    keep = seen.keep
    if keep is None or keep.ndim < 3:
        return False
    for lookup in step.lookups:
        ids = lookup.ids
        if ids.ndim == 2 and ids.shape[1] != keep.shape[-1] == ids.shape[0]:  # (T, B)
            ids = ids.T
        if ids.ndim != 2 or ids.shape[1] != keep.shape[-1] or keep.shape[0] % len(ids) or keep.shape[0] == 1:
            continue
        rows = keep.reshape(len(ids), -1, keep.shape[-1])
        shown: np.ndarray = np.asarray(rows.any(axis=1))
        if shown.all() or not shown.any():
            continue
        some = shown[shown.any(axis=1)]
        if len(np.unique(ids[shown])) == 1 and len(np.unique(ids[~shown])) > 3 and max(some[:, -1].mean(), some[:, 0].mean()) > 0.5:
            return bool(ids[shown][0] not in ids[~shown])
    return False
