import re
from dataclasses import replace

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Loss, Step
from badak.inspect.doctor.parts import filler
from badak.inspect.doctor.source import own_text
from badak.tensor import Tensor

SHARE = 0.05  # of the labels


class PaddingCounted(Diagnosis):
    """What fills texts up is asked for as if it were text: the model learns to write padding, and its loss flatters."""

    code = "BADAK-231"
    title = "padding is counted as labels"

    def look(self, visit: Visit) -> Findings:
        yield from self.marks(visit)
        yield from self.reached(visit)
        yield from self.asked(visit)
        for place in dict.fromkeys(loss.place for step in visit.steps for loss in step.trained):
            pairs = [(step, loss) for step in visit.rounds for loss in _stacked(step, place)]
            every = [found for step, loss in pairs if (found := _counted(step, loss)) is not None]
            if len(every) < 3 or len(every) < 0.8 * len(pairs) or len({pad for pad, _, _ in every}) > 1:
                continue
            pad, count, total = every[0][0], sum(n for _, n, _ in every), sum(n for _, _, n in every)
            yield self.found(
                place,
                tr("{:,} of {:,} labels ({:.0%}) are {}, the id that fills the texts up, and the loss "
                   "counts them", count, total, count / total, pad),
                tr("ignore_index={} in the loss; or -100 in the place of these labels", pad),
                pad=pad, labels=count, share=count / total,
            )  # fmt: skip

    def asked(self, visit: Visit) -> Findings:
        """Most labels are asked for where the model reads padding: words are hidden by the id that fills texts up."""
        found = []
        for step in visit.rounds:
            texts = [each for each in step.lookups if getattr(each.module, "padding_idx", None) is not None]
            losses = [each for each in step.trained if each.target is not None]
            for loss, text in zip(losses, texts) if len(losses) == len(texts) else ():
                asked = loss.target.ravel() != loss.ignored  # type: ignore[union-attr]
                if asked.size == text.ids.size and asked.any() and not asked.all():
                    found.append((loss.place, float((text.ids.ravel()[asked] == text.module.padding_idx).mean())))  # type: ignore[union-attr]
        if len(found) >= 5 and min(share for _, share in found) > 0.5:
            yield self.found(
                found[0][0],
                tr("{:.0%} of the labels are asked for where the model reads padding, of which it is told nothing", found[0][1]),
                tr("another id in the place of what is hidden than that which fills texts up"),
                share=found[0][1],
            )

    def reached(self, visit: Visit) -> Findings:
        """A model is told of padding, and what it computes there gets a gradient, of a loss that no operation is named for."""
        several = [step.padded for step in visit.rounds if step.padded is not None]
        named = any(step.trained for step in visit.rounds)
        if named or len(several) < 3 or min(several) < 0.5:
            return
        for _, args, kwargs in visit.watch.given.example.values():
            if of_padding([x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]):
                yield self.found(
                    next((back.place for step in visit.steps for back in step.backs), ""),
                    tr("{:.0%} of the places of padding get a gradient, though the model is told which: the loss counts them",
                       sum(several) / len(several)),
                    tr("leave padding out of each sum over places that the loss is made of, as the mask says"),
                    share=min(several),
                )  # fmt: skip
                return

    def marks(self, visit: Visit) -> Findings:
        """A number that says that there is none, far from all labels, is asked for as if it were one."""
        losses = [loss for step in visit.rounds for loss in step.trained if loss.missing is not None]
        for place in dict.fromkeys(loss.place for loss in losses) if MISSING.search(own_text()) else ():
            several = [loss.missing for loss in losses if loss.place == place and loss.missing is not None]
            counted, others = (np.array([each[i] for each in several]) for i in (1, 2))
            if len(several) >= 3 and len({mark for mark, _, _ in several}) == 1 and (counted > 0.9).all() and (others > 0.1).all():
                yield self.found(
                    place,
                    tr("labels that are {:g}, which is far from all others and says that there is none, are asked for, too",
                       several[0][0]),
                    tr("loss = (error * known).sum() / known.sum(), known = label != {:g}", several[0][0]),
                )  # fmt: skip
                return


MISSING = re.compile(r"missing|isnan|nan_to_num|fillna|mask|sentinel|no[_ -]?(data|reading|value)|invalid", re.IGNORECASE)


def of_padding(arrays: list[np.ndarray]) -> bool:
    """Whether one of several tensors says where the texts of another one end: by a mask, or by lengths."""
    for ids in (x for x in arrays if x.ndim == 2 and x.dtype.kind in "iu" and min(x.shape) > 1):
        pad = filler(ids, None)
        known = ids != pad
        others = [x for x in arrays if x is not ids and pad is not None]
        if any(np.array_equal(x, y) for x in others for y in (known, ~known, known.sum(axis=1))):
            return True
    return False


def _stacked(step: Step, place: str) -> list[Loss]:
    """The losses of a line; as one, where it makes one for each token of the texts."""
    found = [loss for loss in step.trained if loss.place == place and loss.value is not None]
    targets = [loss.target for loss in found if loss.target is not None]
    if len(found) > 2 and len(targets) == len(found) and len({len(target) for target in targets}) == 1:
        return [replace(found[0], target=np.stack(targets, axis=1))]
    return found


def _counted(step: Step, loss: Loss) -> tuple[int, int, int] | None:
    """(id of padding, labels that are it, all labels), where the labels are of texts and padding counts among them."""
    target = loss.target
    if target is None:
        return None
    if target.ndim == 2:
        pad = filler(target, None)
        if pad is None or pad == loss.ignored or not any(lookup.rows == loss.classes for lookup in step.lookups):
            return None
        count = int((target == pad).sum())
        return (pad, count, target.size) if count > max(len(target), SHARE * target.size) else None
    for lookup in step.lookups:
        ids = lookup.ids
        if ids.ndim == 2 and target.size == ids.size and lookup.rows != loss.classes:
            tag = _tag_of_padding(ids, target, getattr(lookup.module, "padding_idx", None))
            if tag is not None and tag != loss.ignored:
                return tag, int((ids == filler(ids, getattr(lookup.module, "padding_idx", None))).sum()), target.size
        if ids.ndim != 2 or lookup.rows != loss.classes or not 0.5 * ids.size <= target.size <= ids.size:
            continue
        pad = filler(ids, getattr(lookup.module, "padding_idx", None))
        if pad is None or pad == loss.ignored:
            continue
        count = int((target == pad).sum())
        known = pad == getattr(lookup.module, "padding_idx", None)  # else one at the end of each text says that it ends
        if count > max(0 if known else len(ids), SHARE * target.size):
            return pad, count, target.size
    tables = [x.module for x in step.lookups if x.rows == loss.classes]
    if len(loss.laid) == 2 and loss.laid[0] * loss.laid[1] == target.size and tables:
        said = next((each for x in tables if (each := getattr(x, "padding_idx", None)) is not None), None)
        pad = filler(target.reshape(loss.laid), said)
        count = int((target == pad).sum()) if pad is not None and pad != loss.ignored else 0
        if pad is not None and count > max(0 if pad == said else max(loss.laid), SHARE * target.size):
            return pad, count, target.size
    return None


def _tag_of_padding(ids: np.ndarray, target: np.ndarray, known: int | None) -> int | None:
    """The label that all padding has, where it is a twentieth of all and more."""
    pad = filler(ids, known)
    tags = np.unique(target.reshape(ids.shape)[ids == pad]) if pad is not None else np.zeros(0)
    return int(tags[0]) if len(tags) == 1 and (ids == pad).sum() > max(len(ids), SHARE * ids.size) else None
