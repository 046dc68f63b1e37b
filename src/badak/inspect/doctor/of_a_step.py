"""What the watch knows of the step that is under way, and forgets with it."""

from typing import Any

import numpy as np

from badak.inspect.doctor import composed
from badak.inspect.doctor.facts import Divergence
from badak.nn import Module
from badak.tensor import Tensor


class OfAStep:
    """A part of the watch."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: dict[int, bool] = {}  # modules (their id): whether something should go around them
        before = {*vars(self)}
        self._losses: dict[int, tuple[Any, Any]] = {}  # a node, which is kept so that no other gets its id, and the loss
        self.across: dict[int, tuple[str, int, np.ndarray]] = {}  # what softmax made: line, axis, weights
        self.normed: dict[int, tuple[Any, str, int, tuple[int, ...]]] = {}  # what was made of length 1: line, along which axis
        self.flat: dict[int, tuple[int, ...]] = {}  # (X, Y, V) laid flat: the node -> (X, Y)
        self.laid: dict[int, tuple[np.ndarray, tuple[int, ...]]] = {}  # memory of labels: they, and what they were
        self.told: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # memory of a comparison with data: it, and the data
        self.times: dict[int, tuple] = {}  # weights times values, one by one, by their node
        self.computed: dict[int, Tensor] = {}  # what models gave, without its graph, by its memory
        self.answers: dict[int, tuple[Tensor, Module]] = {}  # what models gave in a test, by its memory
        self.squashed: set[int] = set()  # those of them that a sigmoid made shares of
        self.guesses: dict[int, tuple[Any, int]] = {}  # the largest of answers in a test, by its memory: it, the model
        self.pairs: dict[int, composed.Pair] = {}  # answers and labels of this step, by the node of what they differ by
        self.sums: list[composed.Sum] = []
        self.masked: dict[int, Any] = {}  # scores of attention that zeros and ones were added to, by their node
        self.parts_of: dict[int, Any] = {}  # noise, and data, times a share, by its memory, see mixtures.py
        self.mixed: dict[int, tuple] = {}  # sums of both, by their memory
        self.spreads: dict[int, tuple[Any, str]] = {}  # l, by its node, where noise is multiplied by exp(l): exp's node, the line
        self.divergences: dict[int, Divergence] = {}  # by their node
        self.masked_from: dict[int, np.ndarray] = {}  # memory of rows that a mask picked: what from
        self._passed: set[int] = set()  # numbers that a gradient has gone through, by their node
        self.parts_given: dict[int, list[np.ndarray | None]] = {}  # numbers of data that a part is given, call by call
        self._held_now: list[np.ndarray] = []  # so that no other gets their memory in this step
        self.weighed: dict[int, tuple[Any, str, int]] = {}  # logarithms of probabilities times data: line, sign
        self.parts: dict[int, tuple[Any, str]] = {}  # channels that are cut into parts, by their node: it, its line
        self.addends: dict[int, tuple[Any, str, float]] = {}  # sums with what was detached, by their node: line, its mean
        self.loosened: dict[int, np.ndarray] = {}  # what was detached, by its memory
        self.asked: dict[int, tuple[Any, Any]] = {}  # what answers differ by from data, by its node: it, and its loss
        self.likely: dict[
            int, tuple[Any, str, int, list]
        ] = {}  # logarithms of how likely data is, or what was made of it, and shares
        # of what overlaps, by their node: it, its line, -1 where the sign is turned, where the gradient is noted
        self.log_shares: dict[int, tuple[Any, Any, np.ndarray]] = {}  # logarithms of shares, by their node: it, along which axis
        # probabilities times zeros and ones, by their node; and numbers that are none: what made them
        self.overlaps: dict[int, tuple[Any, Any]] = {}
        self.gave: dict[int, tuple[Any, str, int]] = {}  # numbers of rows that a model gave next to others: line, which it was
        self._went: set[int] = set()  # of those, what a gradient has gone through
        self._plain: set[int] = set()  # nodes that what backward() is called of is a sum of
        self.around: dict[int, tuple] = {}  # blocks that nothing goes around so far, see around.py
        self._kept = [value for name, value in vars(self).items() if name not in before]

    def forget(self) -> None:
        for each in self._kept:
            each.clear()
