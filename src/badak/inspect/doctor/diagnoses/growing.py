import gc

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import HELD, Step
from badak.inspect.doctor.graph import hangs_on
from badak.inspect.doctor.report import Finding

LEAST = 6  # steps


def held_by_us(step: Step) -> bool:
    """Whether something was cut off that hangs on the loss, which is kept to be looked at."""
    root = step.root() if step.root is not None else None
    return root is not None and any(hangs_on(cut.node, root) for cut in step.cuts)


class GraphGrows(Diagnosis):
    """A state, or a sum of losses, is carried from step to step with its graph: each step holds all steps before it."""

    code = "BADAK-232"
    title = "the graph grows from step to step"
    explains = ("BADAK-201",)

    def kept(self, visit: Visit) -> Findings:
        """The losses of all steps are kept as tensors."""
        known = [step.root for step in visit.rounds[: HELD - 1] if step.root is not None and not held_by_us(step)]
        if len(known) == HELD - 1 == visit.watch.held:  # of an epoch, at the end of which they go
            yield self.still_there(visit, HELD - 1, HELD)
            return
        for steps in visit.by_optimizer():
            rounds = [step for step in steps if step.fresh][:-2]
            old = [step.root for step in rounds if step.root is not None and not held_by_us(step)]
            if len(old) < LEAST or sum(1 for root in old if root() is not None) < 0.9 * len(old):
                continue
            gc.collect()
            if (alive := sum(1 for root in old if root() is not None)) < 0.9 * len(old):
                continue
            yield self.still_there(visit, alive, len(old))
            return

    def still_there(self, visit: Visit, alive: int, of: int) -> Finding:
        """What is to be said of losses that are kept."""
        place = visit.steps[0].backs[0].place if visit.steps[0].backs else ""
        cause = tr("the losses of {} of {} steps are still there, each with its graph", alive, of)
        return self.found(place, cause, "losses.append(loss.item())", steps=alive)

    def look(self, visit: Visit) -> Findings:
        rounds = visit.rounds
        walked = [step.backs[0].nodes for step in rounds if len(step.backs) == 1]
        more = {b - a for a, b in zip(walked, walked[1:])}
        if len(walked) >= LEAST and len(walked) == len(rounds) and len(more) == 1 and min(more) > 0:
            yield self.found(
                visit.steps[0].backs[0].place,
                tr("backward() went through {:,} operations in the first step and {:,} in step {}, "
                   "{:,} more each time: it goes back into all steps before", walked[0], walked[-1], len(walked), min(more)),
                tr("state = state.detach() before the next step uses it; a list or tuple: [s.detach() for s in state]"),
                first=walked[0], last=walked[-1],
            )  # fmt: skip
            return
        yield from self.kept(visit) if not any(step.carried for step in rounds) else ()
        carried: dict[str, set[int]] = {}
        for step in visit.steps:
            for place in step.carried:
                carried.setdefault(place, set()).add(step.number)
        for place, numbers in carried.items():
            if len(numbers) >= max(3, len(rounds) // 4):
                yield self.found(
                    place,
                    tr("in {} of {} steps a number is added to one that has the graph of the steps "
                       "before: none of their memory is given back", len(numbers), len(visit.steps)),
                    "total += loss.item()",
                    steps=len(numbers),
                )  # fmt: skip
                return
