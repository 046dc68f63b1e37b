"""What a task brings to the loop: a model, batches, a loss, and a test on data that it did not learn from."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.data import DataLoader
from badak.nn import Module
from badak.nn import functional as F
from badak.tensor import Tensor
from badak.training.confusion import Confusion
from badak.training.presets import Setup
from badak.training.ranks import Ranks
from badak.training.score import Score

IGNORED = -100  # the label of a position that has none
Measured = tuple[Tensor, Tensor | None, Tensor]  # mean loss, how many are right, of how many


class Experiment:
    """The base of all tasks: a model, batches, what is asked and answered, and what is counted.

    Made as TASK(setup, log, tokenizer): `tokenizer` is that of a run that goes on, None in a new one, whose task trains or loads
    what it needs. `setup` is complete afterwards, with all that only the data could say.
    """

    setup: Setup
    model: Module  # called as model(*inputs)
    loader: DataLoader  # its order comes from a generator of its own, seeded by setup.train.seed
    compiled = True  # whether steps are recorded: not where they are so large that Python takes little of them
    vocabulary: Any = None  # a TextVocabulary, where there is one
    ranks: Ranks | None = None  # those that share its tests
    figures: Mapping[str, float] = {}  # what `evaluate` found besides, by name: further columns of metrics.csv
    confusion: Confusion | None = None  # which classes `evaluate` saw taken for which, where there are classes
    remedy = tr("a smaller --lr, a longer --warmup-steps or --max-grad-norm 1")  # for a loss that is not finite

    def prepare(self, batch: Any) -> tuple[tuple[Tensor, ...], Tensor]:
        """What the model reads of a batch, and what it is to answer; drawn again each time if a task hides something."""
        raise AssertionError("a task says what its model reads")

    def measure(self, outputs: Any, labels: Tensor, smoothing: float = 0.0) -> Measured:
        """The mean loss of what the model answered, to differentiate; how many answers are right; of how many labels.

        Cross entropy, unless a task says otherwise. None right: the answers are numbers, which are near or far.
        """
        return measure(outputs, labels, smoothing)

    def count(self, labels: Tensor) -> Tensor:
        """How many labels `measure` will count: by them several batches of one update are weighed."""
        return counted(labels)

    def seen(self, inputs: tuple[Tensor, ...]) -> int:
        """Pictures or tokens that go through the model."""
        return inputs[0].numel()

    def loss(self, batch: Any, smoothing: float = 0.0) -> tuple[Tensor, Score]:
        """The mean loss of a batch, to differentiate, and what it counts."""
        inputs, labels = self.prepare(batch)
        loss, right, count = self.measure(self.model(*inputs), labels, smoothing)
        return loss, score_of(loss, right, count, self.seen(inputs))

    def classified(self, tests: DataLoader, names: Sequence[str]) -> Score:
        """The score over all batches of examples of a class each; next to it `confusion`, and its F1 in `figures`."""

        def work(batch: Any) -> tuple[Score, np.ndarray, np.ndarray, np.ndarray]:
            inputs, labels = self.prepare(batch)
            outputs = self.model(*inputs)
            chances = outputs.float().softmax(dim=-1).amax(dim=-1)
            score = score_of(*self.measure(outputs, labels), self.seen(inputs))
            return score, labels.numpy(), outputs.argmax(dim=-1).numpy(), chances.numpy()

        scores, true, given, chances = zip(*self.each(tests, work))
        self.confusion = Confusion.of(np.concatenate(true), np.concatenate(given), names, np.concatenate(chances))
        self.figures = {"f1": self.confusion.macro(self.confusion.f1)}
        return sum(scores, Score())

    def scored(self, tests: DataLoader) -> Score:
        """The score over all batches, added in their order: the same bits however many ranks share them."""
        return sum(self.each(tests, lambda batch: self.loss(batch)[1]), Score())

    def each(self, items: Any, work: Callable[[Any], Any]) -> list[Any]:
        """What `work` gives for each item, in their order; where there are several ranks, each does a part."""
        return [work(item) for item in items] if self.ranks is None else self.ranks.each(items, work)

    def kept(self) -> Mapping[str, Tensor]:
        """The weights that a run saves."""
        return self.model.state_dict()

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Go back to what `kept` gave."""
        self.model.load_state_dict(weights)

    def data(self) -> Iterable[bytes | memoryview]:
        """All that it learns from and is tested with."""
        raise AssertionError("a task says what its data is")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the data: a run goes on with what it began with."""
        found = hashlib.sha256()
        for part in self.data():
            found.update(hashlib.sha256(part).digest())
        return found.hexdigest()

    def evaluate(self) -> Score:
        """The score on held-out data; the model is in eval mode and no graph is recorded."""
        raise AssertionError("a task says how it is tested")

    def example(self) -> list[str]:
        """What to ask the trained model: arguments of its command."""
        raise AssertionError("a task says what its model can be asked")

    def closing_words(self) -> list[str]:
        """What to show of the trained model."""
        return []


def measure(logits: Tensor, labels: Tensor, smoothing: float = 0.0) -> tuple[Tensor, Tensor, Tensor]:
    """Mean cross entropy (nats) of logits (..., V) against labels (...), how many are right, and of how many; -100 is left out."""
    logits, labels = logits.flatten(0, -2), labels.flatten()
    loss = F.cross_entropy(logits, labels, ignore_index=IGNORED, label_smoothing=smoothing)
    return loss, (logits.detach().argmax(dim=-1) == labels).sum(), counted(labels)


def counted(labels: Tensor) -> Tensor:
    """How many labels there are; -100 is none."""
    return (labels != IGNORED).sum()


def score_of(loss: Tensor, right: Tensor | None, count: Tensor, seen: int) -> Score:
    """What `measure` found, as numbers."""
    return Score(loss.item() * int(count), None if right is None else int(right), int(count), seen)


def judge(logits: Tensor, labels: Tensor, seen: int, smoothing: float = 0.0) -> tuple[Tensor, Score]:
    """The loss of `measure`, and the score."""
    loss, right, count = measure(logits, labels, smoothing)
    return loss, score_of(loss, right, count, seen)
