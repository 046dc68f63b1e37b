from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Begun, Step
from badak.inspect.doctor.grouping import grouped

LEAST = 3  # calls in a step, and steps


class NotHandedOn(Diagnosis):
    """A recurrent layer is called for one place after the other, and begins with the same state each time: it remembers nothing."""

    code = "BADAK-264"
    title = "a state is not handed on"

    def look(self, visit: Visit) -> Findings:
        steps = [step for step in visit.rounds if step.begun]
        found = [same for step in steps if (same := self.same(step))]
        if len(found) >= LEAST and len(found) == len(steps):
            first = found[0]
            yield self.found(
                first[0].place,
                tr("a recurrent layer is called {} times in a step, for one place each time, and begins with the same state ({}) "
                   "in all of them: what it has read before is lost", len(first),
                   tr("zeros") if not first[0].state else tr("the first one")),
                tr("out, state = rnn(x, state): give the next call the state that this one gave"),
                calls=len(first),
            )  # fmt: skip
        else:
            yield from self.told(visit, "state")

    @staticmethod
    def same(step: Step) -> list[Begun]:
        """The calls of the layer that is called most often, where all of them begin alike; else none."""
        by = grouped((each.layer, each) for each in step.begun)
        several = max(by.values(), key=len)
        return several if len(several) >= LEAST and len({each.state for each in several}) == 1 else []
