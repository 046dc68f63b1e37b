"""One run, kept: every operation with what it was given and gave, what made that, and what the backward brought.

An observer of effects (`graph/effects.py`) writes it down beside the run, which computes the same bits with it and without it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from badak.audit.keep import Kept
from badak.audit.watch import Watch
from badak.graph import Op
from badak.look.numbers import squares
from badak.nn import Module
from badak.ops.cast import Cast


class Brought(NamedTuple):
    """A gradient that a backward gave: whole for activations; of a parameter's, which may be large, the first row."""

    norm: float
    shape: tuple[int, ...]
    array: np.ndarray | None
    start: np.ndarray


@dataclass(eq=False)
class Ran:
    """One operation that ran. `sources` are the operations that made its inputs, None for parameters and what was given."""

    number: int
    op: type[Op]
    path: str
    calls: tuple[int, ...]  # of modules, in which it ran, the outermost first
    inputs: list[np.ndarray | None]
    sources: list["Ran | None"]
    slots: list[int]  # which output of its source each input is
    attributes: dict[str, Any]
    outputs: list[np.ndarray]
    parameters: list[str | None]  # names of the inputs that are parameters, or parts of one
    live: bool  # whether parameters had a part in it
    dys: list[np.ndarray | None] | None = None  # what came from above
    dxs: list[Brought | None] = field(default_factory=list)
    order: int = -1  # in the backward

    @property
    def output(self) -> np.ndarray:
        return self.outputs[0]

    @property
    def moves(self) -> bool:
        """Whether it only says where numbers stand, or in which precision: pictures of a model leave it out."""
        return self.op.view or self.op is Cast or self.op.__name__ in _MOVES

    def inside(self) -> list["Ran"]:
        """It and all that it depends on, in order."""
        seen, pending = {self.number: self}, [self]
        while pending:
            for source in pending.pop().sources:
                if source is not None and source.number not in seen:
                    seen[source.number] = source
                    pending.append(source)
        return [seen[number] for number in sorted(seen)]


_MOVES = {"Reshape", "Clone", "Replaced"}
_NOBODY: tuple[Ran | None, int] = (None, 0)


class Trace(Watch):
    """`with Trace(model) as trace: y = model(...)`; a backward within the block is seen, too. `runs`: the operations, in order."""

    acts = True  # what is compiled runs as it is written

    def __init__(self, model: Module, kept: Kept | None = None):
        """kept: who must know before memory is written."""
        super().__init__(model, facts=True)
        self._kept = kept
        self.runs: list[Ran] = []
        self._made: dict[int, tuple[Ran, int]] = {}  # id of an array -> what made its values, and as which output
        self._nodes: dict[int, Ran] = {}
        self._alive: list[Any] = []  # so that no id is given twice
        self._names = {id(p._array): name for name, p in model.named_parameters()}
        self._back = 0

    def maker(self, array: np.ndarray) -> Ran | None:
        """The operation that made an array."""
        return self._made.get(id(array), _NOBODY)[0]

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        super().ran(op, saved, inputs, arrays, attributes, outputs)
        made = [_NOBODY if x is None else self._made.get(id(x), _NOBODY) for x in arrays]
        names = [None if x is None else self._names.get(id(x)) for x in arrays]
        part = names[0] if (op.view or op is Cast) and names else None  # of a parameter
        run = Ran(
            len(self.runs),
            op,
            self._stack[-1].path if self._stack else "",
            tuple(call.index for call in self._stack),
            [x if x is None or name else x.copy() for x, name in zip(arrays, names)],
            [source for source, _ in made],
            [slot for _, slot in made],
            attributes,
            [y._array if part else y._array.copy() for y in outputs],
            names,
            any(names) or any(source is not None and source.live for source, _ in made),
        )
        self._alive.append((arrays, outputs, [y._node for y in outputs]))
        for slot, y in enumerate(outputs):
            if part:
                self._names[id(y._array)] = part
            else:
                self._made[id(y._array)] = run, slot
            if y._node is not None:
                self._nodes[id(y._node)] = run
        if not part:
            self.runs.append(run)

    def call(self, effect, args, kwargs):
        """A write gives a tensor's memory other values: those of what is written there."""
        if self._kept is not None:
            self._kept.about_to(effect, args, kwargs)
        result = super().call(effect, args, kwargs)
        if effect.kind == "writes":
            written, *given = (self._made.get(id(getattr(x, "_array", None))) for x in args)
            made = next((each for each in given if each is not None), None)
            if made is not None:
                self._made[id(args[0]._array)] = made
            elif written is not None:
                self._made.pop(id(args[0]._array))
        return result

    def went_back(self, node, dys, dxs) -> None:
        run = self._nodes.get(id(node))
        if run is None or run.dys is not None:
            return
        run.order, self._back = self._back, self._back + 1
        run.dys = [None if dy is None else dy.copy() for dy in dys]
        run.dxs = [None if dx is None else _brought(dx, name is None) for dx, name in zip(dxs, run.parameters)]

    def consumers(self) -> dict[int, list[Ran]]:
        """Number of a run -> those that read what it made."""
        found: dict[int, list[Ran]] = {}
        for run in self.runs:
            for source in run.sources:
                if source is not None:
                    found.setdefault(source.number, []).append(run)
        return found


def _brought(dx: np.ndarray, whole: bool) -> Brought:
    start = dx.reshape(-1, dx.shape[-1])[0] if dx.ndim and dx.size else dx.reshape(-1)
    return Brought(norm_of(dx), dx.shape, dx.copy() if whole else None, start[:8].copy())


def norm_of(x: np.ndarray) -> float:
    """The length of all numbers of an array as one vector."""
    return squares(x) ** 0.5


def through(run: Ran | None) -> Ran | None:
    """The operation that computed what this one only moves."""
    while run is not None and run.moves and run.sources and run.sources[0] is not None:
        run = run.sources[0]
    return run


def readers(run: Ran, consumers: dict[int, list[Ran]]) -> Iterator[Ran]:
    """The operations that compute with what a run made, moved or not."""
    for each in consumers.get(run.number, []):
        if each.moves:
            yield from readers(each, consumers)
        else:
            yield each
