import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.augmented import asked
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Loss, Picked, Step

LEAST = 8  # texts of a batch


class LabelsMixed(Diagnosis):
    """Rows and their labels are picked in different orders: each row is asked for the label of another one."""

    code = "BADAK-256"
    title = "labels of other rows"

    def look(self, visit: Visit) -> Findings:
        wrong_ones = [each for each in visit.watch.collated if each is not None]
        if len(wrong_ones) >= 3 and not any(wrong_ones):
            yield self.found(
                next((call.place for step in visit.steps for call in step.calls), ""),
                tr("in {} of {} batches what puts examples together gives rows in one order and their labels in another",
                   len(wrong_ones), len(wrong_ones)),
                tr("sort the examples, not one part of them: batch.sort(key=lambda example: len(example[0]))"),
                steps=len(wrong_ones),
            )  # fmt: skip
            return
        if alone := left_behind(visit):
            yield self.found(
                alone,
                tr("a list is shuffled, and one next to it, with a label or a text for each of its items, is not"),
                tr("shuffle pairs: rows = list(zip(texts, labels)); random.shuffle(rows)"),
            )
            return
        if told := [*self.told(visit, "apart")]:
            yield from told
            return
        yield from self.bags(visit)
        yield from self.mirrored(visit)
        yield from self.beside(visit)
        yield from self.mixture(visit)
        yield from self.rows_moved(visit)
        yield from self.shuffled(visit)
        for steps in visit.by_optimizer():
            yield from self.apart([step for step in steps if step.fresh and step.trained])

    def bags(self, visit: Visit) -> Findings:
        """Of texts that lie one behind the other the last is nearly all: where they begin was not added up."""
        for several in visit.watch.given.trained.values():
            full = [np.count_nonzero(each.values, axis=1) for each in several if each.whole == len(each.values) >= LEAST]
            if len(full) >= 3 and len(full) == len(several) and all(2 * n[-1] > n.sum() and 8 * np.median(n) < n[-1] for n in full):
                yield self.found(
                    next((call.place for step in visit.steps for call in step.calls), ""),
                    tr("the last of {} texts that lie one behind the other has {:.0%} of all words, in {} of {} batches",
                       len(full[0]), full[0][-1] / full[0].sum(), len(full), len(full)),
                    tr("offsets are where texts begin: torch.tensor([0, *lengths[:-1]]).cumsum(0)"),
                    batches=len(full),
                )  # fmt: skip
                return

    def apart(self, steps: list[Step]) -> Findings:
        """The labels of a loss are picked in another order than what is given to the model."""
        for place in sorted({loss.place for step in steps for loss in step.trained}):
            losses = [(step, loss) for step in steps for loss in step.trained if loss.place == place]
            wrong = {step.number for step, loss in losses if mixed(step, loss) or sliced(step, loss)}
            known = {
                step.number
                for step, loss in losses
                if loss.slice_of[0]
                or any(x.memory == loss.labels_at for x in step.picked)
                or made_of([*step.picked, *step.sliced], loss)
            }
            if len(wrong) >= 3 and len(wrong) >= 0.8 * len(known) and len(losses) >= len(steps) - 1:
                yield self.found(
                    place,
                    tr("in {} of {} steps the labels are picked in an order of their own, and nothing that goes "
                       "into the model is picked so", len(wrong), len(known)),
                    tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]"),
                    steps=len(wrong),
                )  # fmt: skip
                return

    def shuffled(self, visit: Visit) -> Findings:
        """Of two sets of as many rows the same ones are picked, in two orders."""
        rounds = [step for step in visit.rounds if step.picked]
        apart = [step for step in rounds if two_orders(step.picked)]
        if len(apart) >= 4 and len(apart) >= len(rounds) - 1:
            yield self.found(
                next((call.place for step in apart for call in step.calls if call.grad), apart[0].place),
                tr("in {} of {} steps the same rows of two tensors are picked, the one in another order than the other", len(apart),
                   len(rounds)),
                tr("one order for both: rows = torch.randperm(n)[:size]; x[rows], y[rows]"),
                steps=len(apart),
            )  # fmt: skip

    def beside(self, visit: Visit) -> Findings:
        """Of two things that a model is given for each row one is in another order."""
        for steps in visit.by_optimizer():
            fresh = [step for step in steps if step.fresh]
            moved = [step for step in fresh if beside_others(step)]
            if len(moved) >= 4 and len(moved) >= len(fresh) - 1:
                yield self.found(
                    next(call.place for call in moved[0].calls if call.grad),
                    tr("in {} of {} steps one of the tensors that the model is given has its rows in another order than the one "
                       "next to it", len(moved), len(fresh)),
                    tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]"),
                    steps=len(moved),
                )  # fmt: skip
                return

    def mirrored(self, visit: Visit) -> Findings:
        """Pictures are mirrored, and what is asked for each of their places is not."""
        seen = [each for step in visit.rounds for each in step.mirrored]
        rows = {loss.rows for step in visit.rounds for loss in step.trained if loss.target is not None}
        fits = [
            kind == "data" and any(n % (shape[-2] * shape[-1]) == 0 and min(shape[-2:]) > 3 for n in rows)
            for kind, _, shape in seen
        ]
        steps = [step for step in visit.rounds if step.mirrored]
        if len(steps) >= 3 and all(fits):
            yield self.found(
                seen[0][1],
                tr("in {} of {} steps pictures are mirrored, and their labels, one for each place, never are", len(steps),
                   len(visit.rounds)),
                tr("mirror both: x.flip(-1), y.flip(-1)"),
                steps=len(steps),
            )  # fmt: skip

    def mixture(self, visit: Visit) -> Findings:
        """Rows are mixed with the same rows in another order, and the labels of one of both alone are asked for."""
        rounds = [step for step in visit.rounds if step.mixes and step.trained]
        if len(rounds) >= 4 and all(labels_of_one(step) for step in rounds):
            yield self.found(
                rounds[0].trained[0].place,
                tr("in {} steps the model is given rows that are mixed with others, and is asked for the labels of one of both "
                   "alone", len(rounds)),
                tr("loss = share * criterion(out, y) + (1 - share) * criterion(out, y[other])"),
                steps=len(rounds),
            )  # fmt: skip

    def mirrored_alone(self, visit: Visit) -> Findings:
        """A dataset mirrors pictures by chance, and what it has for each of their places stays as it was."""
        for loader in visit.loaders:
            every = [each for each in asked(loader.dataset) if each[1] is not None]
            by_axis = [[both for axis, both in every if axis == own] for own in (-1, -2)]
            told = next((each for each in by_axis if len(each) >= 3 and not any(each)), [])
            if told:
                yield self.found(
                    next((call.place for step in visit.steps for call in step.calls), ""),
                    tr("{} gives pictures that are mirrored by chance, and what is asked for each place never is ({} times)",
                       type(loader.dataset).__name__, len(told)),
                    tr("mirror both: x.flip(-1), y.flip(-1)"),
                    times=len(told),
                )  # fmt: skip
                return

    def rows_moved(self, visit: Visit) -> Findings:
        """All rows that the model is given are put in another order, and their labels are not."""
        rounds = [step for step in visit.rounds if step.trained]
        moved = [step for step in rounds if turned_round(step)]
        if len(moved) >= 4 and len(moved) >= len(rounds) - 1:
            yield self.found(
                next(call.place for call in moved[0].calls if call.grad),
                tr("in {} of {} steps all rows that the model is given are in another order, and the labels are not", len(moved),
                   len(rounds)),
                tr("one order for both: rows = torch.randperm(n); x[rows], y[rows]"),
                steps=len(moved),
            )  # fmt: skip


