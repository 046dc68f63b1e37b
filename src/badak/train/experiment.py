"""What a task brings to the loop: a model, batches, a loss, and a test on data that it did not learn from."""

from typing import Any

from badak.data import DataLoader
from badak.nn import Module
from badak.nn import functional as F
from badak.tensor import Tensor
from badak.train.score import Score
from badak.train.setups import Setup

IGNORED = -100  # the label of a position that has none


class Experiment:
    """The base of the three tasks; `setup` is complete, with all that only the data could say."""

    setup: Setup
    model: Module
    loader: DataLoader  # its order comes from a generator of its own, seeded by setup.train.seed

    def loss(self, batch: Any, smoothing: float = 0.0) -> tuple[Tensor, Score]:
        """The mean loss of a batch, to differentiate, and what it counts."""
        raise AssertionError("a task says what its loss is")

    def evaluate(self) -> Score:
        """The score on held-out data; the model is in eval mode and no graph is recorded."""
        raise AssertionError("a task says how it is tested")

    def example(self) -> str:
        """What to ask the trained model, as arguments of its command."""
        raise AssertionError("a task says what its model can be asked")

    def closing_words(self) -> list[str]:
        """What to show of the trained model."""
        return []


def judge(logits: Tensor, labels: Tensor, seen: int, smoothing: float = 0.0) -> tuple[Tensor, Score]:
    """Mean cross entropy (nats) of logits (..., V) against labels (...), and the score; labels of -100 are left out."""
    logits, labels = logits.flatten(0, -2), labels.flatten()
    loss = F.cross_entropy(logits, labels, ignore_index=IGNORED, label_smoothing=smoothing)
    count = int((labels != IGNORED).sum())
    right = int((logits.detach().argmax(dim=-1) == labels).sum())
    return loss, Score(loss.item() * count, right, count, seen)
