"""The best evaluation of a training: its figure, how long ago it was, and the weights that it had."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from badak.core.errors import StateError, tr
from badak.io.errors import shown
from badak.tensor import Tensor
from badak.training.metrics import HIGHER, Row, is_better

AGAIN = tr("restore the folder from a copy, or start a new run")


@dataclass(frozen=True)
class Best:
    """The best evaluation so far, by the figure that is shown: accuracy and R² are to be high, perplexity and losses low.

    Of two with the same figure, as accuracies often are, the one with the lower loss is the better one; of equals the first.
    """

    figure: str
    step: int
    value: float
    loss: float
    since: int = 0  # evaluations after it, none of them better
    weights: Mapping[str, Tensor] = field(default_factory=dict, repr=False)  # none where the last ones are kept

    @classmethod
    def at(cls, row: Row, figure: str) -> "Best":
        """An evaluation, as the best one."""
        return cls(figure, row.step, float(row.val(figure)), float(row.val_loss))

    def is_beaten(self, row: Row) -> bool:
        """Whether that evaluation is better."""
        value = row.val(self.figure)
        alike = value == self.value or math.isnan(value) and math.isnan(self.value)  # R² of equal numbers is NaN
        return is_better(value, self.value, self.figure in HIGHER) or alike and is_better(row.val_loss, self.loss, higher=False)

    def saved(self) -> dict[str, Any]:
        """What a state keeps of it besides the weights."""
        return {name: value for name, value in vars(self).items() if name != "weights"}

    @classmethod
    def of(cls, saved: Any, weights: Mapping[str, Tensor]) -> "Best":
        """What `saved` gave, with its weights. Raises StateError for anything else."""
        kinds = {"figure": str, "step": int, "value": float, "loss": float, "since": int}
        if not isinstance(saved, dict) or {name: type(one) for name, one in saved.items()} != kinds:
            raise StateError(tr("expected the best evaluation: figure, step, value, loss and since; got {}", shown(saved)), AGAIN)
        if saved["step"] < 1 or saved["since"] < 0:
            raise StateError(
                tr("the best evaluation is said to be at step {}, {} evaluations ago", shown(saved["step"]), shown(saved["since"])),
                AGAIN,
            )
        return cls(**saved, weights=weights)

    @classmethod
    def among(cls, rows: Sequence[Row], figure: str) -> "Best":
        """The best of one evaluation or more."""
        best = cls.at(rows[0], figure)
        for row in rows[1:]:
            best = cls.at(row, figure) if best.is_beaten(row) else best
        return best

    @property
    def shown(self) -> str:
        """The figure and its value, or the loss where that has none."""
        return f"val_loss {self.loss:.4g}" if math.isnan(self.value) else f"{self.figure} {self.value:.4g}"

    def __str__(self) -> str:
        return f"{self.shown} at step {self.step:,}"
