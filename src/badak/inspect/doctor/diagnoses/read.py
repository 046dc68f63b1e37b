import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Loss, Read
from badak.inspect.doctor.grouping import grouped

BINARY = "bce_with_logits", "bce"
CLASSES = "cross_entropy", "nll"
NUMBERS = "mse", "l1", "smooth_l1", "huber"
LEAST, FAR = 64, 6.0  # numbers of a test; spreads of the training's labels, where a later part of a series lies within a few
NARROW = 0.03  # of that spread: a short part of a series has a tenth


class ReadWrongly(Diagnosis):
    """A test compares logits with 0.5, or looks for the largest answer among the rows, not among the classes."""

    code = "BADAK-263"
    title = "a test reads the answers wrongly"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "read")
        yield from self.told(visit, "best")
        for shaped in [x for step in [*visit.steps, visit.watch.open] for x in step.shaped if x.kind == "compared"][:1]:
            n = max(*shaped.a, *shaped.b)
            yield self.found(
                shaped.place,
                tr("{} == {} is ({}, {}): each answer is compared with the labels of all rows", shaped.a, shaped.b, n, n),
                tr("prediction.squeeze(-1) == labels"),
                rows=n,
            )
        losses = [loss for step in visit.steps for loss in step.trained]
        yield from self.other_scale(visit, losses)
        read = [each for step in [*visit.steps, visit.watch.open] for each in step.read]
        binary = [loss for loss in losses if loss.kind in BINARY]
        if binary:
            shapes = [(x.kind in BINARY, np.asarray(x.labels).shape[1:] + (x.classes,) * (x.kind in CLASSES)) for x in losses]
            own, others = ({shape for kind, shape in shapes if kind == which} for which in (True, False))
            fits = [x for x in read if x.limit is not None and (len(binary) == len(losses) or x.shape[1:] in own - others)]
            yield from self.threshold(fits, {loss.made_by for loss in binary})
        laid = all(loss.kind in CLASSES and len(loss.axes) == 2 for loss in losses)
        several = [each for each in read if each.limit is None and len(each.shape) == 3]
        found = {loss.classes for loss in losses}
        if losses and laid and several and all(each.axis == 1 and each.shape[1] not in found for each in several):
            yield self.found(
                several[0].place,
                tr("of answers {} the largest is looked for along axis 1, and the loss has its classes along the last one",
                   several[0].shape),
                "logits.argmax(dim=-1)",
                times=len(several),
            )  # fmt: skip
        classes = {loss.classes for loss in losses}
        if losses and all(loss.kind in CLASSES for loss in losses) and len(classes) == 1:
            largest = [each for each in read if each.limit is None and len(each.shape) == 2 and each.shape[1] in classes]
            right = {each.place for each in largest if each.axis != 0}
            wrong = [each for each in largest if each.axis == 0 and each.shape[0] not in classes and each.place not in right]
            if wrong:
                yield self.found(
                    wrong[0].place,
                    tr("of answers {} the largest is looked for along axis 0, rows, not among {} classes", wrong[0].shape,
                       classes.pop()),
                    "logits.argmax(dim=-1)",
                    times=len(wrong),
                )  # fmt: skip

    def other_scale(self, visit: Visit, losses: list[Loss]) -> Findings:
        """Answers lie where the labels of the training lay, and those that a test compares them with elsewhere."""
        asked = [np.ravel(x.labels) for x in losses if x.kind in NUMBERS and x.labels is not None and x.labels.dtype.kind == "f"]
        learnt = np.concatenate(asked) if asked else np.zeros(0)
        tests = [(place, a, b) for _, place, a, b in visit.watch.met]
        n, wide = sum(a.size for _, a, _ in tests), float(learnt.std()) if learnt.size >= LEAST else 0.0
        if n < LEAST or not wide or any(not np.isfinite(x).all() for _, *both in tests for x in both):
            return
        places = grouped((place, (a, b)) for place, a, b in tests)
        apart = []
        for pairs in places.values():
            answers, labels = (np.concatenate(each) for each in zip(*pairs))
            near = abs(answers.mean() - learnt.mean()) < 2 * wide and answers.std() < 2 * wide
            far = abs(labels.mean() - learnt.mean()) / wide, labels.std() / wide
            apart.append(far if near and (max(far) > FAR or far[1] < NARROW) else None)
        if all(each is not None for each in apart):
            away, times = apart[0]  # type: ignore[misc]
            yield self.found(
                tests[0][0],
                tr("what answers are compared with spreads {:.2g} times as far as the labels that were learnt, and its mean lies "
                   "{:.2g} of their spreads away: the answers were not brought back to that scale", times, away),
                tr("prediction * std + mean, of the labels of the training, before they are compared"),
                times=times, away=away,
            )  # fmt: skip

    def threshold(self, read: list[Read], made: set[str]) -> Findings:
        """Logits are compared with a probability, or probabilities with 0."""
        shares = made == {"sigmoid"} or all(each.shares for each in read)
        if read and shares and all(each.limit == 0 < each.low <= each.high <= 1 for each in read):
            yield self.found(
                read[0].place,
                tr("what the model gives, {:.2g} to {:.2g}, are probabilities, and all are above 0", read[0].low, read[0].high),
                "p > 0.5",
                times=len(read),
            )
        wrong = [each for each in read if each.limit == 0.5 and (each.low < 0 or each.high > 1)]
        if wrong and all(each.limit == 0.5 for each in read):
            yield self.found(
                wrong[0].place,
                tr("what the model gives, {:.2g} to {:.2g}, is compared with 0.5, and is a logit (the logit of 0.5 is 0)",
                   wrong[0].low, wrong[0].high),
                tr("torch.sigmoid(logits) > 0.5, or logits > 0"),
                times=len(wrong),
            )  # fmt: skip
