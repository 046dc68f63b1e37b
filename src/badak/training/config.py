"""How a model is trained, whatever the model is."""

import math
from dataclasses import dataclass
from typing import Literal

from badak.io.config import Checked, option


@dataclass(frozen=True)
class TrainConfig(Checked):
    """The settings of the loop. A step is one update, by `grad_accum_steps` batches; an epoch is the training data seen once."""

    epochs: int = option(10, "passes over the training data; ignored if --steps is set", at_least=0)
    steps: int = option(0, "optimizer steps in total (0 = set by --epochs)", unit="steps", at_least=0)
    batch_size: int = option(64, "batch size B", unit="examples", at_least=1)
    grad_accum_steps: int = option(
        1, "batches per optimizer step; gradients are averaged, memory stays that of one batch", unit="batches", at_least=1
    )
    deterministic_reduce: bool = option(
        False, "sum gradients in a fixed tree order and draw dropout per batch: the same bits on 1, 2, 4 ... ranks"
    )
    optimizer: Literal["adam", "adamw", "sgd"] = option("adamw", "optimizer")
    lr: float = option(1e-3, "peak learning rate", above=0)
    warmup_steps: int = option(100, "steps of linear warmup from 0 to --lr", unit="steps", at_least=0)
    schedule: Literal["constant", "cosine", "linear", "inverse_sqrt"] = option(
        "cosine", "learning rate schedule after the warmup; cosine and linear decay until the last step"
    )
    min_lr_ratio: float = option(0.1, "final learning rate of cosine and linear", unit="x lr", at_least=0, at_most=1)
    beta2: float = option(0.999, "Adam's beta2", at_least=0, below=1)
    weight_decay: float = option(0.0, "weight decay of matrices (adamw)", at_least=0)
    max_grad_norm: float = option(0.0, "clip the global gradient norm to this (0 = off)", at_least=0)
    label_smoothing: float = option(0.0, "label smoothing", at_least=0, below=1)
    ema_decay: float = option(0.0, "EMA decay. The averaged weights are evaluated and saved (0 = off)", at_least=0, below=1)
    precision: Literal["float32", "bf16"] = option(
        "float32", "precision of matmuls and activations; with bf16, weights, norms and losses stay float32"
    )
    seed: int = option(0, "random seed of weights, data order and dropout", at_least=0)
    eval_every: int = option(0, "steps between evaluations (0 = once per epoch)", unit="steps", at_least=0)
    keep: Literal["best", "last"] = option(
        "best", "weights to save for inference: of the best evaluation (accuracy, R² or perplexity) or of the last step"
    )
    patience: int = option(0, "stop after this many evaluations without improvement (0 = never)", unit="evaluations", at_least=0)

    def updates(self, batches: int) -> int:
        """Updates in an epoch of `batches` batches: the last one has those that are left."""
        return -(-batches // self.grad_accum_steps)

    def last_step(self, batches: int) -> int:
        """The number of updates, where an epoch has `batches` batches."""
        return self.steps or self.epochs * self.updates(batches)

    def rate(self, step: int, last_step: int) -> float:
        """The learning rate of update `step` (counted from 0), in units of `lr`.

        min(1, (step + 1) / warmup) in the warm-up; after it, and times that within it,

            constant        1
            cosine          final + (1 - final) (1 + cos(pi step / last)) / 2
            linear          final + (1 - final) (1 - step / last)
            inverse_sqrt    sqrt(warmup / (step + 1)), after the warm-up only (Vaswani et al. 2017, section 5.3)
        """
        rise = min(1.0, (step + 1) / self.warmup_steps) if self.warmup_steps else 1.0
        if self.schedule == "constant":
            return rise
        if self.schedule == "inverse_sqrt":
            return rise * min(1.0, math.sqrt(max(self.warmup_steps, 1) / (step + 1)))
        gone = min(step / max(last_step, 1), 1.0)
        fall = 1 - gone if self.schedule == "linear" else (1 + math.cos(math.pi * gone)) / 2
        return rise * (self.min_lr_ratio + (1 - self.min_lr_ratio) * fall)
