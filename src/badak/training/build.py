"""From settings to something that can be trained, and from a run folder to something that answers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from badak.core.errors import ArgumentError, FileError, StateError, tr
from badak.data.tokenizer import Tokenizer
from badak.generation.classify import TextClassifier
from badak.generation.text import TextVocabulary
from badak.io.checkpoint import read_step
from badak.models.bert import BERT, BERTClassifier
from badak.models.classifier import build_classifier
from badak.models.seq2seq import Seq2Seq
from badak.nn import Module
from badak.nn.lora import merge_lora
from badak.nn.quantization import quantize
from badak.tensor.dtypes import bfloat16, float32, int8
from badak.tensor.random import manual_seed
from badak.training.causal_lm import end_of_line, write_text
from badak.training.experiment import Experiment
from badak.training.image_classification import Pictures
from badak.training.masked_lm import Guessing
from badak.training.memory import expect_memory, saved_of
from badak.training.presets import GPTSetup, Setup, TextSetup, change
from badak.training.ranks import Ranks
from badak.training.run import CHANGING, CONFIG, Follower, Run
from badak.training.start import expect_here, first_model, make_writer
from badak.training.text_classification import read_text_task
from badak.training.translation import Translating
from badak.training.vocabulary import RESTORE

TASKS: dict[str, Callable[..., Experiment]] = {
    "classify": Pictures, "gpt": write_text, "bert": Guessing, "text": read_text_task, "translate": Translating,
}  # fmt: skip
MODELS: dict[str, Callable[..., Module]] = {
    "classify": build_classifier, "gpt": make_writer, "bert": BERT, "text": BERTClassifier, "translate": Seq2Seq,
}  # fmt: skip
PRECISIONS: dict[str, Any] = {  # of the weights of a model that answers
    "float32": float32, "bf16": bfloat16, "int8": int8, "q8_0": "q8_0", "q4_0": "q4_0",
}  # fmt: skip


def quiet(line: str) -> None:
    """Where nobody listens."""


def build(setup: Setup, log: Callable[[str], None] = quiet, tokenizer: Tokenizer | None = None) -> Experiment:
    """The task that `setup` describes, its model with initial weights from the seed; `tokenizer`: that of a run that goes on."""
    expect_memory(setup)
    manual_seed(setup.train.seed)
    experiment = TASKS[setup.experiment](setup, log, tokenizer)
    log(tr("{:,} parameters", sum(p.numel() for p in experiment.model.parameters())))
    return experiment


def start(folder: str | Path, setup: Setup, log: Callable[[str], None] = quiet) -> tuple[Run, Experiment]:
    """A new run in `folder`."""
    ranks = Ranks()
    if ranks.size > 1:
        setup = change(setup, "train", {"deterministic_reduce": True})
        ranks.slots(setup.train.grad_accum_steps)
    experiment = build(setup, log if ranks.leads else quiet)
    if not ranks.leads:
        with ranks.in_turn():
            return Follower.open(folder), experiment
    with ranks.in_turn():
        return Run.create(folder, experiment.setup, experiment.vocabulary), experiment


def resume(folder: str | Path, log: Callable[[str], None] = quiet, changes: dict[str, Any] | None = None) -> tuple[Run, Experiment]:
    """An earlier run, to go on with; StateError where its data is not what it was.

    `changes` are other values of epochs, steps (up to which the run goes now) or path (where its data lies now).
    """
    ranks = Ranks()
    with ranks.in_turn():
        return _resume((Run if ranks.leads else Follower).open(folder), folder, log if ranks.leads else quiet, changes, ranks.size)


def _resume(
    run: Run, folder: str | Path, log: Callable[[str], None], changes: dict[str, Any] | None, ranks: int
) -> tuple[Run, Experiment]:
    if ranks > 1 and not run.setup.train.deterministic_reduce:
        cause = tr("{}: this run was begun without --deterministic-reduce: one rank goes on with it", folder)
        raise ArgumentError(cause, run.resuming())
    if run.setup.experiment not in TASKS:
        cause = tr("{} is a run of {}: only the program that made its model can go on", folder, run.made_by())
        raise ArgumentError(cause, run.resuming())
    values = {name: value for name, value in (changes or {}).items() if value is not None}
    setup = run.setup
    for section, names in CHANGING.items():
        setup = change(setup, section, {name: values[name] for name in names if name in values})
    step = read_step(run.folder)
    if step == 0:
        log(tr("{}: nothing was saved yet, it starts from the beginning", folder))
    run.expect_weights(saved_of(setup))
    expect_here(setup)
    vocabulary = run.vocabulary()
    experiment = build(setup, log, vocabulary if isinstance(vocabulary, Tokenizer) else None)
    if experiment.setup != setup:
        cause = tr("{}: the text is not the one that this run began with, its vocabulary differs", folder)
        raise StateError(cause, "bring the old text back, or start a new run with this one")
    last = setup.train.last_step(len(experiment.loader))
    if setup == run.setup and step >= last:
        log(tr("this run is finished (step {} of {}); with --epochs or --steps it goes on", step, last))
    elif setup == run.setup and step:
        log(tr("goes on from step {} of {}, the last that was saved", step, last))
    if setup != run.setup:
        lengthen(run, setup, len(experiment.loader), step, log)
    return run, experiment


def lengthen(run: Run, setup: Setup, batches: int, step: int, log: Callable[[str], None]) -> None:
    """Let `run`, which is at `step`, go on to where `setup` says, and say what its learning rate does."""
    before, now = run.setup.train.last_step(batches), setup.train.last_step(batches)
    if now < step:
        cause = tr("{}: the run has made {} steps, more than the {} that are asked for", run.folder, step, now)
        raise ArgumentError(cause, tr("--steps {}, or --epochs {}", step + batches, -(-step // batches) + 1))
    run.change(setup)
    if now != before:
        rates = [setup.train.lr * setup.train.rate(step, last) for last in (before, now)]
        log(
            tr("goes on from step {} to {}; it was to end at {}. The learning rate is that of a run which was to "
               "make {} steps from the start: {:.3g} next", step, now, before, now, rates[1])
            + (tr(", not {:.3g}", rates[0]) if rates[0] != rates[1] else "")
        )  # fmt: skip


@dataclass(frozen=True)
class Trained:
    """What a run has learned, ready to answer."""

    setup: Any  # a Setup; None of a folder that is no run
    model: Module
    vocabulary: Any = None  # a TextVocabulary; pictures have none
    eos: int | None = None  # where the text of one answer ends


def floats_of(precision: str) -> Any:
    """The dtype in which weights are read: float32 for those that are quantized then."""
    return bfloat16 if PRECISIONS[precision] is bfloat16 else float32


def narrow(model: Module, precision: str) -> None:
    """Quantize the model, unless its weights are to be floats."""
    if precision not in ("float32", "bf16"):
        quantize(model, PRECISIONS[precision])


def open_model(folder: str | Path, experiment: str, precision: str = "float32", *others: str) -> Trained:
    """The model of a run of `badak train EXPERIMENT`, with weights of this precision.

    others: what a caller could open in another way, for the error.
    """
    run = Run.open(folder)
    if run.setup.experiment != experiment:
        cause = tr("{} is a run of {}; this needs one of badak train {}", folder, run.made_by(), " or ".join((experiment, *others)))
        raise ArgumentError(cause, tr("badak train {}", experiment))
    expect_here(run.setup)
    vocabulary = open_vocabulary(run)
    expect_memory(run.setup, copies=1)
    run.expect_weights(saved_of(run.setup))
    whole = floats_of(precision)
    if isinstance(run.setup, GPTSetup) and run.setup.start.lora:
        model: Module = first_model(run.setup)[0]
        run.load_weights(model)
        model = merge_lora(model).to(whole)
    else:
        model = MODELS[experiment](run.setup.model).to(whole)
        run.load_weights(model)
    narrow(model, precision)
    by_lines = isinstance(run.setup, GPTSetup) and run.setup.data.lines
    return Trained(run.setup, model, vocabulary, end_of_line(vocabulary) if vocabulary and by_lines else None)


def load_classifier(folder: str | Path) -> TextClassifier:
    """The model of a run of `badak train text`, with what its classes are called, or its numbers measured in."""
    trained = open_model(folder, "text")
    setup = cast(TextSetup, trained.setup)
    pairs = bool(setup.data.pair_column)
    return TextClassifier(cast(BERTClassifier, trained.model), trained.vocabulary, setup.labels, setup.mean, setup.deviation, pairs)


def open_vocabulary(run: Run) -> TextVocabulary | None:
    """The vocabulary of a run, if it has one: in config.json, or as tokenizer.json."""
    vocabulary = run.vocabulary()
    if isinstance(run.setup, GPTSetup) and run.setup.data.lines and (not vocabulary or end_of_line(vocabulary) is None):
        raise FileError(tr("{}: data.lines is true, but no token ends a line", run.folder / CONFIG), RESTORE)
    return vocabulary
