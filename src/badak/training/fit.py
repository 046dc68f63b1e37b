"""badak.training.fit: the loop of `badak train` for a model, batches and a loss of your own. docs/how-to/training.md shows it."""

import dataclasses
import difflib
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, expect_kind, tr
from badak.io.checkpoint import exists, read_step
from badak.nn import Module
from badak.optim import Optimizer
from badak.tensor import Tensor, from_numpy, full
from badak.tensor.dtypes import int32, int64
from badak.training.batches import Batches, length_of, memory_of
from badak.training.build import lengthen, quiet
from badak.training.callbacks import Callback, Progress, listening
from badak.training.config import TrainConfig
from badak.training.experiment import IGNORED, Experiment, Measured, score_of
from badak.training.loop import INTERRUPTED, Outcome, train
from badak.training.metrics import Row, row_line
from badak.training.presets import OwnData, OwnModel, OwnSetup
from badak.training.run import CHANGING, CONFIG, Run
from badak.training.score import Score

ELSEWHERE = {  # settings of the commands that somebody else decides here
    "batch_size": tr("the loader says how large a batch is"),
    "seed": tr("badak.manual_seed(seed) before the model is made, and a generator for the loader"),
    "label_smoothing": tr("the loss says that: F.cross_entropy(..., label_smoothing=0.1)"),
}
OF_OPTIMIZER = ("optimizer", "lr", "beta2", "weight_decay")
Prepare = Callable[[Any], tuple[tuple[Any, ...], Any]]
Loss = Callable[[Any, Any], Tensor]
Metrics = Mapping[str, Callable[[Any, Any], Any]]


class Own(Experiment):
    """A model, batches and a loss that the user brings."""

    remedy = tr("a smaller lr, more warmup_steps, or max_grad_norm=1")
    setup: OwnSetup  # type: ignore[assignment]

    def __init__(self, model: Module, loader: Any, loss: Loss, val: Any, metrics: Metrics, prepare: Prepare | None) -> None:
        self.model, self.judged, self.metrics, self.given = model, loss, metrics, prepare or take_apart
        self.loader = Batches(loader)  # type: ignore[assignment]
        self.validation = None if val is None else Batches(val, "val")

    def prepare(self, batch: Any) -> tuple[tuple[Any, ...], Any]:
        made = tensors_of(self.given(batch))
        if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[0], tuple):
            cause = tr("fit: prepare must give ((inputs, ...), labels); got {}", described(made))
            raise ArgumentError(cause, "prepare=lambda batch: ((batch['ids'],), batch['labels'])")
        return made

    def measure(self, outputs: Any, labels: Any, smoothing: float = 0.0) -> Measured:
        loss = self.judged(outputs, labels)
        expect_kind(loss, Tensor, "fit: the loss must be a tensor; got {}", "F.cross_entropy(outputs, labels)")
        if loss.numel() != 1 or not loss.is_floating_point():
            raise ShapeError(tr("fit: the loss must be one number to differentiate; got {}", described(loss)), "loss.mean()")
        return loss.reshape(()), right(outputs, labels), self.count(labels)

    def count(self, labels: Any) -> Tensor:
        """Labels that are not -100, where they are integers; else examples."""
        found = first_tensor(labels, tr("the labels"))
        if found.is_floating_point() or found.is_complex():
            return full((), len(found) if found.dim() else 1, dtype=int64)
        return (found != IGNORED).sum()

    def seen(self, inputs: tuple[Any, ...]) -> int:
        """Examples that go through the model."""
        found = first_tensor(inputs, tr("the inputs"))
        return len(found) if found.dim() else 1

    def data(self) -> Iterable[bytes | memoryview]:
        known = memory_of(self.loader.loader)  # type: ignore[attr-defined]
        if known is None:
            return [str(length_of(self.loader)).encode()]
        return [np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in known]

    def evaluate(self) -> Score:
        """The score on the held-out batches, and the means of the metrics in `figures`."""
        score, sums = Score(), dict.fromkeys(self.metrics, 0.0)
        for batch in self.validation or ():
            inputs, labels = self.prepare(batch)
            outputs = self.model(*inputs)
            one = score_of(*self.measure(outputs, labels), self.seen(inputs))
            score += one
            for name, metric in self.metrics.items():
                sums[name] += float(metric(outputs, labels)) * one.count
        self.figures = {name: value / max(score.count, 1) for name, value in sums.items()} if self.validation else {}
        return score


