"""Order: a model that does not know where a token stands gives the same for the tokens in another order."""

from typing import Any

import numpy as np

from badak.audit.batch import Batch
from badak.audit.compare import along, change
from badak.audit.report import Finding
from badak.audit.subject import Subject, Unasked
from badak.nn.conv import Conv2d

ALIKE = 1e-4
FIX = "add positions to the tokens: nn.Embedding(context, C)(arange(T)), nn.PositionalEncoding, or rotary attention"


class Order:
    """Swap tokens, and see whether the outputs are only swapped (or, of the whole text, the same)."""

    name = "order"

    def ask(self, subject: Subject) -> list[Finding]:
        idle = idle_positions(subject)
        if idle:
            cause = f"{idle} is there for positions and adds none: it gives what it was given, or the same everywhere"
            return [Finding("order", idle, cause, FIX)]
        name = subject.kind.source or subject.kind.text
        shape = subject.batch.leaves[name].array.shape
        if len(shape) < 2 or (len(shape) != 4 and subject.length(name) < 4):
            raise Unasked("the text has fewer than four positions")
        if subject.batch.leaves[name].integer:
            places = movable(subject, name)
            if len(places) < 2:
                raise Unasked("no two tokens could be swapped")
            batch, move = swapped(subject, name, places)
        else:
            batch, move = halves(subject, name)
        outputs = subject.plain(batch)
        if not self.alike(subject, name, outputs, move):
            return []
        path = where_positions_are_lost(subject)
        return [
            Finding(
                "order",
                path,
                f"with {name} in another order the outputs are the same: the model does not know where a token stands",
                FIX,
                {"places moved": int((move != np.arange(len(move))).sum()), "positions": len(move)},
            )
        ]

    def alike(self, subject: Subject, name: str, outputs: list[np.ndarray], move: np.ndarray) -> bool:
        """Whether every output is the old one, moved as the tokens were (after the last move, in a causal model)."""
        looked = False
        for a, b in zip(subject.reference.outputs, outputs):
            if a.ndim == 0 or a.dtype.kind != "f" or a.shape != b.shape:
                continue
            looked = True
            if not any(change(x, y) < ALIKE for x, y in self.views(subject, name, a, b, move)):
                return False
        return looked

    def views(self, subject: Subject, name: str, a: np.ndarray, b: np.ndarray, move: np.ndarray):
        own = name == subject.kind.text
        places = list(along(a.shape, len(move), subject.rows)) if own else []
        if not places or subject.rows == len(move):  # as many rows as places: which is which cannot be told
            yield a, b
        for shape, axis in places:
            x, y = a.reshape(shape), b.reshape(shape)
            if subject.causal:
                after = (slice(None),) * axis + (
                    slice(int(np.flatnonzero(move != np.arange(len(move)))[-1]) + 1, None),
                )
                yield x[after], y[after]
            else:
                yield np.take(x, move, axis), y


def movable(subject: Subject, name: str) -> np.ndarray:
    """Places whose tokens can be swapped: none of padding, the same in all that stands beside the text."""
    ids = subject.ids(name)
    fine = np.ones(ids.shape[1], bool)
    if name in subject.padding:
        fine &= ~subject.padding[name].any(axis=0)
    fine[0] = False
    if subject.causal and name == subject.kind.text:
        fine[-1] = False
    beside = [
        leaf.array
        for n, leaf in subject.batch.leaves.items()
        if n not in subject.texts and leaf.array.shape == ids.shape
    ]
    if beside:
        signs = np.stack([x.T for x in beside], axis=1).reshape(ids.shape[1], -1)
        same = [(signs == sign).all(axis=1) & fine for sign in signs]
        if not subject.causal:
            fine = max(same, key=np.sum)
    fine &= (ids != np.roll(ids, 1, axis=1)).any(axis=0) | (ids[:1] != ids).any(axis=0) | True
    return np.flatnonzero(fine)


def swapped(subject: Subject, name: str, places: np.ndarray) -> tuple[Batch, np.ndarray]:
    """The batch with its tokens moved in a circle, and where each came from."""
    ids = subject.ids(name)
    if subject.causal and name == subject.kind.text:
        places = places[: max(2, len(places) // 2)]
    move = np.arange(ids.shape[1])
    move[places] = np.roll(places, 1)
    if not (ids[:, move] != ids).any():
        raise Unasked("all tokens are the same")
    return subject.batch.with_({name: subject.placed(ids[:, move])}), move


def patch_of(model: Any) -> int:
    """How high the patches are that a model cuts pictures into by a convolution, whose steps are as long as it is; else 1."""
    first = next((m for m in model.modules() if isinstance(m, Conv2d)), None)
    return int(first.stride[0]) if first is not None and tuple(first.stride) == tuple(first.kernel_size) else 1


def halves(subject: Subject, name: str) -> tuple[Batch, np.ndarray]:
    """Pictures with their lower half above the upper one: the rows, and the patches, that are tokens stay whole."""
    x = subject.batch.leaves[name].array
    axis = 1 if x.ndim == 3 else 2 if x.ndim == 4 else None
    high = patch_of(subject.model) if axis == 2 else 1
    if axis is None or x.shape[axis] % (2 if high == 1 else high) or x.shape[axis] < 2 * high:
        raise Unasked("the picture has no two halves")
    move = np.roll(np.arange(x.shape[axis]), x.shape[axis] // high // 2 * high)
    return subject.batch.with_({name: np.take(x, move, axis)}), move


def idle_positions(subject: Subject) -> str:
    """A module that is named for positions and gives what it was given, or the same at each of them; "" where there is none."""
    for call in subject.reference.calls:
        name = call.path.lower().rpartition(".")[2] + " " + type(call.module).__name__.lower()
        if not ("pos" in name or "wpe" in name) or "drop" in name or "identity" in name or len(call.outputs) != 1:
            continue
        y = call.outputs[0]
        if y.dtype.kind != "f" or y.ndim < 2:
            continue
        unchanged = bool(call.inputs) and call.inputs[0].shape == y.shape and np.array_equal(call.inputs[0], y)
        axis = 0 if y.ndim == 2 else 1 - subject.batch.batch_axis
        flat = y.shape[axis] > 1 and not np.any(y - np.take(y, [0], axis))
        if unchanged or flat:
            return call.path
    return ""


def where_positions_are_lost(subject: Subject) -> str:
    """The module for positions, if there is one, else the one that holds the tokens' table."""
    for call in subject.reference.calls:
        if "pos" in call.path.lower().rpartition(".")[2]:
            return call.path
    text = [x.path for x in subject.reference.lookups if subject.text_of(x.indices)]
    return text[0].rpartition(".")[0] if text else ""
