"""The steps of a program that writes its weights itself, behind backward(), and has no optimizer."""

from collections import defaultdict
from typing import Any

import numpy as np

from badak.inspect.doctor.facts import Watch
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import line, living
from badak.optim import Optimizer
from badak.tensor import Tensor

LEAST = 2  # tensors that are written: one alone may be a picture that is made


class ByHand(Optimizer):
    """Stands for the optimizer in what is noted of such a step."""

    def __init__(self) -> None:
        self.defaults, self.state = {}, defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = [{"params": []}]


class Steps:
    """One step: from the first write to a weight whose gradient waits, until all of them are written, or the next forward."""

    def __init__(self) -> None:
        self.optimizer: ByHand | None = None
        self.never = False  # whether the program has an optimizer
        self.left: dict[int, Any] = {}  # weights that are still to be written
        self.before: dict[int, np.ndarray] = {}
        self.gradients: dict[int, Tensor] = {}

    @property
    def open(self) -> bool:
        return bool(self.gradients)

    def begins(self, watch: Watch, x: Tensor) -> bool:
        """Whether this write, which is about to be made, is one to a weight whose gradient waits for it."""
        if self.never or watch._stepping:
            return False
        waiting = watch._waiting
        leaf = waiting.get(id(x))
        leaf = next((p for p in waiting.values() if memory(p._array) == memory(x._array)), None) if leaf is None else leaf
        if leaf is None or leaf.shape != x.shape or self.belongs(watch, leaf):
            return False
        if not self.open:
            assert self.optimizer is not None
            held = self.optimizer.param_groups[0]["params"]
            held += [p for p in waiting.values() if not any(p is other for other in held)]
            self.left = {**waiting}
            self.before = {key: p._array.copy() for key, p in waiting.items()} if watch.looks_closely else {}
            self.gradients = {
                key: Tensor._of(p._grad.to_dense()._array.copy()) for key, p in waiting.items() if p._grad is not None
            }
            watch.open.place = line()
        self.left.pop(id(leaf), None)
        return self.open

    def belongs(self, watch: Watch, leaf: Any) -> bool:
        """Whether an optimizer moves this weight, or it is no weight: asked once."""
        if self.optimizer is None:
            held = (p for x in living(Optimizer) if "param_groups" in vars(x) for p in x._parameters())
            self.never = bool(watch.optimizers) or len(watch._waiting) < LEAST or any(p is leaf for p in held)
            self.optimizer = None if self.never else ByHand()
        return self.never

    def ends(self, watch: Watch) -> None:
        """The step is over."""
        assert self.optimizer is not None
        before, gradients = self.before, self.gradients
        self.before, self.gradients, self.left = {}, {}, {}
        watch._after(self.optimizer, before, gradients)
