"""A run's model, tested again: on what was held out, or on other data. Several ranks share the batches, and find the same bits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, FileError, StateError, tr
from badak.data.tokenizer import Tokenizer
from badak.generation.translate import bleu, chrf, translate
from badak.training.build import TASKS, build, quiet
from badak.training.confusion import Confusion
from badak.training.describe import weights_of
from badak.training.experiment import Experiment
from badak.training.presets import Setup, change
from badak.training.ranks import Ranks
from badak.training.run import Run
from badak.training.train_state import computing
from badak.training.translation import Translating, too_long

COUNTED = {"gpt": "tokens", "bert": tr("hidden words"), "text": "texts", "classify": "pictures", "translate": "tokens"}


@dataclass(frozen=True)
class Tested:
    """What a test finds, by name, to read; and which classes are taken for which, where there are classes."""

    facts: dict[str, str]
    confusion: Confusion | None = None
    figures: Mapping[str, float] = field(default_factory=dict)  # the same as numbers, by the names of metrics.csv

    def as_json(self) -> dict[str, Any]:
        """What was found, for a file of JSON: texts as they are read, and numbers."""
        found: dict[str, Any] = {"facts": self.facts, "figures": dict(self.figures)}
        if (confusion := self.confusion) is not None:
            columns = {name: getattr(confusion, name) for name in ("precision", "recall", "f1", "support")}
            found["classes"] = [
                {"class": name, **{key: column[at].item() for key, column in columns.items()}}
                for at, name in enumerate(confusion.names)
            ]
            found["confusion"] = confusion.counts.tolist()
            if confusion.bins is not None:
                found["calibration"] = dict(zip(("examples", "probability", "right"), confusion.bins.tolist()))
        return found


FIGURES = {
    "r2": ("R²", ".4f"), "mae": ("mean absolute error", ".4g"), "rmse": ("root of the mean square", ".4g"),
    "f1": ("macro F1", ".4f"), "parsed": ("correct sentences", ".1%"),
    "consistent": ("consistent stories", ".0%"),
}  # fmt: skip


def evaluate(folder: str | Path, data: str = "", log: Callable[[str], None] = quiet) -> Tested:
    """What a test finds; the same on all ranks. data: a file or folder in place of what the run held out."""
    run, ranks = Run.open(folder), Ranks()
    experiment = opened(run, data, log if ranks.leads else quiet)
    experiment.ranks = ranks
    experiment.model.eval()
    with no_grad(), computing(run.setup.train):
        score = experiment.evaluate()
        more = further(experiment, log if ranks.leads else quiet)
    state: Any = run.load()
    facts = {"run": str(run.folder), "task": run.setup.experiment, "steps": f"{state.step:,}"}
    facts |= {"weights": weights_of(state, run.setup), "data": data or held_out(run.setup)}
    facts |= {"judged": tr("{:,} {}", score.count, COUNTED[run.setup.experiment]), "loss": f"{score.loss:.6g}"}
    if score.right is not None:
        facts["accuracy"] = f"{score.accuracy:.4%}"
    if run.setup.metric == "perplexity":
        facts["perplexity"] = f"{score.perplexity:.6g}"
    facts |= {FIGURES[name][0]: format(value, FIGURES[name][1]) for name, value in experiment.figures.items()}
    figures = {"loss": score.loss, **({} if score.right is None else {"accuracy": score.accuracy}), **experiment.figures}
    figures |= {"perplexity": score.perplexity} if run.setup.metric == "perplexity" else {}
    if experiment.confusion is not None and experiment.confusion.bins is not None:
        figures["ece"] = experiment.confusion.calibration_error
        facts["calibration error"] = f"{experiment.confusion.calibration_error:.4f}"
    return Tested(facts | more, experiment.confusion, figures)


def opened(run: Run, data: str, log: Callable[[str], None]) -> Experiment:
    """The task of a run with the weights that it has learned, and what it is to be tested with."""
    if run.setup.experiment not in TASKS:
        cause = tr("{} is a run of {}: only the program that made its model can test it", run.folder, run.made_by())
        raise ArgumentError(cause, "fit(..., val=batches) in that program")
    state = run.load()
    if state is None:
        raise FileError(tr("{}: the run has not saved anything yet", run.folder), run.resuming())
    vocabulary = run.vocabulary()
    setup = asked(run.setup, data) if data else run.setup
    known: Any = vocabulary if isinstance(vocabulary, Tokenizer) or run.setup.experiment == "gpt" else None
    experiment = build(setup, log, known)
    if any(getattr(experiment.setup, name, None) != getattr(run.setup, name, None) for name in ("model", "vocabulary", "labels")):
        cause = tr("{}: this data makes another vocabulary or other classes than the run learned with", data or run.folder)
        raise StateError(cause, "data with the same words and classes as the data that was learned")
    if not data and state.origin.get("data") != experiment.fingerprint:
        cause = tr("{}: the data is not what this run began with", run.folder)
        raise StateError(cause, "bring the old data back, or say --data PATH")
    experiment.take(state.model)
    return experiment


def asked(setup: Setup, data: str) -> Setup:
    """The setup with other data to test with."""
    if setup.experiment == "text":
        if not setup.data.path:  # type: ignore[union-attr]
            cause = tr("this run learned from the opinions that come with badak, and its classes are known from them only")
            raise ArgumentError(cause, "leave out --data; badak predict RUN --file FILE judges other texts")
        return change(setup, "data", {"val_data": data})
    changes: dict[str, Any] = {"path": data}
    if setup.experiment == "gpt":
        changes["val_split"] = 0.0
    return change(setup, "data", changes)


def held_out(setup: Setup) -> str:
    """What a run is tested with, in words."""
    path = getattr(setup.data, "path", "")
    where = path or tr("the data that comes with badak")
    if setup.experiment == "bert" or (setup.experiment == "translate" and not path) or getattr(setup.data, "val_split", 1.0) == 0:
        return tr("{} (what it learned from)", where)
    return tr("{} (what was held out)", where)


def further(experiment: Experiment, log: Callable[[str], None] = quiet) -> dict[str, str]:
    """What only some tasks can be asked, and only in the end: BLEU of translations."""
    if isinstance(experiment, Translating):
        model = experiment.model.config
        pairs = next(iter(experiment.corpus.tests.values()), experiment.corpus.val)
        sources, references = zip(*pairs)
        made = translate(experiment.model, experiment.vocabulary, sources, each=experiment.each, cut=too_long(log, model.context))
        found = {"BLEU": bleu, "chrF": chrf}
        counted = {name: count(made, references, experiment.setup.data.lowercase) for name, count in found.items()}
        return {name: f"{score:.2f}   {signature}" for name, (score, signature) in counted.items()}
    return {}
