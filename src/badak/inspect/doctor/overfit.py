"""One batch, over and over: can this model, with this loss and this optimizer, learn it from memory?"""

import os
import sys
from contextlib import redirect_stdout
from copy import deepcopy
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np

from badak.compat.torch.run import prepared
from badak.core.errors import ArgumentError, BadakError
from badak.core.i18n import say, tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.losses import square
from badak.inspect.doctor.names import Names, living, name_of, weights_of
from badak.inspect.doctor.program import ran, too_short
from badak.inspect.doctor.recorder import Recorder, Whole
from badak.inspect.doctor.report import Checkup, Finding
from badak.inspect.doctor.tape import Tape, once
from badak.nn import Module
from badak.nn.parameter import is_lazy

LEAST = 20  # steps: fewer do not tell a slow fall from none


@dataclass
class Trial:
    """What came of repeating a step. `losses`: one more than steps."""

    rates: list[float]
    losses: list[float] = field(default_factory=list)
    norms: dict[str, float] = field(default_factory=dict)  # of the first gradients, by module
    still: list[Any] = field(default_factory=list)  # parameters that wanted a gradient and did not move
    cut: bool = False  # they are most of what was to be trained

    @property
    def last(self) -> float:
        """The loss at the end: the mean of the last tenth."""
        return float(np.mean(self.losses[-max(1, len(self.losses) // 10) :]))

    @property
    def stays(self) -> bool:
        """Neither a tenth less than in the beginning, nor still falling; half less where most of the model does not move."""
        first, losses = self.losses[0], np.array(self.losses)
        if not isfinite(losses[-1]) or (self.cut and not self.learned and first - self.last < 0.5 * abs(first)):
            return True
        if first - self.last >= 0.1 * abs(first) or first < 1e-3 and self.learned:
            return False
        one, two, three, four = (float(part.mean()) for part in np.array_split(losses, 4))
        noise = float(np.diff(losses[len(losses) // 2 :]).std())
        steady = one > two > three > four and two - four > max(0.5 * (one - three), 2 * noise)
        return not (steady and first - self.last > 0.005 * abs(first))

    @property
    def learned(self) -> bool:
        return 0 <= self.losses[-1] <= max(0.1 * self.losses[0], 1e-3)


def overfitted(program: str, arguments: list[str], is_module: bool = False, steps: int = 100) -> Checkup:
    """What comes of repeating the first step of a program `steps` times; nothing of the program runs after it.

    Raises FileError where there is no such program, ArgumentError where it ends or fails before its first step, where this step
    cannot be repeated, and for less than 20 steps.
    """
    if steps < LEAST:
        raise ArgumentError(tr("--overfit: {} steps are too few to tell a slow fall from none", steps), "--steps 100")
    started, recorder = perf_counter(), Recorder()
    with redirect_stdout(sys.stderr):
        _run(program, arguments, is_module, recorder)
        names = Names(recorder.called.values(), living(Module))
        first, *others = trials(recorder.tape, names, steps)
    subject = program if is_module else os.path.basename(os.path.abspath(program))
    return report(subject, recorder.tape, names, first, others, perf_counter() - started)


def _run(program: str, arguments: list[str], is_module: bool, recorder: Recorder) -> None:
    """Run the program to its first step, which the recorder then has."""
    begin = prepared(program, arguments, is_module)
    with recorder:
        end, _ = ran(begin, Whole)
    if recorder.why is not None:
        raise recorder.why
    if not recorder.whole:
        raise too_short(program, end, bool(recorder.called))


def trials(tape: Tape, names: Names, steps: int) -> list[Trial]:
    """One with the learning rate of the first step; if the loss stays and a schedule made that rate, one without the schedule."""
    groups = tape.optimizer.param_groups
    rates = [float(group.get("lr", 0.0)) for group in groups]
    without = [float(group.get("initial_lr", tape.optimizer.defaults.get("lr", 0.0))) for group in groups]
    state = deepcopy(tape.optimizer.state_dict())
    kept = [(x, x._array.copy()) for top in names.tops for x in (*weights_of(top), *top.buffers()) if not is_lazy(x)]
    found: list[Trial] = []
    try:
        for each in [rates] if rates == without else [rates, without]:
            for x, before in kept:
                np.copyto(x._array, before)
            tape.optimizer.load_state_dict(state)
            for group, rate in zip(tape.optimizer.param_groups, each, strict=True):
                group["lr"] = rate
            found.append(_trial(tape, names, steps, each))
            if not found[-1].stays:
                break
    except BadakError:
        raise
    except Exception as error:
        raise once(tr("the first step cannot be repeated: {}", name_of(error))) from error
    return found


def _trial(tape: Tape, names: Names, steps: int, rates: list[float]) -> Trial:
    trial = Trial(rates)
    parameters = [p for group in tape.optimizer.param_groups for p in group["params"]]
    others = [p for top in names.tops for p in weights_of(top)]
    before = [p._array.copy() for p in parameters]
    for _ in range(steps):
        for p in (*parameters, *others):
            p._set_grad(None)
        trial.losses.append(tape.forward())
        if not trial.norms:
            trial.norms = _norms(parameters, names)
        if not isfinite(trial.losses[-1]) or 0 <= trial.losses[-1] <= trial.losses[0] / 100:
            break
        tape.step()
    else:
        trial.losses.append(tape.forward(learns=False))
    wanted = [(p, old) for p, old in zip(parameters, before, strict=True) if p.requires_grad]
    trial.still = [p for p, old in wanted if np.array_equal(p._array, old)]
    trial.cut = sum(p.numel() for p in trial.still) > 0.5 * sum(p.numel() for p, _ in wanted)
    return trial


def _norms(parameters: list, names: Names) -> dict[str, float]:
    """The norm of the gradient of each module that has parameters of its own."""
    squares: dict[str, float] = {}
    for p in parameters:
        name = names.of(names.owners.get(id(p))) or "-"
        squares[name] = squares.get(name, 0.0) + (square(p._grad.to_dense()._array) if p._grad is not None else 0.0)
    return {name: value**0.5 for name, value in squares.items()}


def report(subject: str, tape: Tape, names: Names, first: Trial, others: list[Trial], seconds: float) -> Checkup:
    """In words. A finding only where no schedule could be the reason."""
    trial = next((each for each in (first, *others) if not each.stays), first)
    made = Checkup(subject, steps=len(trial.losses) - 1, losses=list(trial.losses), seconds=seconds)
    if names.tops:
        made.model = names.largest
        made.optimizer = f"{type(tape.optimizer).__name__}, lr {trial.rates[0]:.3g}"
    began, end, steps = trial.losses[0], trial.losses[-1], made.steps
    if trial.stays and others:
        made.verdict = say("the loss of one batch stays at {:.4g} after {} steps", trial.last, steps)
        made.why.append(
            tr("the schedule gives lr {:.3g} in the first step, and lr {:.3g} without it helps as little: nothing can be said",
               first.rates[0], others[0].rates[0])
        )  # fmt: skip
    elif trial.stays:
        made.findings.append(NotByHeart().judge(tape, names, trial))
    elif began < 1e-3 and trial.learned:
        made.verdict = say("the loss of the first batch is {:.3g} before any step: there is nothing to learn", began)
    elif trial.learned:
        made.verdict = say("the loss of one batch fell from {:.4g} to {:.3g} in {} steps: it can learn", began, end, steps)
    else:
        made.verdict = say(
            "the loss of one batch fell from {:.4g} to {:.4g} in {} steps: it learns, not yet from memory", began, end, steps
        )
        made.why.append(tr("--steps {} shows how far it goes", steps * 5))
    if not trial.stays:
        if trial is not first:
            made.why.append(tr("with lr {:.3g}; the schedule gives lr {:.3g} in the first step", trial.rates[0], first.rates[0]))
        if trial.still:
            made.why.append(tr("{} parameters did not move: {}", len(trial.still), names.few(trial.still)))
    return made


class NotByHeart(Diagnosis):
    """The loss of one batch does not fall, and no schedule could be the reason."""

    code = "BADAK-229"
    title = "one batch cannot be memorized"

    def judge(self, tape: Tape, names: Names, trial: Trial) -> Finding:
        """By the strongest evidence that there is."""
        first, last, still, rate = trial.losses[0], trial.last, trial.still, trial.rates[0]
        steps, gradients, place = len(trial.losses) - 1, _few(trial.norms), tape.place
        numbers = {"first": first, "last": last, "steps": steps, "still": len(still), "lr": rate}
        if not last <= 2 * abs(first):
            return self.found(
                place,
                tr("the loss goes up to {:.4g} in {} steps (it began at {:.4g}); gradients by module: {}", last, steps, first,
                   gradients),
                tr("a smaller learning rate than {:.3g}", rate),
                **numbers,
            )  # fmt: skip
        if not any(trial.rates):
            return self.found(
                place,
                tr("the loss stays at {:.4g} after {} steps (it began at {:.4g}) with a learning rate of 0", last, steps, first),
                tr("a learning rate above 0: lr=1e-3"),
                **numbers,
            )
        one, two = tape.forward(learns=False), tape.forward(learns=False)
        if abs(one - two) > 1e-6 * abs(one):
            return self.found(
                place,
                tr("the loss stays at {:.4g} after {} steps (it began at {:.4g}); the same batch gave {:.4g} and "
                   "{:.4g} without a step between", last, steps, first, one, two),
                tr("something in the model or the loss draws random numbers at each call: draw them once, outside"),
                **numbers,
            )  # fmt: skip
        if still:
            return self.found(
                place,
                tr("the loss stays at {:.4g} after {} steps (it began at {:.4g}); {} parameters did not "
                   "move ({}); gradients by module: {}", last, steps, first, len(still), names.few(still), gradients),
                tr("look for detach(), .data, no_grad() or a factor of 0 between {} and the loss", names.few(still, 1)),
                **numbers,
            )  # fmt: skip
        return self.found(
            place,
            tr("the loss stays at {:.4g} after {} steps (it began at {:.4g}); gradients by module: {}", last, steps, first,
               gradients),
            tr("a larger learning rate than {:.3g}, or look at what stands between the labels and the loss", rate),
            **numbers,
        )  # fmt: skip


def _few(norms: dict[str, float]) -> str:
    """The three smallest and the three largest."""
    ordered = sorted(norms.items(), key=lambda pair: pair[1])
    few = ordered if len(ordered) <= 6 else [*ordered[:3], *ordered[-3:]]
    return ", ".join(f"{name} {norm:.2g}" for name, norm in few)
