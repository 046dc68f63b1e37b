"""The boxes of the page: each operation that computed something, with its shapes, a row of its numbers, and its backward."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.inspect.visualize.floors import role_of
from badak.inspect.visualize.groups import gates, moves, rotations
from badak.inspect.visualize.layers import Layers
from badak.inspect.visualize.numbers import first, floats, short
from badak.inspect.visualize.sequences import Sequence, reads
from badak.inspect.visualize.steps import PAIRS, Row, backward_steps, forward_steps, names_of
from badak.inspect.visualize.stream import Stream
from badak.inspect.visualize.trace import Ran, Trace, norm_of, through
from badak.ops.conv import Conv

MOST = 320  # boxes of a page


class Boxes:
    """Which runs are boxes (`number` of one, None for what is left out), and all of them as the record has them."""

    def __init__(self, trace: Trace, ends: list[Ran], sequences: list[Sequence], streams: list[Stream], layers: Layers, place: int):
        """ends: what the run was made for, its answer and its loss; place: the token whose numbers are shown."""
        self._sequences, self._layers, self._place = sequences, layers, place
        needed = {run.number for end in ends for run in end.inside()}
        every = [run for run in trace.runs if run.number in needed and run.live and not run.moves and run.output.dtype.kind in "fV"]
        self.runs = _fitting(every, layers)
        self.left_out = len(every) - len(self.runs)
        self._numbers = {run.number: i for i, run in enumerate(self.runs)}
        self._parts, self._residual = _parts(streams)
        self._before = {run.number for stream in streams for run in stream.states[0].made.inside()}
        self._first = min((stream.states[0].made.number for stream in streams), default=-1)
        self._losses = {run.number for run in every if role_of(run.op) == "loss"}
        self._roles = rotations(every) | gates(every)
        self._tables = {run.parameters[0] for run in every if role_of(run.op) == "embedding"} - {None}

    def number(self, run: Ran | None) -> int | None:
        """The box that computed what a run gave."""
        made = through(run)
        return None if made is None else self._numbers.get(made.number)

    def records(self) -> list[dict[str, Any]]:
        """The boxes, in the order in which they ran."""
        order = {run.number: i for i, run in enumerate(sorted((r for r in self.runs if r.order >= 0), key=lambda r: r.order))}
        return [self._record(run, order.get(run.number)) for run in self.runs]

    def _record(self, run: Ran, order: int | None) -> dict[str, Any]:
        sequence = reads(run, self._sequences)
        length = self._sequences[sequence].length if sequence is not None and self._sequences else 0
        place = min(self._place, length - 1) if length else 0
        names = names_of(run)
        find = row_at
        if run.op is Conv:
            place, length, find = _patch(run, place, length), _patches(run), row_of_channels
        dx = [None if dx is None or dx.array is None else find(dx.array, place, length) for dx in run.dxs]
        dy = run.dys[0] if run.dys is not None else None
        y = find(run.output, place, length)
        x = _rows(run, place, length, find)
        role = self._role(run)
        came = None if dy is None else find(dy, place, length)
        row = Row(run, x, np.zeros(0) if y is None else y, came, dx, place, role)
        known = y is not None
        inputs = [
            self._input(name, run, i, row) for i, name in enumerate(names) if i < len(run.inputs) and run.inputs[i] is not None
        ]
        return {
            "kind": run.op.__name__,
            "path": run.path,
            "layer": self._layers.of(run),
            "part": self._part(run),
            "role": role,
            "sequence": sequence if known else None,
            "place": place if known else None,
            "inputs": inputs,
            "output": {"shape": list(run.output.shape), "row": first(row.y), "norm": short(norm_of(run.output))},
            "settings": {
                name: str(v) if type(v) is float and not math.isfinite(v) else v
                for name, v in run.attributes.items()
                if type(v) in (str, bool, int, float)
            },
            "sums": "",
            "steps": forward_steps(row) if known else [],
            "back": None if order is None else self._back(run, row, names, order, dy),
        }

    def _input(self, name: str, run: Ran, i: int, row: Row) -> dict[str, Any]:
        x, shown = run.inputs[i], row.x[i]
        assert x is not None
        return {
            "name": name, "box": self.number(run.sources[i]), "parameter": run.parameters[i] or None, "shape": list(x.shape),
            "row": [] if shown is None else first(shown), "norm": short(norm_of(x)) if x.dtype.kind in "fV" else None,
            "moved": moves(run.sources[i]), "tied": run.op.__name__ != "Embedding" and run.parameters[i] in self._tables,
        }  # fmt: skip

    def _role(self, run: Ran) -> str:
        return "residual" if run.number in self._residual else self._roles.get(run.number, role_of(run.op))

    def _back(self, run: Ran, row: Row, names: list[str], order: int, dy: np.ndarray | None) -> dict[str, Any]:
        goes = []
        for name, dx, at, source, parameter in zip(names, run.dxs, row.dx, run.sources, run.parameters):
            if dx is not None:
                shown = first(dx.start) if parameter else [] if at is None else first(at)
                to = {"to": name, "box": self.number(source), "parameter": parameter or None}
                goes.append({**to, "row": shown, "norm": short(dx.norm)})
        came = {"row": [] if row.dy is None else first(row.dy), "norm": None if dy is None else short(norm_of(dy))}
        return {"order": order, "came": came, "steps": backward_steps(row), "goes": goes}

    def _part(self, run: Ran) -> str:
        if run.number in self._losses:
            return "loss"
        found = self._parts.get(run.number)
        if found is not None:
            return found
        if not self._parts:
            return "embedding" if role_of(run.op) == "embedding" else "other"
        return "embedding" if run.number in self._before else "output" if run.number > self._first else "other"


def _fitting(runs: list[Ran], layers: Layers) -> list[Ran]:
    """As many as a page takes: of a deep model the first layers and the last, and what stands around them."""
    if len(runs) <= MOST:
        return runs
    numbers = [layers.of(run) for run in runs]
    count = len(layers.list)
    for kept in range(count, -1, -1):
        middle = range((kept + 1) // 2, count - kept // 2)
        found = [run for run, layer in zip(runs, numbers) if layer is None or layer not in middle]
        if len(found) <= MOST:
            return found
    return [*found[: MOST // 2], *found[-MOST // 2 :]]


def _parts(streams: list[Stream]) -> tuple[dict[int, str], set[int]]:
    """(run -> which part of a layer it belongs to, the residual sums)."""
    parts: dict[int, str] = {}
    sums: set[int] = set()
    for stream in streams:
        for state in stream.states[1:]:
            parts |= {number: parts.get(number, state.part) for number in state.cone}
            assert state.sum is not None
            norm = {run.number for run in state.made.inside() if run.number > state.sum.number}  # of the sum
            parts |= {number: parts.get(number, state.part) for number in norm | {state.made.number}}
            sums.add(state.sum.number)
    return parts, sums


Finder = Callable[[np.ndarray, int, int], np.ndarray | None]


def _rows(run: Ran, place: int, length: int, find: Finder) -> list[np.ndarray | None]:
    """The row of each input; of a parameter the first, but where it stands next to the output, number by number."""
    found: list[np.ndarray | None] = []
    for x, name in zip(run.inputs, run.parameters):
        if x is None or x.dtype.kind not in "fV":
            found.append(None)
        elif run.op.__name__ in PAIRS and x.size > 1:
            found.append(find(np.broadcast_to(x, run.output.shape), place, length))
        elif name:
            found.append(floats(x.reshape(-1, x.shape[-1])[0]) if x.ndim and x.size else floats(x.reshape(-1)))
        else:
            found.append(find(x, place, length))
    return found


def row_at(x: np.ndarray, place: int, length: int) -> np.ndarray | None:
    """The row of one token in an activation of one row of a batch; of heads the first; None where it has none."""
    if x.size == x.shape[-1] if x.ndim else True:
        return floats(x.reshape(-1))
    if not x.size:
        return None
    lead = [n for n in x.shape[:-1] if n != 1]
    if len(lead) == 1 and lead[0] in (length, length - 1):
        return floats(x.reshape(lead[0], x.shape[-1])[place]) if place < lead[0] else None
    return floats(x.reshape(-1, length, x.shape[-1])[0, place]) if x.shape[-2] == length else None


# ---------------------------------------------------------------- pictures: (B, C, *places)


def _patches(run: Ran) -> int:
    """How many places a convolution has."""
    return int(np.prod(run.output.shape[2:]))


def _patch(run: Ran, place: int, length: int) -> int:
    """The place of a convolution that a token stands for: a CLS token may stand before them."""
    patches = _patches(run)
    return min(max(place - max(length - patches, 0), 0), max(patches - 1, 0))


def row_of_channels(x: np.ndarray, place: int, length: int) -> np.ndarray | None:
    """All channels of one place."""
    return floats(x[0].reshape(x.shape[1], -1)[:, place]) if int(np.prod(x.shape[2:])) == length and x.size else None
