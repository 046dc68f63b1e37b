import re

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.moving import REWARDS
from badak.inspect.doctor.facts import Mixed
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.grouping import grouped
from badak.inspect.doctor.source import own_text

DRAWN = re.compile(r"(from_numpy|as_tensor|tensor)\(.*random|\.addcmul|torch\.normal\(")  # by what is not seen
LEAST, ROWS, NEAR = 5, 64, 2e-3  # steps; rows; what a sum of shares may differ by
CLASSES = ("cross_entropy", "nll", "picked")


class NotAsNamed(Diagnosis):
    """A line computes something else than what its own names say."""

    code = "BADAK-267"
    title = "a formula that is not what its names say"
    explains = ("BADAK-210",)

    def look(self, visit: Visit) -> Findings:
        judges = (self.least, self.undrawn, self.by_the_variance, self.shares, self.overlap, self.farthest)
        yield from [*self.told(visit, "formula")] or next((found for each in judges if (found := [*each(visit)])), [])

    def least(self, visit: Visit) -> Findings:
        """The smallest is looked for of what a model gives for classes; or of what it foretells of rewards, and elsewhere the
        largest."""
        every = [each for step in [*visit.steps, visit.watch.open] for each in step.extremes]
        classes = {loss.classes for step in visit.steps for loss in step.trained if loss.kind in CLASSES}
        for module, smallest, count, place in every:
            alike = [other for other, also, _, _ in every if not also and shapes_of(other) == shapes_of(module)]
            learns = visit.learns(module)
            values = bool(alike) and REWARDS.search(own_text()) is not None
            if smallest and learns and (values or count > 2 and classes == {count}):
                yield self.found(
                    place,
                    tr("the smallest of the {} numbers that {} gives is looked for: the least likely, or the worst",
                       count, type(module).__name__),
                    "argmax(...), max(...)",
                )  # fmt: skip
                return

    def undrawn(self, visit: Visit) -> Findings:
        """A normal distribution is kept near to the standard one, and nothing is drawn of it; or one row for all of a batch is."""
        rounds = [step for step in visit.rounds if any(each.pull for each in step.divergences)]
        training = all(call.training for step in rounds for call in step.calls if call.grad)
        if len(rounds) < 4 or not training or DRAWN.search(own_text()):
            return
        shapes = [max((each.shape for each in step.divergences), key=len) for step in rounds]
        if any(len(shape) < 2 or shape[0] < 4 for shape in shapes):
            return
        sizes = [int(np.prod(shape)) for shape in shapes]
        if any(n and n % size == 0 for step, size in zip(rounds, sizes) for n in step.noise):
            return
        one = all(size // shape[0] in step.noise for step, size, shape in zip(rounds, sizes, shapes))
        yield self.found(
            rounds[0].divergences[0].place,
            tr("in {} steps a normal distribution is given for each of {} rows, and one draw is made for all of them", len(rounds),
               shapes[0][0])
            if one else
            tr("in {} steps a normal distribution is given for each row, kept near to the standard one, and nothing is drawn of it",
               len(rounds)),
            "z = mu + std * torch.randn_like(std)",
            steps=len(rounds),
        )  # fmt: skip

    def overlap(self, visit: Visit) -> Findings:
        """How much answers and labels overlap is made smaller; or is made of logits."""
        raw = [step.unbounded[0] for step in visit.rounds if step.unbounded]
        if len(raw) >= LEAST:
            yield self.found(
                raw[0],
                tr("in {} steps what answers and labels have in common is counted of logits, below 0 or above 1, as if they were "
                   "shares", len(raw)),
                "p = torch.sigmoid(logits)",
                steps=len(raw),
            )  # fmt: skip
            return
        by = grouped((place, pull) for step in visit.rounds for place, pull in step.overlaps)
        for place, pulls in by.items():
            if len(pulls) >= LEAST and min(pulls) > 0:
                yield self.found(
                    place,
                    tr("in {} steps the share of what answers and labels have in common, 1 where all is right, is made smaller",
                       len(pulls)),
                    "1 - 2 * (p * y).sum() / (p.sum() + y.sum())",
                    steps=len(pulls),
                )  # fmt: skip
                return

    def farthest(self, visit: Visit) -> Findings:
        """Distances are the logits: what is farthest is the most likely."""
        places = [place for step in visit.rounds for place in step.farthest[:1]]
        if len(places) >= LEAST and len(places) >= len(visit.rounds) - 1:
            yield self.found(
                places[0],
                tr("in {} steps distances, none below 0, are the logits: the farthest class is the most likely", len(places)),
                "F.cross_entropy(-distances, labels)",
                steps=len(places),
            )

    def by_the_variance(self, visit: Visit) -> Findings:
        """Noise is multiplied by exp(l), which is the variance in the divergence."""
        drawn = [each.drawn_at for step in visit.rounds for each in step.divergences if each.pull and each.drawn_at]
        if len(drawn) >= LEAST:
            yield self.found(
                drawn[0],
                tr("in {} steps noise is multiplied by exp(l), which the divergence takes for the variance", len(drawn)),
                "z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)",
                steps=len(drawn),
            )

    def shares(self, visit: Visit) -> Findings:
        """A model is asked for the noise that data was mixed with: of which shares; or for the mixture itself."""
        several = [each for step in visit.rounds for each in step.mixed]
        itself = [each for each in several if each.itself]
        if len(itself) >= LEAST:
            yield self.found(
                itself[0].place,
                tr("in {} steps the model is asked for what it was given, noise and all", len(itself)),
                tr("ask for the noise, or for what it was added to"),
                steps=len(itself),
            )
        if len(itself) < LEAST <= len(several) and (said := unlike(several)):
            yield self.found(several[0].place, *said, rows=sum(len(each.keep) for each in several))


def unlike(several: list[Mixed]) -> tuple[str, str] | None:
    """What is wrong with the shares of data and noise, and how they should be."""
    keep, share = (np.concatenate([each[i] for each in several]) for i in (1, 2))
    if len(keep) < ROWS or min(keep.min(), share.min()) < 0 or max(keep.max(), share.max()) > 1 + NEAR:
        return None
    right = "a.sqrt() * x + (1 - a).sqrt() * noise, a = torch.cumprod(1 - betas, 0)[t]"
    if np.abs(keep**2 + share**2 - 1).max() > NEAR:
        if np.abs(keep + share - 1).max() < NEAR and np.ptp(share) > 0.05:
            return tr("the shares of the data and of the noise that is asked for sum to 1; their squares should"), right
        return None
    if np.median(share) > 0.9999:
        return tr("in half of {} rows nothing is left of the data, all is noise", len(share)), right
    if np.ptp(share) < 0.05:  # one share for all
        return None
    if share.max() ** 2 < 0.5:
        return tr("the noise is {:.0%} of what the model is given at most, and pure noise is what a picture is made of later",
                  float(share.max() ** 2)), right  # fmt: skip
    times = [each.times for each in several if each.times is not None]
    if len(times) == len(several) and np.corrcoef(np.concatenate(times), share)[0, 1] < -0.5:
        return tr("the later the time, the less noise: the noise has the share of the data"), right
    return None