def fit(
    model: Module,
    loader: Iterable[Any],
    loss: Loss,
    *,
    val: Iterable[Any] | None = None,
    metrics: Metrics | None = None,
    callbacks: Iterable[Any] = (),
    folder: str | os.PathLike | None = None,
    resume: bool = False,
    prepare: Prepare | None = None,
    optimizer: Optimizer | str | None = None,
    compiled: bool = True,
    log: Callable[[str], None] | None = print,
    **settings: Any,
) -> Outcome:
    """Train `model` on the batches of `loader`, in place, as `badak train` trains its own.

    loader gives batches (inputs, ..., labels); the model is called as model(inputs, ...). Another form of batch: prepare(batch) ->
    ((inputs, ...), labels). loss(outputs, labels) is the mean over the batch, one number.

    val: batches to evaluate on after each epoch or `eval_every` steps. metrics: {name: metric(outputs, labels) -> mean} for them.
    callbacks: badak.training.Callback, or functions of the progress after each step. log: who is told a line for each evaluation.
    folder: where weights, optimizer, random numbers, position in the data and metrics.csv are kept at each evaluation and at
    Ctrl-C; with resume=True a run that is there already goes on, with exactly the bits that it would have had.
    optimizer: "adamw", "adam", "sgd", or one that you made. compiled: replay steps without Python (docs/explanation/compile.md).
    settings: those of badak.training.TrainConfig but batch_size, seed and label_smoothing: epochs, steps, lr, schedule,
    warmup_steps, max_grad_norm, grad_accum_steps, precision, ...; keep="best": model and folder end with the weights of the lowest
    loss on val; patience: evaluations without a lower loss after which the training ends.

    Ctrl-C finishes the update under way, saves, and raises KeyboardInterrupt. Raises ArgumentError for wrong arguments and for a
    loss that is not finite, StateError for a folder of another model or of other data.

    Args:
        model: trained in place
        loader: batches
        loss: function of outputs and labels, the mean over the batch
        valid: batches to evaluate with
        metrics: functions of outputs and labels by name
        callbacks: called after steps and evaluations
        folder: where the run is kept
        resume: go on with the run in folder
        prepare: turns a batch into ((inputs, ...), labels)
        optimizer: a name or an optimizer
        compiled: replay steps without Python
        log: called with a line for each evaluation; None for silence
        **settings: fields of badak.training.TrainConfig

    Returns: an `Outcome`: steps, losses, whether the run ended early

    Example:
        >>> from badak.data import DataLoader, TensorDataset
        >>> from badak.training import fit
        >>> x = badak.randn(64, 4)
        >>> loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16)
        >>> model = nn.Linear(4, 1)
        >>> outcome = fit(model, loader, F.mse_loss, epochs=20, lr=0.05, log=None, compiled=False)
        >>> F.mse_loss(model(x), x.sum(1, keepdim=True)).item() < 1
        False
    """
    expect_arguments(model, loss, {} if metrics is None else metrics, settings, optimizer)
    expect_surroundings(folder, prepare, log, {"resume": resume, "compiled": compiled})
    heard = [callbacks] if callable(callbacks) or not isinstance(callbacks, Iterable) else [*callbacks]
    listening(heard)  # complains before anything is made
    experiment = Own(model, loader, loss, val, metrics or {}, prepare)
    experiment.compiled = compiled
    experiment.setup = setup_of(model, loader, optimizer, settings)
    if val is None and (experiment.setup.train.keep == "best" or experiment.setup.train.patience):
        raise ArgumentError("fit: keep='best' and patience ask for batches to evaluate with", "val=batches")
    run = None if folder is None else open_run(folder, experiment.setup, resume, log or quiet)
    if log is not None:
        heard.insert(0, Report(log))
    was_training = model.training
    try:
        made = optimizer if isinstance(optimizer, Optimizer) else None
        outcome = train(experiment, experiment.setup.train, run, heard, made)
    finally:
        model.train(was_training)
    if run is not None:
        run.draw(log or quiet)
    if outcome.ended == INTERRUPTED:
        raise KeyboardInterrupt(f"stopped after {outcome.step:,} steps" + (f"; {run.resuming()} goes on" if run else ""))
    return outcome


