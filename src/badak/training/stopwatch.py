"""How fast the model learns, without the time that tests take."""

import time

from badak.training.score import Score


class Stopwatch:
    """Seconds since it was made, and pictures or tokens per second in this lap: a lap is the training between two tests."""

    def __init__(self) -> None:
        self.started = time.perf_counter()
        self.begin_lap()

    def begin_lap(self) -> None:
        """Count from here on."""
        self._lap, self._seen = time.perf_counter(), 0

    def add(self, score: Score) -> None:
        """Count what a training batch showed to the model."""
        self._seen += score.seen

    @property
    def seconds(self) -> float:
        """Since the start, everything counted."""
        return time.perf_counter() - self.started

    @property
    def per_second(self) -> float:
        """Pictures or tokens in a second of this lap."""
        return self._seen / max(time.perf_counter() - self._lap, 1e-9)