def left_behind(visit: Visit) -> str:
    """The line that shuffles texts or pictures, and never their labels; "" where there is none."""
    shuffled = {id(x) for x, _, _ in visit.watch.given.shuffled}
    for _, others, place in visit.watch.given.shuffled:
        if others and not any(id(other) in shuffled for other in others):
            return place
    return ""


def two_orders(every: list[Picked]) -> bool:
    """Whether the same rows of two sources, 8 and more of more, are picked in two orders, and neither is picked in the other's."""
    some = [each for each in every if 8 <= len(each.rows) < each.of]
    for a in some:
        mates = [b for b in some if b.source != a.source and b.of == a.of and len(b.rows) == len(a.rows)]
        if mates and any(np.array_equal(np.sort(b.rows), np.sort(a.rows)) for b in mates):
            if not any(np.array_equal(b.rows, a.rows) for b in mates):
                return True
    return False


def turned_round(step: Step) -> bool:
    """Whether the only call of a step is given all rows in another order, which nothing else is picked in."""
    calls, losses = [call for call in step.calls if call.grad], step.trained
    if len(calls) != 1 or len(losses) != 1 or not calls[0].content or losses[0].labels is None:
        return False
    memory = calls[0].content[0][0]
    own = next((each for each in step.picked if each.memory == memory and each.whole), None)
    y, n = losses[0].labels, len(own.rows) if own is not None else 0
    if own is None or not len(y) or len(y) % n or len(np.unique(y)) < 2:
        return False
    if len(y) == n and np.array_equal(np.unique(y), np.arange(n)):
        return False
    alike = [each for each in step.picked if each.memory != memory and np.array_equal(each.rows, own.rows)]
    return all(each.ordered for each in alike)  # lengths that were sorted are no labels


