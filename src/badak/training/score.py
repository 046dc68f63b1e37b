"""What is counted while a model learns or is tested."""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, tr


def r2(error: np.ndarray, true: np.ndarray) -> float:
    """1 - sum(error^2) / sum((true - mean(true))^2): the share of the variance of these N numbers that is explained.

    0 for telling their mean each time, below 0 for worse; NaN where all are equal.
    """
    spread = float(((true - true.mean()) ** 2).sum())
    return 1 - float((error**2).sum()) / spread if spread else math.nan


@dataclass(frozen=True)
class Score:
    """Sums over examples: they add up over batches, and over the two halves of an interrupted epoch."""

    loss_sum: float = 0.0  # nats
    right: int | None = 0  # None where the answers are numbers
    count: int = 0  # labels judged: pictures, or tokens with a label
    seen: int = 0  # pictures or tokens that went through the model, for the throughput

    @classmethod
    def of(cls, counters: Any) -> "Score":
        """The score with these `vars`. Raises ArgumentError where they are none."""
        if (
            not isinstance(counters, dict)
            or [type(counters.get(one.name)) for one in fields(cls)] not in ([float, int, int, int], [float, type(None), int, int])
            or not (len(counters) == 4 and math.isfinite(counters["loss_sum"]))
            or min(counters[name] or 0 for name in ("right", "count", "seen")) < 0
        ):
            raise ArgumentError(tr("expected a score: loss_sum, right, count and seen; got {}", str(counters)[:80]))
        return cls(**counters)

    def __add__(self, other: "Score") -> "Score":
        right = None if self.right is None or other.right is None else self.right + other.right
        return Score(self.loss_sum + other.loss_sum, right, self.count + other.count, self.seen + other.seen)

    @property
    def loss(self) -> float:
        """Mean loss in nats."""
        return self.loss_sum / self.count if self.count else math.nan

    @property
    def accuracy(self) -> float:
        """Share of labels that were the most likely."""
        return self.right / self.count if self.count and self.right is not None else math.nan

    @property
    def r2(self) -> float:
        """`r2` of the examples learned from, whose numbers have the variance 1 and the loss that is a mean squared error."""
        return 1 - self.loss

    @property
    def perplexity(self) -> float:
        """exp(loss): among how many equally likely tokens the model still hesitates."""
        return math.exp(min(self.loss, 700.0)) if self.right is not None else math.nan
