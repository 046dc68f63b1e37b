"""What a classifier takes for what: how many texts or images of each class it gives each class, and what follows from that."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from badak.core.errors import tr
from badak.io.errors import line

BINS = 15  # as most who give a calibration error do


@dataclass(frozen=True)
class Confusion:
    """counts[i, j]: how many examples of class i are given class j, int64 (K, K); names: what the classes are called.

        precision   of all that is given class j, the part that is of it:  counts[j, j] / sum_i counts[i, j]
        recall      of all that is of class i, the part that is given it:  counts[i, i] / sum_j counts[i, j]
        F1          2 precision recall / (precision + recall), as counts 2 c[i, i] / (sum_j c[i, j] + sum_j c[j, i])

    A division by zero is 0, as in scikit-learn. `macro` is the mean over the classes that an example is of, or is given.

    bins[:, b]: how many examples got a probability in the b-th part of 0 to 1 for the class that they are given, the sum of those
    probabilities, and how many were right, (3, BINS). Expected calibration error, after Guo et al. 2017 (arXiv 1706.04599):

        ECE = sum_b n_b / N |right_b / n_b - probability_b / n_b|
    """

    counts: np.ndarray
    names: Sequence[str]
    bins: np.ndarray | None = None

    @classmethod
    def of(cls, true: np.ndarray, given: np.ndarray, names: Sequence[str], chances: np.ndarray | None = None) -> "Confusion":
        """From the class of each example, the one that it is given, integers (N,), and its probability, (N,)."""
        classes = len(names)
        pairs = np.bincount(true.astype(np.int64) * classes + given, minlength=classes * classes)
        bins = None
        if chances is not None:
            chances = np.nan_to_num(chances.astype(np.float64))  # of a model whose numbers are none
            at = np.clip(np.ceil(chances * BINS).astype(int) - 1, 0, BINS - 1)  # (0, 1/B], (1/B, 2/B], ...
            bins = np.stack([np.bincount(at, weights, BINS) for weights in (None, chances, true == given)])
        return cls(pairs.reshape(classes, classes), names, bins)

    @property
    def calibration_error(self) -> float:
        """How far the model's probabilities are from how often it is right, 0 to 1; NaN where they are not known."""
        if self.bins is None:
            return float("nan")
        count, chance, right = self.bins
        return float(np.abs(right - chance).sum() / count.sum())

    @cached_property
    def support(self) -> np.ndarray:
        """How many examples are of each class, (K,)."""
        return self.counts.sum(axis=1)

    @cached_property
    def given(self) -> np.ndarray:
        """How many examples are given each class, (K,)."""
        return self.counts.sum(axis=0)

    @property
    def precision(self) -> np.ndarray:
        """Of each class, (K,)."""
        return self._share(self.given)

    @property
    def recall(self) -> np.ndarray:
        """Of each class, (K,)."""
        return self._share(self.support)

    @property
    def f1(self) -> np.ndarray:
        """Of each class, (K,)."""
        return self._share((self.support + self.given) / 2)

    def macro(self, figure: np.ndarray) -> float:
        """The mean of a figure over the classes that are there; NaN where none is."""
        there = (self.support + self.given) > 0
        return float(figure[there].mean()) if there.any() else float("nan")

    def _share(self, whole: np.ndarray) -> np.ndarray:
        return np.where(whole > 0, np.diag(self.counts) / np.maximum(whole, 0.5), 0.0)

    def never(self) -> str:
        """Which classes are there and never given, in a sentence; "" where each is given some time."""
        missed = np.flatnonzero((self.support > 0) & (self.given == 0)).tolist()
        if not missed:
            return ""
        named = ", ".join(f"{line(self.names[at])} ({self.support[at]:,} of {self.support.sum():,})" for at in missed[:5])
        more = tr(" and {:,} more", len(missed) - 5) if len(missed) > 5 else ""
        return tr("{} of {} classes are never predicted: {}{}", len(missed), len(self.names), named, more)

    def mistakes(self, most: int = 10) -> list[tuple[str, str, int]]:
        """The commonest mistakes, as (class, class that is given instead, how many)."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        first = np.argsort(-wrong, axis=None, kind="stable")[:most]
        pairs = [divmod(int(at), len(self.names)) for at in first]
        return [(self.names[i], self.names[j], int(wrong[i, j])) for i, j in pairs if wrong[i, j]]
