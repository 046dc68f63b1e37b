from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import tr
from badak.inspect.audit.preserve_state import as_it_was
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Loss, Step
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.tape import tensors
from badak.nn import Module
from badak.tensor import Tensor

LEAST, KINDS = 24, 4  # labels that must agree, and tokens that must be among them
SHOWN = 0.75  # of the places that are asked for: a tenth is meant to be, and a tenth another token
SHARE = 0.2  # of the places, at least, that have a label: questions may have none


def offsets(step: Step, loss: Loss) -> set[int]:
    """The k for which every label is the token k places further on, in one of the texts that were looked up."""
    found: set[int] = set()
    if loss.target is None:
        return found
    for lookup in step.lookups:
        ids = lookup.ids
        if ids.ndim != 2 or ids.shape[0] == 0 or lookup.moved:
            continue
        for text, target, _ in laid_out(ids, loss.target):
            found |= {k for k in (-1, 0, 1, 2) if _agree(text, target, k, loss.ignored)}
    return found


def offsets_of_all(step: Step, place: str) -> list[set[int]]:
    """Those of each loss of a line; of one that is asked for one place after the other, those of all places as one text."""
    losses = [loss for loss in step.trained if loss.place == place]
    read = [(loss.read, loss.target) for loss in losses if loss.read is not None and loss.target is not None]
    if len(losses) == len(read) > 3 and len({(x.size, y.size) for x, y in read}) == 1:  # type: ignore[union-attr]
        text, target = (np.stack([x.reshape(-1) for x in each]).T for each in zip(*read))  # type: ignore[union-attr]
        return [{k for k in (-1, 0, 1, 2) if _agree(text, target, k, losses[0].ignored)}]
    return [offsets(step, loss) for loss in losses]


def laid_out(ids: np.ndarray, target: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
    """(text, labels, whether it was turned), both (B, T), batch first and sequence first."""
    for text, turned in ((ids, False), (ids.T, True)):
        rows = text.shape[0]
        long = target.size // rows
        if rows and target.size == rows * long and text.shape[1] - 2 <= long <= text.shape[1] and long > 2:
            yield text, target.reshape(long, rows).T if turned else target.reshape(rows, long), turned


def _agree(text: np.ndarray, target: np.ndarray, k: int, ignored: int | None) -> bool:
    first, last = max(0, -k), min(target.shape[1], text.shape[1] - k)
    y, x = target[:, first:last], text[:, first + k : last + k]
    known = y != ignored
    labels = y[known]
    return bool(labels.size >= max(LEAST, SHARE * y.size) and (labels == x[known]).all() and len(np.unique(labels)) >= KINDS)


def next_token(text: np.ndarray, target: np.ndarray, ignored: int | None) -> bool:
    """Whether every label is the next token."""
    return _agree(text, target, 1, ignored) and not _agree(text, target, 0, ignored)


def is_causal(step: Step) -> bool | None:
    """Whether an attention hides what follows; None where there is no attention."""
    squares = [
        a.keep for a in step.attended if a.keep is not None and a.keep.ndim >= 2 and a.keep.shape[-1] == a.keep.shape[-2] > 2
    ]
    if not step.attended or any(a.size[0] != a.size[1] for a in step.attended) and not squares:
        return None  # where none of one text to itself is seen
    return any(not np.triu(keep.reshape(-1, *keep.shape[-2:])[0], 1).any() for keep in squares)


def sees_ahead(visit: Visit) -> bool | None:
    """Whether an answer changes with the last token, which comes after it; None where that cannot be asked.

    It is asked once more, in eval mode, with the first texts that it was given, and is left as it was.
    """
    for module, args, kwargs in visit.watch.given.example.values():
        texts = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x._array.dtype.kind in "iu" and x.dim() == 2]
        if not texts or min(texts[0].shape) < 2:
            continue
        first = visit.steps[0]
        asked = [x for x in first.lookups if any({0, 1} & offsets(replace(first, lookups=[x]), loss) for loss in first.trained)]
        texts.sort(key=lambda x: not any(np.array_equal(x._array, each.ids) for each in asked))  # of two, what is asked for
        ids, kinds = texts[0]._array, np.unique(texts[0]._array)
        other = ids.copy()
        other[:, -1] = np.where(ids[:, -1] == kinds[0], kinds[-1], kinds[0])
        with suppress(Exception), as_it_was(module), no_grad():
            module.eval()
            one, two = (answers(module, args, kwargs, texts[0], each) for each in (ids, other))
            inside = {id(each) for each in module.modules()}
            whole = all(id(a.module) in inside for a in first.attended)  # and not a table alone, which the program asks itself
            changes = one is not None and two is not None and not np.array_equal(one[:, :-1], two[:, :-1])
            return changes if changes or one is not None and two is not None and whole else None
    return None


