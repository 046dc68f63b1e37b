import re

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.last_layer import NUMBERS
from badak.inspect.doctor.diagnoses.moving import REWARDS
from badak.inspect.doctor.facts import Loss, Step
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.names import weights_of
from badak.inspect.doctor.report import Finding
from badak.inspect.doctor.source import own_text

LEAST, FAR = 3, 50.0  # steps; the size of labels that is far from what a model starts with

MANY, EACH = 50, 30  # classes that all come in a training; labels for each of them

UPSIDE = 200  # rows that tell how frequent labels are
LATER = re.compile(
    r"\btasks?\b|continual|increment|rehears|lifelong|curriculum|few.?shot", re.IGNORECASE
)  # classes that come later
PLAYED = ("bce_with_logits", "bce", "mse", "difference")
LAYERS = ("linear", "addmm")


def asks_for_one(loss: Loss) -> bool:
    """Whether labels of a loss should differ: of what a layer answers, or of one item for each row. In a contrast they may be 0."""
    if loss.labels is None or loss.kind not in ("bce_with_logits", "bce", "cross_entropy"):
        return False
    return loss.kind != "cross_entropy" or loss.classes > 1 and (loss.made_by in LAYERS or loss.rows == loss.classes > 2)


def same_rows_twice(step: Step) -> bool:
    """Whether all that a model was given in a step is the same, twice."""
    given = grouped((id(call.module), call.content[0][2] if call.content else 0) for call in step.calls if call.grad)
    return any(len(each) > 1 and len({*each}) == 1 and each[0] for each in given.values())