class Report(Callback):
    """Tell a line for each evaluation."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self.log = log

    def on_evaluation(self, progress: Progress) -> None:
        self.log(row_line(progress.rows[-1]))


def expect_arguments(model: Any, loss: Any, metrics: Any, settings: dict[str, Any], optimizer: Any) -> None:
    """Raise ArgumentError for what cannot be trained, or is no setting."""
    if not isinstance(model, Module):
        raise ArgumentError(tr("fit: expected a module to train; got {}", type(model).__name__), "fit(model, loader, loss)")
    if not any(p.requires_grad for p in model.parameters()):
        raise ArgumentError(tr("fit: {} has no parameter to train", type(model).__name__), "layers as attributes of the module")
    if not callable(loss):
        raise ArgumentError(tr("fit: expected loss(outputs, labels); got {}", described(loss)), "badak.nn.functional.cross_entropy")
    if not isinstance(metrics, Mapping):
        raise ArgumentError(tr("fit: expected metrics by name; got {}", described(metrics)), 'metrics={"mae": F.l1_loss}')
    for name, metric in metrics.items():
        if not callable(metric) or not str(name).isidentifier() or hasattr(Row, f"val_{name}") or name in ("loss", "accuracy"):
            cause = tr("fit: expected metrics by names of their own; got {!r:.60}: {}", name, described(metric))
            raise ArgumentError(cause, 'metrics={"mae": F.l1_loss}')
    known = [one.name for one in dataclasses.fields(TrainConfig) if one.name not in ELSEWHERE]
    for name in settings:
        if name in ELSEWHERE:
            raise ArgumentError(tr("fit: {} is no setting here", name), ELSEWHERE[name])
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            cause = tr("fit: there is no setting {!r:.60}", name)
            raise ArgumentError(cause, f"{near[0]}=" if near else tr("one of {}", tr(", ").join(known)))
        if isinstance(optimizer, Optimizer) and name in OF_OPTIMIZER:
            cause = tr("fit: {} is given, and an optimizer that has its own", name)
            raise ArgumentError(cause, tr("leave out {}, or the optimizer", name))
    if optimizer is not None and not isinstance(optimizer, (str, Optimizer)):
        raise ArgumentError(tr("fit: expected an optimizer; got {}", described(optimizer)), 'optimizer="adamw"')


def expect_surroundings(folder: Any, prepare: Any, log: Any, flags: dict[str, Any]) -> None:
    """Raise ArgumentTypeError for what is no folder, no function, no flag, before anything is made."""
    for ok, name, value, wanted, fix in (
        (folder is None or isinstance(folder, str | os.PathLike), "folder", folder, tr("a path"), "folder='runs/mine'"),
        (prepare is None or callable(prepare), "prepare", prepare, tr("a function of a batch"),
         "prepare=lambda batch: ((batch['ids'],), batch['labels'])"),
        (log is None or callable(log), "log", log, tr("a function of a line, or None"), "log=print"),
        *((isinstance(value, bool), name, value, "True or False", f"{name}=True") for name, value in flags.items()),
    ):  # fmt: skip
        if not ok:
            raise ArgumentTypeError(tr("fit: expected {} to be {}; got {}", name, wanted, described(value)), fix)


def setup_of(model: Module, loader: Any, optimizer: Any, settings: dict[str, Any]) -> OwnSetup:
    """The settings of this training, complete. Unlike the commands it keeps the last weights, unless told otherwise."""
    named = {"optimizer": optimizer} if isinstance(optimizer, str) else {}
    config = TrainConfig(**{"keep": "last", **settings, **named})
    batches = length_of(loader)
    if batches is None and not config.steps:
        cause = tr("fit: {} does not say how many batches it has, so nobody knows what an epoch is", type(loader).__name__)
        raise ArgumentError(cause, "steps=1000, the number of updates")
    size = sum(p.numel() for p in model.parameters())
    return OwnSetup(model=OwnModel(type(model).__name__, size), train=config, data=OwnData(batches or 0))


def open_run(folder: str | os.PathLike, setup: OwnSetup, resume: bool, log: Callable[[str], None]) -> Run:
    """The run of `folder`, to go on with, or a new one."""
    if not (Path(folder) / CONFIG).exists() and not exists(folder):
        return Run.create(Path(folder), setup)  # type: ignore[arg-type]
    if not resume:
        cause = tr("{}: there is a run in this folder already", folder)
        raise ArgumentError(cause, "resume=True goes on with it; another folder begins again")
    run = Run.open(Path(folder))
    before: Any = run.setup
    if not isinstance(before, OwnSetup):
        raise ArgumentError(tr("{} is a run of {}", folder, run.made_by()), run.resuming())
    changed = [
        tr("{} {} (now {})", name, old, new)
        for section in ("model", "data", "train")
        for name, old in vars(getattr(before, section)).items()
        if (new := vars(getattr(setup, section))[name]) != old and name not in CHANGING.get(section, ())
    ]
    if changed:
        cause = tr("{}: this run has {}", folder, tr(", ").join(changed))
        raise ArgumentError(cause, "what it was made with, but epochs and steps; or another folder")
    step = read_step(folder)
    if setup != before:
        lengthen(run, setup, max(setup.data.batches, 1), step, log)  # type: ignore[arg-type]
    else:
        log(tr("{}: goes on from step {}", folder, step))
    return run


def take_apart(batch: Any) -> tuple[tuple[Any, ...], Any]:
    """(inputs, ..., labels) as ((inputs, ...), labels)."""
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        cause = tr("fit: expected batches (inputs, ..., labels); got {}", described(batch))
        raise ArgumentError(cause, "TensorDataset(inputs, labels), or prepare=lambda batch: ((inputs,), labels)")
    return tuple(batch[:-1]), batch[-1]


def tensors_of(value: Any) -> Any:
    """`value` with tensors in place of arrays of NumPy."""
    if isinstance(value, np.ndarray):
        return from_numpy(value)
    if isinstance(value, (tuple, list)):
        return type(value)(map(tensors_of, value)) if type(value) in (tuple, list) else value
    return {name: tensors_of(one) for name, one in value.items()} if type(value) is dict else value


def first_tensor(value: Any, what: str) -> Tensor:
    """The first tensor in `value`; ArgumentError where there is none."""
    if isinstance(value, Tensor):
        return value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ():
        if isinstance(one, (Tensor, dict, tuple, list)):
            return first_tensor(one, what)
    cause = tr("fit: expected {} of a batch to be a tensor; got {}", what, described(value))
    raise ArgumentError(cause, "batches (inputs, ..., labels)")


def right(outputs: Any, labels: Any) -> Tensor | None:
    """How many labels are the most likely answer, where outputs (..., V) answer integers (...); None elsewhere."""
    if not (isinstance(outputs, Tensor) and isinstance(labels, Tensor)):
        return None
    if not outputs.is_floating_point() or labels.dtype not in (int64, int32) or outputs.shape[:-1] != labels.shape:
        return None
    return (outputs.detach().argmax(dim=-1) == labels).sum()


def described(value: Any) -> str:
    """What `value` is, in a few words."""
    if isinstance(value, (Tensor, np.ndarray)):
        return f"a tensor of shape {tuple(value.shape)} and {value.dtype}"
    return f"a {type(value).__name__} of {len(value)}" if isinstance(value, (tuple, list, dict)) else f"{value!r:.60}"
