from collections.abc import Iterator
from typing import Any

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Begun
from badak.inspect.doctor.grouping import grouped
from badak.nn import Module
from badak.nn.recurrent import RNNBase
from badak.tensor import Tensor

LEAST, WRITTEN = 3, 8  # calls in a step, and steps; tokens that are written


class NotHandedOn(Diagnosis):
    """A recurrent layer is called for one place after the other, and begins with the same state each time: it remembers nothing."""

    code = "BADAK-264"
    title = "a state is not handed on"

    def look(self, visit: Visit) -> Findings:
        steps = [step.begun for step in visit.rounds if step.begun]
        found = [same for begun in steps if (same := self.same(begun))]
        if len(found) < LEAST or len(found) != len(steps):
            found = [run for step in [*visit.steps, visit.watch.open] for run in again(step.written)]
        if found:
            first = found[0]
            yield self.found(
                first[0].place,
                tr("a recurrent layer is called {} times in a step, for one place each time, and begins with the same state ({}) "
                   "in all of them: what it has read before is lost", len(first),
                   tr("zeros") if not first[0].state else tr("the first one")),
                tr("out, state = rnn(x, state): give the next call the state that this one gave"),
                calls=len(first),
            )  # fmt: skip
        elif told := [*self.told(visit, "state")] or [*self.between_windows(visit)]:
            yield from told
        else:
            yield from self.written(visit)

    def between_windows(self, visit: Visit) -> Findings:
        """Windows that follow each other begin with a state of zeros in the training, and not in a test."""
        by = grouped((each.layer, each) for each in visit.watch.windows)
        for several in by.values():
            learnt = [each for each in several if each.learns]
            follows = sum(b.goes_on(a) for a, b in zip(learnt, learnt[1:]))
            if len(learnt) < WRITTEN or 2 * follows < len(learnt) or any(each.began for each in learnt):
                continue
            if any(each.began for each in several if not each.learns):
                yield self.found(
                    learnt[0].place,
                    tr("{} windows of the training follow each other, and each begins with a state of zeros; those of a test do "
                       "not", len(learnt)),
                    tr("out, state = rnn(x, state): give the next call the state that this one gave"),
                    calls=len(learnt),
                )  # fmt: skip
                return

    def written(self, visit: Visit) -> Findings:
        """A recurrent model writes one token after the other, and is given no state with any."""
        for module, states in visit.watch.given.alone.values():
            layers = [m for m in module.modules() if isinstance(m, RNNBase)]
            keeps = any(isinstance(x, Tensor) for m in module.modules() for x in kept_in(m))
            if layers and not keeps and len(states) >= WRITTEN and not any(states):
                yield self.found(
                    "",
                    tr("{} is given one token {} times, one after the other, and no state: each is read as if it were the first",
                       type(module).__name__, len(states)),
                    tr("out, state = rnn(x, state): give the next call the state that this one gave"),
                    calls=len(states),
                )  # fmt: skip
                return

    @staticmethod
    def same(begun: list[Begun]) -> list[Begun]:
        """The calls of the layer that is called most often, where all of them begin alike; else none."""
        by = grouped((each.layer, each) for each in begun)
        several = max(by.values(), key=len, default=[])
        return several if len(several) >= LEAST and len({each.state for each in several}) == 1 else []


def again(written: list[Begun]) -> list[list[Begun]]:
    """The calls without gradients, one after the other, that begin with the state, not of zeros, that the one before began with."""
    runs: list[list[Begun]] = []
    for each in written:
        if not runs or (runs[-1][-1].layer, runs[-1][-1].state) != (each.layer, each.state):
            runs.append([])
        runs[-1].append(each)
    return [run for run in runs if len(run) >= LEAST and run[0].state]


def kept_in(module: Module) -> Iterator[Any]:
    """What a module keeps next to its parameters and buffers, also in a tuple."""
    for x in vars(module).values():
        yield from x if isinstance(x, tuple) else (x,)