def beside_others(step: Step) -> bool:
    """Whether a call is given all rows of one tensor in another order, next to those of another as they were, and no call the first
    as it was."""
    calls = [call for call in step.calls if call.grad]
    memories = {memory for call in calls for memory, *_ in call.content}
    moved = {each.memory: each for each in step.picked if each.whole and len(each.rows) > 3 and each.source not in memories}
    for call in calls:
        for own in (moved[memory] for memory, *_ in call.content if memory in moved):
            mates = [memory for memory, shape, _ in call.content if shape[0] == len(own.rows) and memory != own.memory]
            if mates and not any(each.memory in mates and np.array_equal(each.rows, own.rows) for each in step.picked):
                return True
    return False


def mixed(step: Step, loss: Loss) -> Picked | None:
    """The order of the labels, where nothing else of this step was picked in it; None where all is well, or is not known."""
    picked = next((each for each in step.picked if each.memory == loss.labels_at), None) or made_of(step.picked, loss)
    if any(call.alone and call.content[:1] and call.content[0][0] == loss.labels_at for call in step.calls):
        return None  # it is asked for again of itself, as by an autoencoder, or two that undo each other
    text = any(lookup.ids.size == len(picked.rows) for lookup in step.lookups) if picked is not None else True
    if picked is None or (picked.whole and text and np.ptp(np.diff(picked.rows) % len(picked.rows)) == 0):
        return None
    labels = {each.labels_at for each in step.trained} - {memory for call in step.calls for memory, *_ in call.content}
    others = [each for each in step.picked if each.memory != picked.memory and len(each.rows) == len(picked.rows)]
    others = [each for each in others if each.memory not in labels]
    if any(np.array_equal(rows, picked.rows) for rows in (*(each.rows for each in others), *step.chose)):
        return None
    apart = [each for each in others if each.of == picked.of and each.source != picked.source]  # of one text labels are neighbours
    return picked if picked.whole or apart else None


def made_of(several: list[Picked], loss: Loss) -> Picked | None:
    """What was picked, one number for each row, that labels are made of, as one-hot rows are: the same numbers, the same labels."""
    y = loss.labels
    if y is None or not y.ndim or len(y) < 16 or y.ndim == 1 and y.dtype.kind in "iu":
        return None
    y = y.reshape(len(y), -1)
    for each in several:
        x = each.values
        if x is None or len(x) != len(y) or y.shape[1] > 256:
            continue
        kinds, which = np.unique(x, return_inverse=True)
        if 2 <= len(kinds) <= len(x) // 4 and np.ptp(y, axis=0).any():
            first = np.array([y[which == i][0] for i in range(len(kinds))])
            if np.array_equal(first[which], y) and len(np.unique(first, axis=0)) > 1:
                return each
    return None


def labels_of_one(step: Step) -> bool:
    """Whether labels were picked as the rows that were mixed in, and all losses ask for these, or for what they were picked of."""
    for mixed_in in step.mixes:
        own = [x for x in step.picked if x.source != mixed_in.source and np.array_equal(x.rows, mixed_in.rows)]
        asked = {loss.labels_at for loss in step.trained}
        return any(asked in ({x.memory}, {x.source}) for x in own)
    return False


def sliced(step: Step, loss: Loss) -> Picked | None:
    """The order of the rows that go into the model, where the labels are so many of as many, one after the other."""
    if loss.labels is None or any(each.memory == loss.labels_at for each in step.picked) or made_of(step.picked, loss):
        return None
    cut = made_of(step.sliced, loss)
    of, source = (cut.of, cut.source) if cut is not None else loss.slice_of
    if not of:
        return None
    fits = [each for each in step.picked if each.of <= of and each.source != source and len(each.rows) == loss.among]
    return next((each for each in fits if (np.diff(each.rows) != 1).any()), None)
