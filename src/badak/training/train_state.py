"""All that changes while a model learns, and therefore all that a run has to save."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from badak.autograd import no_grad
from badak.compat.torch.amp import autocast
from badak.compiler import Compiled
from badak.core.errors import ArgumentError, BadakError, StateError, tr
from badak.distributed.optim import ZeroRedundancyOptimizer
from badak.io.checkpoint import Checkpoint
from badak.io.errors import line
from badak.nn import Module
from badak.nn.utils import clip_grad_norm_
from badak.optim import SGD, Adam, AdamW, Optimizer
from badak.optim.lr_scheduler import LambdaLR
from badak.tensor import Tensor, from_numpy
from badak.tensor.dtypes import bfloat16
from badak.tensor.random import get_rng_state, set_rng_state
from badak.training.batches import length_of, unread
from badak.training.best import Best
from badak.training.config import TrainConfig
from badak.training.experiment import Experiment, Measured, score_of
from badak.training.metrics import Row
from badak.training.ranks import Ranks, Sum, drawn_for
from badak.training.run import Run
from badak.training.score import Score

_ADAM = {"step", "exp_avg", "exp_avg_sq"}
MOMENTS = {"adam": _ADAM, "adamw": _ADAM, "sgd": {"momentum_buffer"}}  # what an optimizer keeps of each parameter


class TrainState:
    """Model, optimizer, schedule, position in the data, and what was counted since the last row."""

    def __init__(self, experiment: Experiment, config: TrainConfig, optimizer: Optimizer | None = None) -> None:
        self.experiment, self.config = experiment, config
        self.batches_per_epoch = length_of(experiment.loader) or 0  # 0: a stream, which does not say how long it is
        self.updates_per_epoch = config.updates(self.batches_per_epoch)
        self.last_step = config.last_step(self.batches_per_epoch)
        self.eval_every = config.eval_every or self.updates_per_epoch or self.last_step
        self.ranks = Ranks(together=config.deterministic_reduce)  # without it each has a training of its own
        self.optimizer = optimizer or build_optimizer(experiment.model, config, self.ranks.size)
        self.is_ours = optimizer is None
        self.schedule = LambdaLR(self.optimizer, lambda step: config.rate(step, self.last_step))
        self.step, self.score = 0, Score()
        self.learn, self.add = self._learn, self._add
        if experiment.compiled:  # from the fourth batch of a size on without most of its Python
            self.learn, self.add = Compiled(self._learn, told=False), Compiled(self._add, told=False)
        if config.deterministic_reduce:
            experiment.ranks = self.ranks
            self.slots = self.ranks.slots(config.grad_accum_steps)
            self.sum = Sum(self.ranks, list(experiment.model.parameters()))
        self._batches: Iterator[Callable[[], Any]] = iter(())
        self.weights = {name: p for name, p in experiment.model.named_parameters() if p.requires_grad}
        self.average = {name: p.detach().clone() for name, p in self.weights.items()} if config.ema_decay else {}
        self.best: Best | None = None  # of the evaluations so far,
        self.found: tuple[Any, Any] = ({}, None)  # and what it found: figures and confusion

    def identity(self) -> Iterator[bytes]:
        """What all ranks of a training must have alike."""
        yield self.experiment.fingerprint.encode()
        for name, p in self.weights.items():
            yield name.encode() + p.detach().numpy().tobytes()

    def next_batch(self) -> Any:
        """The batch after the last one, over the ends of epochs."""
        return self._next_unread()()

    def _next_unread(self) -> Callable[[], Any]:
        """A function that reads the next batch."""
        if (read := next(self._batches, None)) is None:
            self._batches = unread(self.experiment.loader)
            read = next(self._batches, None)
        if read is None:  # a loader that goes on where it stood may have been at the end of an epoch
            self._batches = unread(self.experiment.loader)
            read = next(self._batches, None)
        if read is None:
            raise ArgumentError("training: the loader gives no batch", "a loader with at least one batch in each epoch")
        return read

    def next_unread(self) -> Iterator[Callable[[], Any]]:
        """The batches of one update: `grad_accum_steps`, or those that are left of the epoch; as functions that read them."""
        yield self._next_unread()
        yield from (read for _, read in zip(range(self.config.grad_accum_steps - 1), self._batches))

    def update(self) -> Score:
        """One update, and what it counted before it."""
        if self.config.deterministic_reduce:
            return self._shared(list(self.next_unread()))
        asked = [self.experiment.prepare(batch) for batch in [read() for read in self.next_unread()]]
        if len(asked) == 1:
            found: list[Measured] = [self.learn(*asked[0])]
        else:
            counts = [self.experiment.count(labels) for _, labels in asked]
            whole = sum(counts[1:], counts[0]).clamp(min=1)
            self.optimizer.zero_grad(set_to_none=False)  # the same memory in each update: only so can `add` be replayed
            found = [self.add(inputs, labels, count / whole) for (inputs, labels), count in zip(asked, counts)]
            self._step()
        self._follow()
        seen = [self.experiment.seen(inputs) for inputs, _ in asked]
        return sum((score_of(*one, number) for one, number in zip(found, seen)), Score())

    def _shared(self, batches: list[Callable[[], Any]]) -> Score:
        """One update whose batches the ranks share, each of which reads its own; see `ranks.py`."""
        asked = {}
        for slot in self.slots[: max(0, len(batches) - self.slots.start)]:  # the last update of an epoch may have fewer
            with drawn_for(self.config.seed, self.step, slot, "reading"):
                asked[slot] = self.experiment.prepare(batches[slot]())
        own = {slot: self.experiment.count(labels) for slot, (_, labels) in asked.items()}
        whole = from_numpy(self.ranks.table(np.array([count.item() for count in own.values()], np.int64))).sum().clamp(min=1)
        rows = []
        for slot in self.slots:
            if slot in asked:
                inputs, labels = asked[slot]
                self.optimizer.zero_grad(set_to_none=False)
                with drawn_for(self.config.seed, self.step, slot):
                    loss, right, count = self.add(inputs, labels, own[slot] / whole)
                rows.append((loss.item(), -1 if right is None else int(right), int(count), self.experiment.seen(inputs)))
            self.sum.add(empty=slot not in asked)
        self.sum.finish()
        self._step()
        self._follow()
        found = self.ranks.table(np.array(rows, np.float64).reshape(-1, 4)).tolist()
        return sum((Score(mean * n, None if hits < 0 else int(hits), int(n), int(seen)) for mean, hits, n, seen in found), Score())

    def _learn(self, inputs: tuple[Tensor, ...], labels: Tensor) -> Measured:
        """One update; the loss before it, how many labels were right, and of how many."""
        loss, right, count = self._measured(inputs, labels)
        self.optimizer.zero_grad()
        loss.backward()
        self._step()
        return loss.detach(), right, count

    def _add(self, inputs: tuple[Tensor, ...], labels: Tensor, share: Tensor) -> Measured:
        """Add to the gradients what one of several batches has to say: its share of the labels times the gradient of its mean.

        grad = sum_i (n_i / n) grad(mean_i) = grad((1 / n) sum of the losses of all n labels): that of one batch of them all.
        """
        loss, right, count = self._measured(inputs, labels)
        (loss * share).backward()
        return loss.detach(), right, count

    def _measured(self, inputs: tuple[Tensor, ...], labels: Tensor) -> Measured:
        with computing(self.config):
            return self.experiment.measure(self.experiment.model(*inputs), labels, self.config.label_smoothing)

    def _step(self) -> None:
        if self.config.max_grad_norm:
            clip_grad_norm_(self.experiment.model.parameters(), self.config.max_grad_norm)
        self.optimizer.step()

    @no_grad()
    def _follow(self) -> None:
        """Let the average follow the weights: a += (1 - m) (w - a), with a shorter memory (1 + t) / (10 + t) in the beginning."""
        memory = min(self.config.ema_decay, (2 + self.step) / (11 + self.step))
        for name, mean in self.average.items():
            mean.lerp_(self.weights[name], 1 - memory)

    @contextmanager
    def averaged(self) -> Iterator[dict[str, Tensor]]:
        """Within the block the model has the average of its weights, if there is one; gives the weights that are trained."""
        kept = {name: self.weights[name].detach().clone() for name in self.average}
        self._give(self.average)
        try:
            yield kept
        finally:
            self._give(kept)

    def judge(self, row: Row) -> None:
        """Remember the evaluation that was just made, and its weights where they are to be kept, if no earlier one was as good."""
        if self.best is not None and not self.best.is_beaten(row):
            self.best = replace(self.best, since=self.best.since + 1)
            return
        self.best = Best.at(row, self.experiment.setup.metric)
        self.found = (self.experiment.figures, self.experiment.confusion)
        if self.config.keep == "best":
            with self.averaged():
                kept = {name: x.detach().clone() for name, x in self.experiment.kept().items()}
            self.best = replace(self.best, weights=kept)

    @property
    def enough(self) -> str:
        """Why the training is to end early: no better evaluation for `patience` of them; "" where it goes on."""
        if self.best is None or not 0 < self.config.patience <= self.best.since:
            return ""
        return f"no evaluation was better than {self.best} for {self.best.since} evaluations (--patience {self.config.patience})"

    def settle(self) -> None:
        """Leave the model with what it answers with: the best weights, or the average, if there are any. It learns no more."""
        self._give(self.average)
        if self.best is not None and self.best.weights:
            self.experiment.take(self.best.weights)
            self.experiment.figures, self.experiment.confusion = self.found

    @no_grad()
    def _give(self, values: dict[str, Tensor]) -> None:
        for name, value in values.items():
            self.weights[name].copy_(value)

    def save(self, run: Run) -> None:
        """Write everything that decides what comes next."""
        if self.best is not None and self.best.weights:
            self._save(run, self.best.weights, self.experiment.kept(), self.average)
            return
        with self.averaged() as trained:
            self._save(run, self.experiment.kept(), trained)

    def _save(self, run: Run, model: Mapping[str, Tensor], trained: Mapping[str, Tensor], average: Any = None) -> None:
        zero = self.optimizer if isinstance(self.optimizer, ZeroRedundancyOptimizer) else None
        run.save(
            Checkpoint(
                step=self.step,
                model=model,
                trained=dict(trained) or None,
                average=average or None,
                best=None if self.best is None else self.best.saved(),
                optimizer=zero.collected_state_dict() if zero else self.optimizer.state_dict(),
                scheduler=self.schedule.state_dict(),
                generator=get_rng_state(),
                data=self.experiment.loader.state_dict(),
                counters=vars(self.score),
            ),
            self.experiment.fingerprint,
        )

    def restore(self, run: Run) -> Checkpoint | None:
        """Go back to what `save` wrote, if anything was, and give it. Raises StateError where it is not of this experiment."""
        saved = run.load()
        if saved is None:
            return None
        if saved.origin.get("data") != self.experiment.fingerprint:
            cause = tr("{}: the data is not what this run began with", run.folder)
            raise StateError(cause, "bring the old data back, name its place with --data, or start a new run with this one")
        try:
            self._take(saved)
        except Exception as error:  # a sound file can hold any nonsense, and every part answers in its own way
            what = error.cause if isinstance(error, BadakError) else f"{type(error).__name__}: {error}"
            cause = tr("{}: the saved state is not one of this experiment: {}", run.folder, line(" ".join(what.split()), 300))
            raise StateError(cause, "restore the folder from a copy, or start a new run") from error
        return saved

    def _take(self, saved: Checkpoint) -> None:
        made = self._settings()
        self._take_weights(saved)
        self.optimizer.load_state_dict(saved.optimizer)
        self._check_moments(saved.step)
        if self._settings() != made:
            raise StateError(tr("the optimizer was made with {} and has {} now", made, self._settings()))
        self.experiment.loader.load_state_dict(saved.data)
        set_rng_state(saved.generator)
        self.step, self.score = saved.step, Score.of(saved.counters)
        given = saved.data["batches"]
        if (
            self.batches_per_epoch
            and given % self.batches_per_epoch != self.step % self.updates_per_epoch * self.config.grad_accum_steps
        ):
            raise StateError(tr("step {} with {} batches seen in an epoch of {}", self.step, given, self.batches_per_epoch))
        self._follow_schedule(saved.scheduler)

    def _take_weights(self, saved: Checkpoint) -> None:
        """What `save` wrote: the best weights, those that are trained, and their average, where these are three."""
        keeps = self.config.keep == "best" and saved.best is not None
        self.best = None if saved.best is None else Best.of(saved.best, saved.model if keeps else {})
        self.experiment.take(saved.model)
        if not keeps:
            self._take_average(saved.trained)
            return
        if not isinstance(saved.trained, dict) or set(saved.trained) != set(saved.model):
            raise StateError(tr("the weights that are trained are {}, next to the best ones", str(saved.trained)[:80]))
        self.experiment.take(saved.trained)
        if self.average or saved.average is not None:
            self.average = self._expect_trained(saved.average)

    def _take_average(self, trained: Any) -> None:
        """The model's weights are the average, if there is one, and `trained` those that are trained."""
        if not self.average and trained is None:
            return
        self._expect_trained(trained)
        self.average = {name: p.detach().clone() for name, p in self.weights.items()}
        self._give(trained)

    def _expect_trained(self, saved: Any) -> dict[str, Tensor]:
        """A tensor of its shape for each weight that learns. Raises StateError for anything else."""
        shapes = {name: value.shape for name, value in self.average.items()}
        if not isinstance(saved, dict) or {name: getattr(x, "shape", None) for name, x in saved.items()} != shapes:
            raise StateError(tr("the weights that are trained are {}, with ema_decay={}", str(saved)[:80], self.config.ema_decay))
        return saved

    def _check_moments(self, step: int) -> None:
        """What the optimizer keeps of each parameter is there after the first step, and of the parameter's shape."""
        if not self.is_ours:
            return
        names = MOMENTS[self.config.optimizer] if step else set()
        own = self.optimizer.optim if isinstance(self.optimizer, ZeroRedundancyOptimizer) else self.optimizer
        for at, p in enumerate(p for group in own.param_groups for p in group["params"]):
            kept = self.optimizer.state.get(p, {})
            if not isinstance(kept, dict) or set(kept) != names:
                raise StateError(tr("parameter {}: the optimizer keeps {} of it instead of {}", at, str(kept)[:80], sorted(names)))
            for name, value in kept.items():
                number = name == "step"
                if not isinstance(value, Tensor) or value.shape != (() if number else p.shape) or value.dtype != p.dtype:
                    raise StateError(tr("parameter {}: {} is {}, not of shape {}", at, name, str(value)[:80], tuple(p.shape)))
                if not (value.item() == step if number else bool(value.isfinite().all())):
                    raise StateError(tr("parameter {}: {} is {} after {} steps", at, name, str(value)[:80], step))

    def _follow_schedule(self, saved: Any) -> None:
        """Go to the schedule's place at this step; its rate is that of the last step there is now, of a longer run too."""
        rates = [lr * self.config.rate(self.step, self.last_step) for lr in self.schedule.base_lrs]
        place = {"last_epoch": self.step, "_step_count": self.step + 1, "_last_lr": rates}
        expected = {**self.schedule.state_dict(), **place}
        if not isinstance(saved, dict) or {**saved, "_last_lr": place["_last_lr"]} != expected:
            raise StateError(tr("the schedule stands at {} instead of step {}", str(saved)[:80], self.step))
        self.schedule.load_state_dict(expected)
        for group, rate in zip(self.optimizer.param_groups, rates):
            group["lr"] = rate

    def _settings(self) -> list[Any]:
        """What the optimizer was made with; a saved state changes nothing of it."""
        groups = self.optimizer.param_groups
        return [{name: value for name, value in group.items() if name not in ("lr", "params")} for group in groups]


def computing(config: TrainConfig) -> AbstractContextManager:
    """The block in which a model computes as `config` says: forward and loss; a backward follows its forward by itself."""
    return autocast("cpu", bfloat16) if config.precision == "bf16" else nullcontext()


def build_optimizer(model: Module, config: TrainConfig, ranks: int = 1) -> Optimizer:
    """The optimizer that `config` names, its memory split over the ranks; biases and norms are not shrunk, only matrices are."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]
    rule = {"adam": Adam, "adamw": AdamW, "sgd": SGD}[config.optimizer]
    settings: dict[str, Any] = {"momentum": 0.9} if rule is SGD else {"betas": (0.9, config.beta2)}
    if ranks > 1:
        return ZeroRedundancyOptimizer(groups, rule, lr=config.lr, **settings)
    return rule(groups, lr=config.lr, **settings)
