import re

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.diagnoses.moving import REWARDS
from badak.inspect.doctor.given import shapes_of
from badak.inspect.doctor.source import own_text

DRAWN = re.compile(r"(from_numpy|as_tensor|tensor)\(.*random|\.addcmul|torch\.normal\(")  # by what is not seen
CLASSES = ("cross_entropy", "nll", "picked")


class NotAsNamed(Diagnosis):
    """A line computes something else than what its own names say."""

    code = "BADAK-267"
    title = "a formula that is not what its names say"

    def look(self, visit: Visit) -> Findings:
        found = [*self.told(visit, "formula")] or [*self.least(visit)] or [*self.undrawn(visit)]
        yield from found

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
