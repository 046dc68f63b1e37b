import math

from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.data import batches
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import Step


class RateVanishes(Diagnosis):
    """The schedule takes the learning rate to 0 while the training goes on: it was given epochs and counts steps, say."""

    code = "BADAK-236"
    title = "the learning rate falls to 0"
    explains = ("BADAK-214",)

    def look(self, visit: Visit) -> Findings:
        yield from self.told(visit, "plateau")
        for steps in visit.by_optimizer():
            rates = [max(step.rates, default=0.0) for step in steps]
            if not any(step.rates for step in steps):  # the program writes its weights itself
                continue
            peak = max(rates)
            still = [step for step, rate in zip(steps, rates) if rate <= 1e-4 * peak and step.number > 1]
            low = [i for i, rate in enumerate(rates) if rate < 0.01 * peak and i > rates.index(peak)]
            if said := _restless(visit):
                place = next(place for step in visit.steps for place, _ in step.scheduled)
                fix = tr("scheduler.step(validation_loss) once for each epoch")
                yield self.found(place, tr("ReduceLROnPlateau is told the loss of each batch: {}", said), fix)
                return
            turned, fallen = _beyond(visit), len(still) >= 3 or len(low) >= 5
            factor = 1.0 if fallen or turned else min(_steady(visit, steps, rates), _stairs(visit, rates))
            if not (fallen or turned or factor < 1.0) or len(rates) < 5 or peak > rates[0] * 1e3 > 0:
                continue
            at = (still or [steps[i] for i in low] or steps)[0]
            place = next((place for step in visit.steps for place, _ in step.scheduled), at.place)
            said = tr("{:.3g} in step {}", rates[-1], len(rates)) if fallen else tr("and rises again: {}", turned)
            said = turned if turned and min(rates) == rates[-1] and not fallen else said
            if factor < 1.0:
                said = tr("times {:.3g} in each step: to a thousandth in {:.0f} steps", factor, math.log(0.001) / math.log(factor))
            yield self.found(
                place,
                tr("the learning rate goes from {:.3g} to {:.1g} within {} steps, {}", peak, min(rates), len(rates), said),
                tr("scheduler.step() once for each epoch; or a schedule that is given epochs * len(loader) steps"),
                first=rates[0], highest=peak, least=min(rates),
            )  # fmt: skip
            return


def _steady(visit: Visit, steps: list[Step], rates: list[float]) -> float:
    """By what factor the rate falls in every step, where that is a tenth or more, or to a hundredth in an epoch of several steps;
    else 1.0."""
    last, whole = rates[-STEADY - 1 :], _first_epoch(visit)
    count = max(map(batches, visit.loaders), default=3 * whole)
    if len(last) <= STEADY or min(last) <= 0.0 or len(given_to(steps)) < 3 or count < 3:
        return 1.0
    factors = [b / a for a, b in zip(last, last[1:])]
    usual = max(factors)  # one for an epoch may come on top of those for its batches
    alike = [each for each in factors if usual - each < 1e-3]
    falls = usual <= 0.9 + 1e-6 or math.isfinite(count) and usual**count <= 0.01
    return usual if falls and len(alike) >= 0.8 * len(factors) else 1.0


def _first_epoch(visit: Visit) -> bool:
    """Whether no loader gave the rows, and hardly one came twice: all steps are of one epoch."""
    rows = visit.watch.rows
    once = sum(map(len, rows.rows.values())) >= 0.9 * rows.seen
    return not visit.loaders and rows.seen >= 3 * STEADY and once


