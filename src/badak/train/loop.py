"""The loop: take a batch, measure the loss, differentiate, update; now and then test, write a row and save.

    for batch in batches:
        loss = measure(model(*inputs), labels)                                                # learner.learn
        optimizer.zero_grad();  loss.backward();  optimizer.step();  schedule.step()

Everything that decides what comes next is in the saved state: weights, moments, schedule, random generators, position in
the data. A run that was interrupted and resumed therefore equals one that was not, bit for bit.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from badak.autograd import no_grad
from badak.errors import ArgumentError
from badak.interrupt import interruptible
from badak.train.config import TrainConfig
from badak.train.experiment import Experiment
from badak.train.learner import Learner, computing
from badak.train.metrics import Row
from badak.train.run import Run
from badak.train.score import Score
from badak.train.stopwatch import Stopwatch


@dataclass(frozen=True)
class Progress:
    """What a progress bar shows after an update; `row` where an evaluation was just made."""

    step: int
    last_step: int
    score: Score  # of the training batches since the last row
    per_second: float  # pictures or tokens
    row: Row | None = None


def train(
    experiment: Experiment, config: TrainConfig, run: Run, report: Callable[[Progress], None] = lambda progress: None
) -> bool:
    """Train `experiment.model` from where `run` stands to the last step; False where Ctrl-C or SIGTERM ended it before."""
    with run.locked(), interruptible() as request:
        learner = Learner(experiment, config)
        run.rewind(learner.restore(run))
        watch = Stopwatch()
        while learner.step < learner.last_step and not request.asked:
            watch.add(update(learner))
            row = None
            if learner.step % learner.eval_every == 0 or learner.step == learner.last_step:
                row = evaluate(learner, watch)
                run.write(row)
                learner.save(run)
            report(Progress(learner.step, learner.last_step, learner.score, watch.per_second, row))
            if row:
                watch.begin_lap()
        if request.asked:
            learner.save(run)
        return learner.step == learner.last_step


def update(learner: Learner) -> Score:
    """One update."""
    learner.experiment.model.train()
    score = learner.update()
    if not math.isfinite(score.loss_sum):
        raise ArgumentError(
            f"training: the loss is {score.loss_sum} at step {learner.step + 1}",
            "a smaller --lr, a longer --warmup-steps or --clip 1",
        )
    learner.schedule.step()
    learner.step += 1
    learner.score += score
    return score


def evaluate(learner: Learner, watch: Stopwatch) -> Row:
    """The row of this step: training since the last row, and the held-out data now."""
    experiment, trained = learner.experiment, learner.score
    per_second = watch.per_second
    experiment.model.eval()
    with no_grad(), computing(learner.config):
        held_out = experiment.evaluate()
    learner.score = Score()
    return Row(
        step=learner.step, epoch=learner.step / learner.updates_per_epoch, lr=learner.schedule.get_last_lr()[0],
        train_loss=trained.loss, train_accuracy=trained.accuracy, valid_loss=held_out.loss,
        valid_accuracy=held_out.accuracy, valid_perplexity=held_out.perplexity,
        per_second=per_second, seconds=watch.seconds,
    )  # fmt: skip
