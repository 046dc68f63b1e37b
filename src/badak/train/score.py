"""What is counted while a model learns or is tested."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Score:
    """Sums over examples: they add up over batches, and over the two halves of an interrupted epoch."""

    loss_sum: float = 0.0  # nats
    right: int = 0
    count: int = 0  # labels judged: pictures, or tokens with a label
    seen: int = 0  # pictures or tokens that went through the model, for the throughput

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
