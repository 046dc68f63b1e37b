"""How a model is trained, whatever the model is."""

import math
from dataclasses import dataclass
from typing import Literal

from badak.io.config import check, option


@dataclass(frozen=True)
class TrainConfig:
    """The settings of the loop. A step is one batch and one update; an epoch is the training data seen once."""

    epochs: int = option(10, "times through the training data; not read where steps is given", at_least=0)
    steps: int = option(0, "updates in all; 0: as many as epochs need", unit="steps", at_least=0)
    batch_size: int = option(64, "examples in one update B", unit="examples", at_least=1)
    optimizer: Literal["adam", "adamw", "sgd"] = option("adamw", "rule of the update")
    lr: float = option(1e-3, "learning rate, the highest one of the schedule", above=0)
    warmup_steps: int = option(100, "steps in which the rate rises from 0 to lr", unit="steps", at_least=0)
    schedule: Literal["constant", "cosine"] = option("cosine", "the rate after the warm-up")
    final_lr: float = option(0.1, "where the cosine ends", unit="x lr", at_least=0, at_most=1)
    beta2: float = option(0.999, "memory of Adam's second moment", at_least=0, below=1)
    weight_decay: float = option(0.0, "shrinking of matrices, per step in units of lr (adamw)", at_least=0)
    clip: float = option(0.0, "largest norm of all gradients together; 0 is off", at_least=0)
    label_smoothing: float = option(0.0, "probability spread over all classes", at_least=0, below=1)
    precision: Literal["float32", "bf16"] = option(
        "float32", "numbers of products and what lies between layers; with bf16 weights, sums, norms and losses stay float32"
    )
    seed: int = option(0, "seed of weights, order and dropout", at_least=0)
    eval_every: int = option(0, "steps between evaluations; 0: after each epoch", unit="steps", at_least=0)

    def __post_init__(self):
        check(self)

    def last_step(self, batches: int) -> int:
        """The number of updates, where an epoch has `batches` batches."""
        return self.steps or self.epochs * batches

    def rate(self, step: int, last_step: int) -> float:
        """The learning rate of update `step` (counted from 0), in units of `lr`.

        min(1, (step + 1) / warmup) during the warm-up, then constant or
        final + (1 - final) (1 + cos(pi step / last)) / 2.
        """
        rise = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        if self.schedule == "constant":
            return rise
        fall = (1 + math.cos(math.pi * min(step / max(last_step, 1), 1.0))) / 2
        return rise * (self.final_lr + (1 - self.final_lr) * fall)