class OddLabels(Diagnosis):
    """Labels, or the weights of classes, that a loss cannot have been meant for."""

    code = "BADAK-260"
    title = "labels that do not fit the loss"

    def look(self, visit: Visit) -> Findings:
        losses = [loss for step in visit.steps for loss in step.trained]
        tables = {lookup.rows for step in visit.steps for lookup in step.lookups}  # of words, of which some are never asked for
        yield from self.half_of_the_classes([loss for loss in losses if loss.classes not in tables])
        held = {id(p) for step in visit.steps for p in step.optimizer._parameters()}
        calls = [call for step in visit.steps for call in step.calls if call.grad]
        models = {id(call.module) for call in calls if any(id(p) in held for p in weights_of(call.module))} or {0}
        yield from self.blank(losses)
        yield from self.asked_one(losses)
        yield from self.with_itself(visit)
        yield from self.of_others(visit)
        yield from self.zeros(visit)
        if told := [*self.told(visit, "favoured")]:
            yield from told
            return
        yield from self.both(visit)
        yield from self.opposite(visit)
        asked = [loss for loss in losses if asks_for_one(loss)]
        alike = [found for place in dict.fromkeys(loss.place for loss in asked) if (found := self.one_label(asked, place))]
        labels = {found.numbers["label"] for found in alike}
        if len(models) == 1 and len(labels) == 1:  # a generator's are all ones; of two domains each line has its own
            yield alike[0]
            return
        if len(models) > 1 and (found := self.two_alike(visit) or self.played(losses)):
            yield found
            return
        for place, kind in dict.fromkeys((loss.place, loss.kind) for loss in losses):
            own = [loss for loss in losses if loss.place == place and loss.kind == kind and loss.labels is not None]
            if len(own) >= LEAST:
                for judge in (self.not_one, self.favoured, self.far_off, self.one_row):
                    if found := judge(place, own):
                        yield found
                        return

    def blank(self, losses: list[Loss]) -> Findings:
        """The blank of ctc_loss is among the labels."""
        own = [loss for loss in losses if loss.kind == "ctc_loss"]
        if len(own) >= LEAST and all(loss.blanks for loss in own):
            yield self.found(
                own[0].place,
                tr(
                    "{:,} labels of {} batches are the blank of ctc_loss, which is none", sum(loss.blanks for loss in own), len(own)
                ),
                tr("blank=0, and labels from 1 on; target_lengths without what fills the labels up"),
                labels=sum(loss.blanks for loss in own),
            )

    def half_of_the_classes(self, losses: list[Loss]) -> Findings:
        """A layer answers for twice as many classes as labels are ever asked for, and the others do not come later."""
        if LATER.search(own_text()):
            return
        for place in dict.fromkeys(loss.place for loss in losses):
            own = [x for x in losses if x.place == place and x.kind == "cross_entropy" and x.labels is not None]
            classes = {loss.classes for loss in own if loss.made_by in LAYERS}
            if len(own) < LEAST or len(classes) != 1 or not 4 <= (count := classes.pop()) <= MANY:
                continue
            labels = np.concatenate([np.asarray(loss.labels).ravel() for loss in own])
            found = np.unique(labels[labels >= 0])
            if labels.size >= EACH * count and 1 < len(found) <= count / 2:
                yield self.found(
                    place,
                    tr("{} of {} classes are asked for in {:,} labels, and no other ever is", len(found), count, labels.size),
                    tr("look at how labels are numbered; or a last layer with as many outputs as there are classes"),
                    classes=count, found=len(found),
                )  # fmt: skip
                return

    def asked_one(self, losses: list[Loss]) -> Findings:
        """A mask leaves labels that are all one number, and takes away all others."""
        for place in dict.fromkeys(loss.place for loss in losses):
            known = [loss.asked_one for loss in losses if loss.place == place and loss.asked_one is not None]
            if len(known) >= LEAST and len({*known}) == 1:
                yield self.found(
                    place,
                    tr("all labels that the loss asks for are {:g}, and those that are other numbers get no gradient", known[0]),
                    tr("look at the mask that the errors are multiplied by: its ones and zeros are exchanged"),
                    label=known[0],
                )  # fmt: skip
                return

    def zeros(self, visit: Visit) -> Findings:
        """What a loss is made of is multiplied by 0, in all rows of all steps: a label, or a mask, that is always the same."""
        by = grouped(((place, i), zero) for step in visit.rounds for i, (place, zero) in enumerate(step.zeroed))
        for (place, _), several in by.items() if not REWARDS.search(own_text()) else ():
            if len(several) >= 8 and len(several) >= len(visit.rounds) - 1 and all(several):
                yield self.found(
                    place,
                    tr("what is multiplied here is multiplied by 0 in all rows, {} times: labels, or a mask, that are all alike",
                       len(several)),
                    tr("look at what makes the labels"),
                    times=len(several),
                )  # fmt: skip
                return

    def of_others(self, visit: Visit) -> Findings:
        """A contrast asks each row for one that is no view of it."""
        places = [place for step in visit.rounds for place in step.of_others[:1]]
        if len(places) >= LEAST and 2 * len(places) > len(visit.rounds):
            yield self.found(
                places[0],
                tr("in {} steps the labels of a contrast name rows that are as alike as any, and the other halves are by far the "
                   "most alike", len(places)),
                tr("the view of row i lies at i + N of 2 N rows, and the other way round"),
                steps=len(places),
            )  # fmt: skip

    def with_itself(self, visit: Visit) -> Findings:
        """What each row is compared with, as of a contrast, is also itself, which it is nearest to."""
        steps = [step for step in visit.rounds if step.with_itself]
        if len(steps) >= LEAST and len(steps) >= 0.8 * len(visit.rounds):
            yield self.found(
                steps[0].with_itself[0],
                tr("in {} of {} steps each row is compared with itself, too, and is nearest to that: it is asked for another one "
                   "against itself", len(steps), len(visit.rounds)),
                tr('leave it out: scores.fill_diagonal_(float("-inf"))'),
                steps=len(steps),
            )  # fmt: skip

    def both(self, visit: Visit) -> Findings:
        """where() chooses by a label between twice the same."""
        several = [each for step in visit.rounds for each in step.shaped if each.kind == "both"]
        if len(several) >= 2:
            yield self.found(
                several[0].place,
                tr("the loss takes the same probability for both labels, {} times: it does not depend on them", len(several)),
                tr("torch.where(label == 1, p, 1 - p), or y * p.log() + (1 - y) * (1 - p).log()"),
                times=len(several),
            )

    def opposite(self, visit: Visit) -> Findings:
        """The same answers are asked for ones by one line and for zeros by another, in each step."""
        several = [[step for step in steps if step.trained] for steps in visit.by_optimizer()]
        yield from [found for rounds in several if (found := self.opposed(rounds)) is not None][:1]

    def opposed(self, rounds: list[Step]) -> Finding | None:
        """The same of the steps of one optimizer."""
        found = []
        for step in rounds:
            by = grouped(
                ((loss.size, loss.rows, loss.labels.shape, loss.print), loss)
                for loss in step.trained
                if loss.kind in ("bce", "bce_with_logits") and loss.labels is not None and loss.rows > 3 and loss.size
            )
            several = [*by.values()]
            found += [[loss, loss] for loss in step.trained if loss.halves][:1]
            if same_rows_twice(step):  # what drops at random answers otherwise each time
                several = [[loss for own in several for loss in own]]
            for own in several:
                kinds = {float(loss.labels.flat[0]) for loss in own if np.ptp(loss.labels) == 0}  # type: ignore[union-attr, arg-type]
                if {0.0, 1.0} <= kinds:
                    found.append(own)
        if len(found) < 5 or len(found) < len(rounds) - 1:
            return None
        return self.found(
            found[0][-1].place,
            tr("in {} steps the same answers are asked for ones at {} and for zeros at {}: nothing can be learnt of both",
               len(found), found[0][0].place, found[0][-1].place),
            tr("look at what is the wrong pair: it is made of the right one"),
            steps=len(found),
        )  # fmt: skip

    def one_row(self, place: str, losses: list[Loss]) -> Finding | None:
        """All rows of a batch are asked for the same numbers, and the next batch for others."""
        several = [loss for loss in losses if loss.one_target and not loss.one_answer and np.ptp(loss.labels[0]) > 0]  # type: ignore[index]
        kinds = {loss.labels[0].tobytes() for loss in several}  # type: ignore[index]
        if len(several) < LEAST + 2 or len(several) < len(losses) or 1 < len(kinds) < len(several):
            return None
        return self.found(
            place,
            tr("in all {} steps every row of a batch is asked for the same numbers", len(several)),
            tr("look for a mean over the rows, an expand() or an index that takes one of them for all"),
            steps=len(several),
        )

    def not_one(self, place: str, losses: list[Loss]) -> Finding | None:
        """Probabilities of classes that do not sum to 1: several classes hold at once."""
        sums = [loss.labels.sum(axis=-1) for loss in losses if loss.kind == "cross_entropy_soft" and loss.labels.ndim > 1]  # type: ignore[union-attr]
        if not sums or any(np.abs(each - 1).max() < 0.02 for each in sums):
            return None
        low, high = min(float(each.min()) for each in sums), max(float(each.max()) for each in sums)
        return self.found(
            place,
            tr("cross_entropy is given labels of several classes that sum to {:.2g} to {:.2g} in a row, not to 1", low, high),
            tr("binary_cross_entropy_with_logits, where several classes may hold at once; labels / labels.sum(-1, keepdim=True) "
               "else"),
            low=low, high=high,
        )  # fmt: skip

    def favoured(self, place: str, losses: list[Loss]) -> Finding | None:
        """Weights that are largest for what is most frequent."""
        weights = next((loss.weights for loss in losses if loss.weights is not None), None)
        if weights is None:
            return None
        labels = np.concatenate([loss.labels.ravel() for loss in losses])  # type: ignore[union-attr]
        if losses[0].kind == "bce_with_logits" and weights.size > 1:
            return self.favoured_each(place, losses, weights)
        if losses[0].kind == "bce_with_logits":
            share = float((labels > 0.5).mean())
            wanted = (1 - share) / share if 0 < share < 1 else 1.0
            if weights.size != 1:
                return None
            turned = wanted > 2 and weights.item() < 0.5 or wanted < 1 / 2 and weights.item() > 2
            if not (turned or upside_down(np.array([wanted]), weights, len(labels))):
                return None
            said, fix = (
                tr("pos_weight is {:.2g}, and {:.0%} of the labels are 1", weights.item(), share),
                tr("pos_weight = negatives / positives, about {:.2g}", wanted),
            )
        else:
            counts = np.bincount(labels[(labels >= 0) & (labels < weights.size)].astype(int), minlength=weights.size)
            known = counts > 0
            if known.sum() < 2 or not (weights[known] > 0).all() or counts[known].max() < 3 * counts[known].min():
                return None
            x, y = np.log(counts[known]), np.log(weights[known])
            slope = float(((x - x.mean()) * (y - y.mean())).sum() / np.square(x - x.mean()).sum())
            if slope < 0.4:
                return None
            most, least = weights[counts.argmax()], weights[np.where(known, counts, counts.max() + 1).argmin()]
            said = tr("the most frequent of {} classes has weight {:.2g}, the rarest {:.2g}", weights.size, most, least)
            fix = tr("the rarer, the larger: weight = 1 / counts")
        return self.found(place, tr("the loss is weighted towards what is frequent: {}", said), fix)

    def favoured_each(self, place: str, losses: list[Loss], weights: np.ndarray) -> Finding | None:
        """The same of several labels, each of which has a weight of its own."""
        several = [np.asarray(loss.labels) for loss in losses]
        if any(y.ndim != 2 or y.shape[1] != weights.size for y in several):
            return None
        shares = (np.concatenate(several) > 0.5).mean(axis=0).clip(1e-3, 1 - 1e-3)
        wanted, given = (1 - shares) / shares, weights.reshape(-1)
        wrong = ((wanted > 3) & (given < 0.5)) | ((wanted < 1 / 3) & (given > 2))
        if 2 * wrong.sum() <= len(wrong) and not rises(shares, given) and not upside_down(wanted, given, sum(map(len, several))):
            return None
        wrong = wrong if wrong.any() else shares == shares.max()
        return self.found(
            place,
            tr("the loss is weighted towards what is frequent: pos_weight is {:.2g}, and {:.0%} of the labels are 1",
               given[wrong][0], shares[wrong][0]),
            tr("pos_weight = negatives / positives, about {:.2g}", wanted[wrong][0]),
        )  # fmt: skip

    def two_alike(self, visit: Visit) -> Finding | None:
        """What is real and what is not, two losses of one step, are asked for the same label, as the other player asks."""
        asked, most = {}, 0
        for steps in visit.by_optimizer():
            rounds = [step for step in steps if step.trained]
            losses = [loss for step in rounds for loss in step.trained]
            if len(rounds) < 5 or any(loss.kind not in PLAYED or loss.labels is None for loss in losses):
                return None
            most = max(most, min(len(step.trained) for step in rounds))
            asked[id(steps[0].optimizer)] = {float(each) for loss in losses for each in np.unique(loss.labels)}  # type: ignore[arg-type]
        if len(asked) < 2 or most < 2 or len({frozenset(each) for each in asked.values()}) > 1:
            return None
        labels = next(iter(asked.values()))
        if len(labels) != 1:
            return None
        return self.found(
            next(loss.place for step in visit.steps for loss in step.trained),
            tr("all labels of both players are {:.3g}: nothing tells what is real from what is not", next(iter(labels))),
            tr("ones for what is real, zeros for what is not; the generator asks for ones"),
        )

    def played(self, losses: list[Loss]) -> Finding | None:
        """A critic is asked for one label of what is real and of what another model made, or that model asks for the same."""
        for maker in {id(loss.maker): loss.maker for loss in losses if loss.fake}.values():
            own = [loss for loss in losses if loss.maker is maker and loss.kind in PLAYED and loss.labels is not None]
            if any(np.ptp(loss.labels) for loss in own):  # type: ignore[arg-type]
                continue
            fake, real, led = (
                [float(loss.labels.flat[0]) for loss in own if (loss.fake, loss.led) == kind]  # type: ignore[union-attr]
                for kind in ((True, False), (False, False), (False, True))
            )
            for others, cause in (
                (real, tr("the critic is asked for {:.3g} of what is real, and of what another model made, {} times each")),
                (
                    led,
                    tr("the critic is asked for {:.3g} of what another model made, and that one asks for the same, {} times"),
                ),
            ):
                if min(len(fake), len(real), len(others)) >= LEAST and len({*fake, *others}) == 1:
                    return self.found(
                        next(loss.place for loss in own if loss.fake),
                        cause.format(fake[0], min(len(fake), len(others))),
                        tr("ones for what is real, zeros for what is not; the generator asks for ones"),
                    )
        return None

    def one_label(self, losses: list[Loss], place: str) -> Finding | None:
        """All labels that a line asks for are one."""
        losses = [loss for loss in losses if loss.place == place]
        if len(losses) < 5:
            return None
        labels = np.concatenate([(y := np.asarray(loss.labels))[y != loss.ignored].ravel() for loss in losses])
        if not labels.size:
            return None
        first, count = labels[0], labels.size
        if count < 64 or (labels != first).any():
            return None
        return self.found(
            place,
            tr("all {:,} labels of {} batches are {:.3g}: any answer that is always the same is right", count, len(losses),
               float(first)),
            tr("look at what makes the labels: a comparison, a cast to integers, a column of another name"),
            labels=count, label=float(first),
        )  # fmt: skip

    def far_off(self, place: str, losses: list[Loss]) -> Finding | None:
        """Numbers to be met that lie far outside of what the model gives, then as at first."""
        known = [loss for loss in losses if loss.kind in NUMBERS]
        if len(known) < 8 or known[0].labels.dtype.kind != "f":  # type: ignore[union-attr]
            return None
        labels = np.concatenate([loss.labels.ravel() for loss in known])  # type: ignore[union-attr]
        size = float(np.sqrt(np.square(labels.astype(np.float64)).mean()))
        reached = max(loss.size for loss in known)
        if not np.isfinite(size) or size < FAR or reached > 0.1 * size:
            return None
        return self.found(
            place,
            tr("the labels are of size {:.3g}, and the model's answers of size {:.2g} at most in {} steps: it "
               "learns little more than their mean, slowly", size, reached, len(known)),
            tr("(y - y.mean()) / y.std() of the training data, and back for what is shown"),
            size=size, reached=reached,
        )  # fmt: skip


def upside_down(wanted: np.ndarray, given: np.ndarray, rows: int) -> bool:
    """Whether weights are what they should be, upside down: the ones by the zeros, as near as so many rows can tell."""
    if rows < UPSIDE or (given <= 0).any():
        return False
    far, right = np.abs(np.log(wanted)), np.abs(np.log(given) - np.log(wanted))
    return bool(far.min() > 0.2 and (np.abs(np.log(given) + np.log(wanted)) < 0.5 * right).all() and far.mean() > 0.3)


def rises(shares: np.ndarray, weights: np.ndarray) -> bool:
    """Whether what is more frequent has the larger weight, throughout and by far."""
    if len(shares) < 3 or weights.min() <= 0 or min(shares.max() / shares.min(), weights.max() / weights.min()) < 3:
        return False
    x, y = np.log(shares / (1 - shares)), np.log(weights)
    return bool(np.corrcoef(x, y)[0, 1] > 0.9)