def answers(module: Module, args: tuple, kwargs: dict, text: Tensor, ids: np.ndarray) -> np.ndarray | None:
    """What a model gives of each place of a text, (B, T, ...); None where it gives no such thing."""
    given = [Tensor._of(ids) if x is text else x for x in args]
    y = module(*given, **{key: Tensor._of(ids) if x is text else x for key, x in kwargs.items()})
    B, T = ids.shape
    for x in tensors(y):
        if x._array.dtype.kind == "f" and x.dim() >= 2:
            if x.shape[:2] == (B, T):
                return x._array
            if x.shape[0] == B * T:
                return x._array.reshape(B, T, -1)
    return None


class LabelsNotShifted(Diagnosis):
    """A language model is asked for the token that it was given: it copies, and its loss says nothing."""

    code = "BADAK-204"
    title = "labels are not shifted"

    def look(self, visit: Visit) -> Findings:
        yield from self.nothing_masked(visit)
        for at, several in visit.watch.given.told.items():
            if len(several) >= 3 and all(each == "before" for each in several):
                yield self.found(
                    at,
                    tr("in all {} batches that were looked at each step of the decoder is given the number that it is asked for: "
                       "it need only copy", len(several)),
                    tr("give it the one before: the last of the past at first, then future[:, t - 1]"),
                    batches=len(several),
                )  # fmt: skip
                return
        yield from self.one_by_one(visit)
        steps = [step for step in visit.steps if step.attended or not any(s.attended for s in visit.steps)][:6]
        losses = {loss.place for step in steps for loss in step.trained}
        for place in sorted(losses):
            pairs = [(step, loss) for step in steps for loss in step.trained if loss.place == place]
            every = [offsets(step, loss) for step, loss in pairs]
            causal = [is_causal(step) for step, _ in pairs]
            causal = [None] if None in causal else causal
            if len(every) < 3 or any(1 in found or 0 not in found for found in every):
                continue
            ahead = False if causal[0] else sees_ahead(visit)
            if ahead or ahead is None and causal[0] is False:  # it may be meant to give a text back
                continue
            yield self.found(
                place,
                tr("in {} of {} batches every label is the token that the model is given at the same place: it need only copy",
                   len(every), len(every)),
                tr("ids[:, :-1] goes into the model, ids[:, 1:] are the labels"),
                batches=len(every),
            )  # fmt: skip

    def one_by_one(self, visit: Visit) -> Findings:
        """A decoder that is called for one token after the other, and is fed the very one that it is asked for."""
        losses = [loss for step in visit.steps for loss in step.trained]
        for place in dict.fromkeys(loss.place for loss in losses):
            own = [(loss.read, loss.target, loss.ignored) for loss in losses if loss.place == place and loss.target is not None]
            fed = [(x, y, y != ignored) for x, y, ignored in own if x is not None and y is not None]
            labels = [y[known] for _, y, known in fed]
            if len(fed) < max(12, len(own)) or sum(map(len, labels)) < LEAST or len(np.unique(np.concatenate(labels))) < KINDS:
                continue
            if all((x[known] == y[known]).all() for x, y, known in fed):
                yield self.found(
                    place,
                    tr("in {} of {} calls, one for each place, every label is the token that the model is given: it "
                       "need only copy", len(fed), len(fed)),
                    tr("give it the token before: the start at first, then tgt[:, t - 1], and compare with tgt[:, t]"),
                    calls=len(fed),
                )  # fmt: skip
                return
        for place in dict.fromkeys(loss.place for loss in losses):
            several = [(step, loss) for step in visit.steps[:6] for loss in step.trained if loss.place == place]
            shares = [each for step, loss in several if (each := in_turn(step, loss)) is not None]
            if len(shares) >= 3 and len(shares) == len(several) and all(now > 0.5 and now > before + 0.3 for now, before in shares):
                yield self.found(
                    place,
                    tr("a decoder that is called for one place after the other is given {:.0%} of the very tokens that it is asked "
                       "for: it need only copy", sum(now for now, _ in shares) / len(shares)),
                    tr("give it the token before: the start at first, then tgt[:, t - 1], and compare with tgt[:, t]"),
                    batches=len(shares),
                )  # fmt: skip
                return

    def nothing_masked(self, visit: Visit) -> Findings:
        """Some places of a text have labels, and each is the token that stands there, where the model sees it."""
        steps = [step for step in visit.steps if is_causal(step) is False][:6]
        for place in sorted({loss.place for step in steps for loss in step.trained}):
            counts = [unmasked(step, loss) for step in steps for loss in step.trained if loss.place == place]
            if len(counts) < 3 or not all(counts):
                continue
            yield self.found(
                place,
                tr("in {} of {} batches all labels that count ({}) are tokens that the model is "
                   "given at the same place, none of them masked: it need only copy", len(counts), len(counts),
                   sum(counts)),
                tr("hide what is asked for: torch.where(picked, MASK, ids) goes into the model"),
                labels=sum(counts),
            )  # fmt: skip


