"""One run, kept: every operation with what it was given and gave, what made that, and what the backward brought.

An observer of events (`core/events.py`) writes it down next to the run, which computes the same bits with it and without it.
"""

from typing import NamedTuple

import numpy as np

from badak.inspect.audit.graph import Graph
from badak.inspect.audit.graph import Ran as Ran
from badak.inspect.audit.graph import origins as origins
from badak.inspect.audit.graph import readers as readers
from badak.inspect.audit.graph import through as through
from badak.inspect.audit.preserve_state import Kept
from badak.inspect.visualize.numbers import squares
from badak.nn import Module


class Brought(NamedTuple):
    """A gradient that a backward gave: whole for activations; of a parameter's, which may be large, the first row."""

    norm: float
    shape: tuple[int, ...]
    array: np.ndarray | None
    start: np.ndarray


class Trace(Graph):
    """`with Trace(model) as trace: y = model(...)`; a backward within the block is seen, too. `runs`: the operations, in order."""

    copies = True

    def __init__(self, model: Module, kept: Kept | None = None):
        """kept: who must know before memory is written."""
        super().__init__(model)
        self._kept = kept
        self._nodes: dict[int, Ran] = {}
        self._back = 0

    def noticed(self, run: Ran, outputs: list) -> None:
        for y in outputs:
            if y._node is not None:
                self._nodes[id(y._node)] = run

    def on_call(self, effect, args, kwargs, proceed):
        if self._kept is not None:
            self._kept.about_to(effect, args, kwargs)
        return super().on_call(effect, args, kwargs, proceed)

    def on_backward(self, node, dys, dxs) -> None:
        run = self._nodes.get(id(node))
        if run is None or run.dys is not None:
            return
        run.order, self._back = self._back, self._back + 1
        run.dys = [None if dy is None else dy.copy() for dy in dys]
        run.dxs = [None if dx is None else _brought(dx, name is None) for dx, name in zip(dxs, run.parameters)]


def _brought(dx: np.ndarray, whole: bool) -> Brought:
    start = dx.reshape(-1, dx.shape[-1])[0] if dx.ndim and dx.size else dx.reshape(-1)
    return Brought(norm_of(dx), dx.shape, dx.copy() if whole else None, start[:8].copy())


def norm_of(x: np.ndarray) -> float:
    """The length of all numbers of an array as one vector."""
    return squares(x) ** 0.5
