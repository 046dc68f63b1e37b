from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.returns import REWARDS
from badak.inspect.doctor.source import own_text

LEAST = 4  # steps


class MovingTarget(Diagnosis):
    """What answers should come to, or what they are weighed by, gets a gradient, too: it comes to meet them."""

    code = "BADAK-265"
    title = "a target that learns, too"

    def look(self, visit: Visit) -> Findings:
        if not REWARDS.search(own_text()):
            return
        learns = visit.trained - visit.copies  # a target of its own that no optimizer moves may have a graph
        for steps in visit.by_optimizer():
            for kind in ("target", "advantage"):
                first = [each for step in steps for each in step.moving[:1]]
                seen = [place for each, place, leaves in first if each == kind and leaves & learns]
                if len(seen) < LEAST or 2 * len(seen) < len(steps):
                    continue
                if kind == "target":
                    yield self.found(
                        seen[0],
                        tr("in {} steps the reward and what a model foretells of the next state, which answers are compared with, "
                           "has a graph: the answers of the next state are pulled towards those of this one", len(seen)),
                        tr("with torch.no_grad(): around the target, or target.detach()"),
                        steps=len(seen),
                    )  # fmt: skip
                else:
                    yield self.found(
                        seen[0],
                        tr("in {} steps the advantage that the logarithm of a probability is multiplied by has a graph: the critic "
                           "learns to make the policy's loss small", len(seen)),
                        tr("advantage.detach() in the loss of the policy"),
                        steps=len(seen),
                    )  # fmt: skip
                return


class WrongSteps(Diagnosis):
    """What a step was worth is made of other steps than those that follow it."""

    code = "BADAK-266"
    title = "rewards of other steps"

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "returns")
