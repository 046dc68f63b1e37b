"""Many durations of the same thing, and what is said of them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np


@dataclass
class Timing:
    """Milliseconds of single steps, in the rounds in which they were taken."""

    rounds: list[list[float]] = field(default_factory=list)
    foreign: float = 0.0  # seconds of CPU that other programs took meanwhile
    seconds: float = 0.0  # how long it was measured

    @property
    def ms(self) -> list[float]:
        return [ms for taken in self.rounds for ms in taken]

    @property
    def median(self) -> float:
        return float(np.median(self.ms))

    @property
    def spread(self) -> float:
        """The middle 80 % of all steps, in units of the median."""
        low, high = np.percentile(self.ms, [10, 90])
        return float(high - low) / self.median

    def as_dict(self) -> dict:
        """What a JSON file keeps of it."""
        low, high = np.percentile(self.ms, [10, 90])
        return {
            "ms": round(self.median, 4), "p10": round(float(low), 4), "p90": round(float(high), 4),
            "spread": round(self.spread, 4), "steps": len(self.ms),
            "rounds": [round(float(np.median(taken)), 4) for taken in self.rounds],
            "foreign_cores": round(self.foreign / max(self.seconds, 1e-9), 3),
        }  # fmt: skip


def repeat(step: Callable[[], float], seconds: float, at_most: int = 2000) -> tuple[list[float], float]:
    """Milliseconds of each of the steps that fit into `seconds` (three at least, one where it alone takes longer), and
    what the last one returned."""
    end = perf_counter() + seconds
    taken: list[float] = []
    while True:
        start = perf_counter()
        value = step()
        now = perf_counter()
        taken.append(1e3 * (now - start))
        enough = len(taken) >= 3 or now - start > max(seconds, 0.3)
        if len(taken) >= at_most or (enough and now >= end):
            return taken, value
