from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Step


class StepBeforeBackward(Diagnosis):
    """optimizer.step() finds no gradient: it comes before backward(), or what backward() made is cleared in between."""

    code = "BADAK-208"
    title = "step() without gradients"
    explains: tuple[str, ...] = ("BADAK-209", "BADAK-212", "BADAK-214", "BADAK-217", "BADAK-225", "BADAK-237")

    def look(self, visit: Visit) -> Findings:
        steps, held = visit.steps, [p for x in visit.watch.optimizers.values() for p in x._parameters()]
        calls = [call for step in steps for call in step.calls if call.grad and visit.holds(call.module, held)]
        nothing = not any(step.gradients for step in steps) and not any(id(p) in visit.watch.reached for p in held)
        if nothing and len(steps) >= 5 and len(calls) >= 5:
            yield self.found(
                steps[0].place,
                tr("in {} steps no parameter of the optimizer had a gradient, though {} "
                   "was called {} times: what backward() is called of does not hang on it", len(steps),
                   type(calls[0].module).__name__, len(calls)),
                tr("call backward() of the loss itself, not of torch.tensor(loss.item()) or of numbers from NumPy"),
                steps=len(steps),
            )  # fmt: skip
            return
        for steps in visit.by_optimizer():
            yield from self._of_one(visit, steps)

    def _of_one(self, visit: Visit, steps: list[Step]) -> Findings:
        empty = [step for step in steps if not step.gradients]
        held = steps[0].optimizer._parameters()
        if not empty or not any(id(p) in visit.watch.reached for p in held):  # none ever had one: it holds others
            return
        others = [x for x in visit.watch.optimizers.values() if x is not steps[0].optimizer]
        if {id(p) for p in held} <= {id(p) for x in others for p in x._parameters()}:  # it should hold what is in none
            self.explains = tuple(code for code in self.explains if code != "BADAK-212")
        backs = sum(len(step.backs) for step in visit.steps)
        if len(empty) == len(steps) and len(steps) > 1 and backs:
            yield self.found(
                empty[0].place,
                tr("in {} of {} steps no parameter had a gradient, though backward() ran {} times: "
                   "the weights never change", len(empty), len(steps), backs),
                tr("zero_grad(), then backward(), then step()"),
                steps=len(empty), backwards=backs,
            )  # fmt: skip
        elif empty == steps[:1] and len(steps) > 2 and not steps[0].backs:
            yield self.found(
                empty[0].place,
                tr("the first step() came before the first backward(): all {} steps use the gradient of the batch before",
                   len(steps)),
                tr("loss.backward() before optimizer.step()"),
                steps=len(steps),
            )  # fmt: skip