def _stairs(visit: Visit, rates: list[float]) -> float:
    """By what factor a StepLR that is called for each batch takes the rate down in a step, where it goes down several times, and
    to a third and less, in one epoch, or will take it to a hundredth; else 1.0."""
    count = max(map(batches, visit.loaders), default=len(visit.steps) * _first_epoch(visit))
    times = sum(len(step.scheduled) for step in visit.steps)
    falls = [b < a for a, b in zip(rates, rates[1:])]
    for schedule in visit.watch.schedules.values():
        size, gamma = getattr(schedule, "step_size", 0), getattr(schedule, "gamma", 1.0)
        each = type(schedule).__name__ == "StepLR" and 0 < size < count and 0 < gamma < 1 and times >= 0.9 * len(visit.steps)
        least = 1 / 3 if sum(falls) >= 3 else 0.01 if math.isfinite(count) else 0.0
        if each and gamma ** (count / size) <= least:
            return gamma ** (1 / size)
    return 1.0


def given_to(steps: list[Step]) -> set[tuple]:
    """The different batches that models were given in training."""
    return {call.content and tuple(x[1:] for x in call.content) for step in steps for call in step.calls if call.grad}


STEADY, FEW = 12, 8  # steps


def _beyond(visit: Visit) -> str:
    """What a cosine says that has gone on past its end, or will within an epoch; or one of milestones, all of them in the first
    epoch's batches."""
    rows, times = visit.watch.rows, sum(len(step.scheduled) for step in visit.steps)
    different = sum(map(len, rows.rows.values()))  # where rows have come again, how many steps an epoch has is known
    tables = [len(table) * len(visit.steps) / drawn for table, _, drawn in rows.times.values() if drawn]  # steps that take all rows
    whole = max([*map(batches, visit.loaders), *tables], default=0)
    epoch = different * len(visit.steps) / rows.seen if different < 0.9 * rows.seen else whole
    for schedule in visit.watch.schedules.values():
        last = max(getattr(schedule, "milestones", ()) or (0,))
        if type(schedule).__name__ == "MultiStepLR" and times >= 0.9 * len(visit.steps) and 0 < last < min(times, epoch):
            return tr("milestones up to {}, and scheduler.step() is called {:.0f} times in an epoch", last, epoch)
        end, now = getattr(schedule, "T_max", None), getattr(schedule, "last_epoch", 0)
        soon = times >= 0.9 * len(visit.steps) and end is not None and end < epoch < math.inf  # it counts epochs
        if type(schedule).__name__ == "CosineAnnealingLR" and isinstance(end, (int, float)) and (now > end + 1 or soon):
            return tr("T_max={}, and scheduler.step() was called {} times in {} steps", end, now, len(visit.steps))
    return ""


def _restless(visit: Visit) -> str:
    """What a schedule says that waits for a better loss, and is told the loss of each batch."""
    loaders = max(map(batches, visit.loaders), default=0)
    times = [place for step in visit.steps for place, _ in step.scheduled]
    for schedule in visit.watch.schedules.values():
        patience = getattr(schedule, "patience", None)
        if not isinstance(patience, int) or len(times) < 0.9 * len(visit.steps):
            continue
        if loaders >= 3 and patience < loaders:
            return tr("patience={} is {} batches, of {} in an epoch", patience, patience, loaders)
        if not loaders and patience < FEW and len(visit.steps) > FEW and len(given_to(visit.steps)) > FEW:
            return tr("patience={} is {} batches, and no two of {} were alike", patience, patience, len(visit.steps))
    return ""


class ScheduleFirst(Diagnosis):
    """scheduler.step() stands before optimizer.step(): the first value of the schedule is skipped."""

    code = "BADAK-237"
    title = "the schedule moves on before the optimizer's step"

    def look(self, visit: Visit) -> Findings:
        every = [(step, place, between) for step in visit.rounds for place, between in step.scheduled]
        for at in dict.fromkeys(place for _, place, _ in every):
            own = [each for each in every if each[1] == at]
            early = [place for _, place, between in own if between]
            if len(early) < 3 or len(early) < 0.8 * len(own):
                continue
            yield self.found(
                early[0],
                tr("{} times scheduler.step() came between backward() and optimizer.step()", len(early)),
                tr("optimizer.step(), then scheduler.step()"),
                times=len(early),
            )
            return
