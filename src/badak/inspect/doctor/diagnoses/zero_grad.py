from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit


class MissingZeroGrad(Diagnosis):
    """The gradient of a step is added to those of all steps before, because nobody cleared them in between."""

    code = "BADAK-201"
    title = "gradients are never cleared"
    explains = ("BADAK-213", "BADAK-219")

    def look(self, visit: Visit) -> Findings:
        for steps in visit.by_optimizer():
            left = [step for step in steps[1:] if step.leftover[0] and visit.watch.reached]
            if len(left) < 2 or 2 * len(left) < len(steps) - 1:
                continue
            first, count = left[0], left[0].leftover[0]
            yield self.found(
                first.place,
                tr("in {} of {} steps the gradients of the step before were still there when backward() came: "
                   "those of {} of {} parameters", len(left), len(steps) - 1, count, first.gradients),
                tr("optimizer.zero_grad() before loss.backward()"),
                steps=len(left), parameters=count, norm=left[-1].leftover[1],
            )  # fmt: skip
