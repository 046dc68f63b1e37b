from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.doctor.checkup import Finding
from badak.doctor.diagnoses.diagnosis import Diagnosis

if TYPE_CHECKING:
    from badak.doctor.facts import Step
    from badak.doctor.visit import Visit


class StepBeforeBackward(Diagnosis):
    """optimizer.step() finds no gradient: it comes before backward(), or what backward() made is cleared in between."""

    code = "BADAK-208"
    title = "step() without gradients"
    explains = ("BADAK-209", "BADAK-212", "BADAK-214", "BADAK-217", "BADAK-225")

    def look(self, visit: "Visit") -> Iterator[Finding]:
        for steps in visit.by_optimizer():
            yield from self._of_one(visit, steps)

    def _of_one(self, visit: "Visit", steps: "list[Step]") -> Iterator[Finding]:
        empty = [step for step in steps if not step.gradients]
        held = steps[0].optimizer._parameters()
        if not empty or not any(id(p) in visit.watch.reached for p in held):  # none ever had one: it holds others
            return
        backs = sum(len(step.backs) for step in visit.steps)
        if len(empty) == len(steps) and len(steps) > 1 and backs:
            yield self.found(
                empty[0].place,
                f"in {len(empty)} of {len(steps)} steps no parameter had a gradient, though backward() ran {backs} times: "
                "the weights never change",
                "zero_grad(), then backward(), then step()",
                steps=len(empty), backwards=backs,
            )  # fmt: skip
        elif empty == steps[:1] and len(steps) > 2 and not steps[0].backs:
            yield self.found(
                empty[0].place,
                f"the first step() came before the first backward(): all {len(steps)} steps use the gradient of the batch before",
                "loss.backward() before optimizer.step()",
                steps=len(steps),
            )
