from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Step
from badak.inspect.doctor.grouping import grouped
from badak.optim import SGD, AdamW


class DecayTooHigh(Diagnosis):
    """Weight decay pulls at the weights harder than the loss: they go to 0 whatever the data says."""

    code = "BADAK-244"
    title = "weight decay outweighs the loss"

    def look(self, visit: Visit) -> Findings:
        for steps in visit.by_optimizer():
            step = next((each for each in steps if each.sizes), None)
            if step is None:
                continue
            for group in step.optimizer.param_groups:
                decay, rate = float(group.get("weight_decay") or 0.0), max(max(each.rates, default=0.0) for each in steps)
                if decay < 0.1:
                    continue
                if isinstance(step.optimizer, AdamW) or group.get("decoupled_weight_decay"):
                    wrong, words = (
                        decay >= 1 and rate * decay >= 5e-3,
                        tr("each step takes {:.1%} of every weight away", rate * decay),
                    )
                else:
                    several = [pull_of(each, group["params"], decay) for each in steps if each.sizes]
                    pull, last = several[0], min(several)
                    moments = decay >= 1 and not isinstance(step.optimizer, SGD)  # what they scale takes no part in it
                    wrong, words = (
                        pull > (0.5 if moments else 5) or last > 1.2 and len(several) > 2,
                        tr("it pulls {:.3g} times as hard as the gradient of the loss", pull),
                    )
                    if not wrong and isinstance(step.optimizer, SGD):
                        wrong, words = rate * decay >= 5e-3, tr("each step takes {:.1%} of every weight away", rate * decay)
                if wrong:
                    yield self.found(steps[0].place, tr("weight_decay={:g}: {}", decay, words), "weight_decay=0.01", decay=decay)
                    return


def pull_of(step: Step, parameters: list[Any], decay: float) -> float:
    """How many times as hard as the loss a decay pulls at weights, in a step: the median."""
    pulls = [decay * s.weight / s.gradient for p in parameters if (s := step.sizes.get(id(p))) and s.gradient]
    return float(np.median(pulls)) if pulls else 0.0


class MadeAnew(Diagnosis):
    """A new optimizer for each step: what it remembers of the steps before, Adam's moments or a momentum, is lost."""

    code = "BADAK-245"
    title = "a new optimizer for each step"

    def look(self, visit: Visit) -> Findings:
        by = grouped((frozenset(id(p) for p in steps[0].optimizer._parameters()), steps) for steps in visit.by_optimizer())
        for held, several in by.items():
            first = several[0][0]
            remembers = not isinstance(first.optimizer, SGD) or any(group.get("momentum") for group in first.optimizer.param_groups)
            if remembers and len(several) >= 5 and all(len(steps) == 1 for steps in several):
                yield self.found(
                    first.place,
                    tr("{} steps were made by {} optimizers, all of the same {} parameters", len(several), len(several), len(held)),
                    tr("make the optimizer once, before the loop"),
                    optimizers=len(several),
                )
                return


class NeverStepped(Diagnosis):
    """Gradients are made for weights whose optimizer never makes a step."""

    code = "BADAK-246"
    title = "an optimizer never makes a step"
    explains = ("BADAK-260",)

    def look(self, visit: Visit) -> Findings:
        moved = {id(p) for x in visit.watch.optimizers.values() for p in x._parameters()}
        backs = [back for step in [*visit.steps, visit.watch.open] for back in step.backs]
        if (len(backs) < 10 and visit.steps) or len(backs) < 3 or visit.error is not None:
            return
        idle: list[Any] = [x for x in visit.built if id(x) not in visit.watch.optimizers]
        for optimizer in idle:
            held = list(optimizer._parameters())
            waiting = [p for p in held if id(p) in visit.watch.reached and id(p) not in moved]
            waiting = [p for p in waiting if p._grad is not None or not visit.steps]  # else the program may clear them itself
            if held and len(waiting) == len(held):
                yield self.found(
                    backs[0].place,
                    tr("backward() ran {} times and made gradients for {} parameters "
                       "({}), whose {} made no step", len(backs), len(held), visit.names.few(held), type(optimizer).__name__),
                    tr("optimizer.step() after each backward(), of each optimizer"),
                    backwards=len(backs),
                )  # fmt: skip
                return
