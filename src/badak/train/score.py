"""What is counted while a model learns or is tested."""

import math
from dataclasses import dataclass, fields
from typing import Any

from badak.errors import ArgumentError


@dataclass(frozen=True)
class Score:
    """Sums over examples: they add up over batches, and over the two halves of an interrupted epoch."""

    loss_sum: float = 0.0  # nats
    right: int = 0
    count: int = 0  # labels judged: pictures, or tokens with a label
    seen: int = 0  # pictures or tokens that went through the model, for the throughput

    @classmethod
    def of(cls, counters: Any) -> "Score":
        """The score with these `vars`. Raises ArgumentError where they are none."""
        if (
            not isinstance(counters, dict)
            or [type(counters.get(one.name)) for one in fields(cls)] != [float, int, int, int]
            or not (len(counters) == 4 and math.isfinite(counters["loss_sum"]) and min(counters.values()) >= 0)
        ):
            raise ArgumentError(f"expected a score: loss_sum, right, count and seen; got {str(counters)[:80]}")
        return cls(**counters)

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.loss_sum + other.loss_sum, self.right + other.right, self.count + other.count, self.seen + other.seen
        )

    @property
    def loss(self) -> float:
        """Mean loss in nats."""
        return self.loss_sum / self.count if self.count else math.nan

    @property
    def accuracy(self) -> float:
        """Share of labels that were the likeliest."""
        return self.right / self.count if self.count else math.nan

    @property
    def perplexity(self) -> float:
        """exp(loss): among how many equally likely tokens the model still hesitates."""
        return math.exp(min(self.loss, 700.0))