def in_turn(step: Step, loss: Loss) -> tuple[float, float] | None:
    """Of tokens that a table was asked for one place after the other, which share are the labels of their places, and those of the
    places before; None where the labels of one loss are no such row of places."""
    if loss.target is None:
        return None
    alone = [x for x in step.lookups if x.ids.size == max(x.ids.shape, default=0) > 1]
    for rows, size in {(x.rows, x.ids.size): None for x in alone}:
        read = np.array([x.ids.ravel() for x in alone if (x.rows, x.ids.size) == (rows, size)])  # (T, B)
        for labels in (loss.target.reshape(size, -1).T, loss.target.reshape(-1, size)) if loss.target.size == read.size else ():
            known = labels != loss.ignored
            if len(read) < 3 or len(np.unique(labels[known])) < KINDS or known.sum() < LEAST:
                continue
            now, before = (read == labels)[known].mean(), (read[1:] == labels[:-1])[known[1:]].mean()
            if max(now, before) > 0.4:
                return float(now), float(before)
    return None


def unmasked(step: Step, loss: Loss) -> int:
    """How many labels there are, where most places have none and each is the token of its place; else 0."""
    if loss.target is None or loss.ignored is None:
        return 0
    known = loss.target != loss.ignored
    labels = loss.target[known]
    if not 8 <= len(labels) <= 0.6 * known.size or len(np.unique(labels)) < KINDS:
        return 0
    fits = (ids for lookup in step.lookups for ids in (lookup.ids.ravel(), lookup.ids.T.ravel()) if ids.size == known.size)
    return len(labels) if any((ids[known] == labels).mean() > SHOWN for ids in fits) else 0


class LabelsTurned(Diagnosis):
    """Labels are laid flat along the other axis than the answers: each is compared with the answer of another place."""

    code = "BADAK-253"
    title = "labels lie in another order than the answers"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "flat")
        yield from self.in_turn(visit)
        for place in sorted({loss.place for step in visit.steps for loss in step.trained}):
            pairs = [(step, loss) for step in visit.steps[:6] for loss in step.trained if loss.place == place]
            pairs = [(step, loss) for step, loss in pairs if len({*loss.axes}) != 1]  # as many texts as places tell nothing
            if len(pairs) >= 3 and all(turned(step, loss) for step, loss in pairs):
                (a, b), *_ = (loss.axes for _, loss in pairs)
                yield self.found(
                    place,
                    tr("answers are laid flat from ({}, {}, classes), labels from ({}, {}), in {} of {} "
                       "batches: each answer is compared with the label of another place", a, b, b, a, len(pairs),
                       len(pairs)),
                    tr("turn both alike: logits.reshape(-1, V) and labels.reshape(-1) of the same two axes"),
                    batches=len(pairs),
                )  # fmt: skip

    def in_turn(self, visit: Visit) -> Findings:
        """Classes lie one after the other in the answers, and in turn in the labels, or the other way round."""
        by = grouped((place, wrong) for step in visit.rounds for place, wrong in step.in_turn)
        for place, several in by.items():
            if len(several) >= 5 and sum(several) >= 0.8 * len(several):
                yield self.found(
                    place,
                    tr("in {} of {} batches the labels count the classes in turn, and the answers are right by far more often if "
                       "they lie one after the other, or the other way round", sum(several), len(several)),
                    tr("lay both flat alike: torch.arange(classes).repeat_interleave(each), or .repeat(each)"),
                    batches=sum(several),
                )  # fmt: skip
                return


def turned(step: Step, loss: Loss) -> bool:
    """Whether labels are tokens of their places, or the next ones, in the other order of axes than the answers alone."""
    if loss.target is None or len(loss.axes) != 2 or loss.axes[0] == loss.axes[1] or loss.target.size != np.prod(loss.axes):
        return False
    texts = [text for lookup in step.lookups if lookup.ids.ndim == 2 for text in (lookup.ids, lookup.ids.T)]

    if loss.axes[::-1] == loss.laid:
        return True

    def known(labels: np.ndarray) -> bool:
        fits = ((x, y) for x in texts for y in (labels, labels.T) if len(x) == len(y) and 0 <= x.shape[1] - y.shape[1] <= 2)
        return any(_agree(x, y, k, loss.ignored) for x, y in fits for k in (0, 1))

    return known(loss.target.reshape(loss.axes[::-1]).T) and not known(loss.target.reshape(loss.axes))


class LabelsShiftedTwice(Diagnosis):
    """The labels are two tokens ahead, or one behind: both the data and the model shift, or in opposite directions."""

    code = "BADAK-205"
    title = "labels are shifted wrongly"

    def look(self, visit: Visit) -> Findings:
        losses = {loss.place for step in visit.steps for loss in step.trained}
        every = {place: [found for step in visit.steps[:6] for found in offsets_of_all(step, place)] for place in sorted(losses)}
        if any(1 in found for several in every.values() for found in several):
            return
        for place, several in every.items():
            for k, words in ((2, tr("two tokens ahead")), (-1, tr("one token behind"))):
                if len(several) >= 3 and all(k in found and 0 not in found for found in several):
                    yield self.found(
                        place,
                        tr("in {} of {} batches the label at each place is the token {}: the next one is never asked for",
                           len(several), len(several), words),
                        tr("shift once: either in the data or in the model"),
                        offset=k,
                    )  # fmt: skip
