"""The loop: take a batch, measure the loss, differentiate, update; now and then test, write a row and save.

    for batch in batches:
        loss = measure(model(*inputs), labels)                                                # learner.learn
        optimizer.zero_grad();  loss.backward();  optimizer.step();  schedule.step()

Everything that decides what comes next is in the saved state: weights, moments, schedule, random generators, position in
the data. A run that was interrupted and resumed therefore equals one that was not, bit for bit.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, tr
from badak.core.signals import interruptible
from badak.optim import Optimizer
from badak.training.best import Best
from badak.training.callbacks import Ending, Progress, listening
from badak.training.config import TrainConfig
from badak.training.experiment import Experiment
from badak.training.metrics import Row
from badak.training.run import Run
from badak.training.score import Score
from badak.training.stopwatch import Stopwatch
from badak.training.train_state import TrainState, computing

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Outcome:
    """How a training ended: updates made, the row of each evaluation, and why it ended before its last step, "" where it did not.

    True where it came to its last step. code: the exit code of a command that ends so: 130 after Ctrl-C, 143 after SIGTERM, else 0.
    best: the best evaluation, None where there was none; where it has weights, these are what the model has now.
    """

    step: int
    rows: list[Row] = field(repr=False)
    ended: str = ""
    code: int = 0
    best: Best | None = None

    def __bool__(self) -> bool:
        return not self.ended


def train(
    experiment: Experiment,
    config: TrainConfig,
    run: Run | None,
    callbacks: Callable[[Progress], None] | Iterable[Any] = (),
    optimizer: Optimizer | None = None,
) -> Outcome:
    """Train `experiment.model` from where `run` stands to the last step, or until Ctrl-C, SIGTERM or a callback ends it.

    run: where it is kept; None: nowhere. callbacks: see `training/callbacks.py`. optimizer: another one than `config` names.
    """
    tell, ending = listening(callbacks), Ending()
    with run.locked() if run else nullcontext(), interruptible() as request:
        learner = TrainState(experiment, config, optimizer)
        with learner.ranks.in_turn():
            rows = go_back(learner, run)
        learner.ranks.same("the weights and the data of this training are", learner.identity())
        watch = Stopwatch()
        place = Progress(learner.step, learner.last_step, learner.score, 0.0, experiment.model, None, rows, ending)
        tell("on_begin", place)
        ending.why = ending.why or learner.enough  # of a run that had ended so
        while learner.step < learner.last_step and not learner.ranks.any(request.asked or bool(ending.why)):
            watch.add(update(learner))
            row = None
            if learner.step % learner.eval_every == 0 or learner.step == learner.last_step:
                row = evaluate(learner, watch)
                rows.append(row)
                learner.judge(row)
                if run:
                    run.write(row)
                    learner.save(run)
            place = replace(place, step=learner.step, score=learner.score, per_second=watch.per_second, row=row)
            tell("on_step", place)
            if row:
                with learner.averaged():  # what was evaluated
                    tell("on_evaluation", place)
                ending.why = ending.why or learner.enough
                watch.begin_lap()
        early = learner.step < learner.last_step
        if run and early:
            learner.save(run)
        learner.settle()
        tell("on_end", place)
        ended = (ending.why or INTERRUPTED) if early else ""
        return Outcome(learner.step, rows, ended, 128 + request.signal if ended == INTERRUPTED else 0, learner.best)


def go_back(learner: TrainState, run: Run | None) -> list[Row]:
    """Let `learner` stand where `run` does; the rows so far."""
    if run is None:
        return []
    state = learner.restore(run)
    run.rewind(state)
    return run.rows(state) if state else []


def update(learner: TrainState) -> Score:
    """One update."""
    learner.experiment.model.train()
    score = learner.update()
    if not math.isfinite(score.loss_sum):
        raise ArgumentError(tr("training: the loss is {} at step {}", score.loss_sum, learner.step + 1), learner.experiment.remedy)
    learner.schedule.step()
    learner.step += 1
    learner.score += score
    return score


def evaluate(learner: TrainState, watch: Stopwatch) -> Row:
    """The row of this step: training since the last row, and the held-out data now."""
    experiment, trained = learner.experiment, learner.score
    per_second = watch.per_second
    experiment.model.eval()
    with learner.averaged(), no_grad(), computing(learner.config):
        held_out = experiment.evaluate()
    learner.score = Score()
    return Row(
        step=learner.step, epoch=learner.step / (learner.updates_per_epoch or math.inf), lr=learner.schedule.get_last_lr()[0],
        train_loss=trained.loss, train_accuracy=trained.accuracy, val_loss=held_out.loss,
        val_accuracy=held_out.accuracy, val_perplexity=held_out.perplexity,
        per_second=per_second, seconds=watch.seconds, figures=dict(experiment.figures),
    )  # fmt: skip
