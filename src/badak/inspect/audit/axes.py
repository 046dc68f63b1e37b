"""Which axis of a text, or of a series of numbers, is the batch: (B, T), or (T, B)."""

from collections.abc import Callable

import numpy as np

from badak.inspect.audit.batch import Batch
from badak.inspect.audit.compare import same
from badak.inspect.audit.graph import Graph
from badak.inspect.audit.kind import one_further
from badak.inspect.audit.watch import Call, Watch


def batch_axis(
    batch: Batch, name: str, watch: Graph, labels: list[np.ndarray], pads: list[int], again: Callable[[np.ndarray], Watch | None]
) -> int:
    """0 or 1 for the text or series `name`, by what shows it first: labels one further along the other axis, lengths of its rows,
    padding at their ends, answers of whole rows, layers with batch_first, the sizes of attentions, answers for fewer places, and
    last which axis keeps apart what stands along it.

    again: a forward with another text; None where it fails.
    """
    x = batch.leaves[name].array
    axes = x.shape[:2]
    beside = [leaf.array for n, leaf in batch.leaves.items() if n != name and leaf.array.dtype.kind == x.dtype.kind] + labels
    shows: tuple[Callable[[int], bool], ...] = (
        lambda axis: any(one_further(y, x, axis) for y in beside),
        lambda axis: any(lengths_of(leaf.array, axes[axis], axes[1 - axis]) for leaf in batch.leaves.values()),
        lambda axis: x.ndim == 2 and any(_ends(x if axis == 0 else x.T, pad) for pad in pads),
    )
    for shown in shows:
        if shown(0) != shown(1):
            return int(shown(1))
    whole = {y.shape[0] for y in watch.outputs if y.ndim > 0 and y.dtype.kind == "f" and len({*axes} & {*y.shape}) == 1} & {*axes}
    if axes[0] != axes[1] and len(whole) == 1:
        return axes.index(whole.pop())
    given = ((call, call.inputs[0].shape) for call in watch.calls if call.inputs and axes[0] != axes[1])
    said = {getattr(call.module, "batch_first", None) for call, shape in given if len(shape) == 3 and shape[:2] == axes}
    if said & {True, False}:
        return int(True not in said)  # where both are, the text is (B, T), and the others count along the wrong axis
    sizes = {seen.keep.shape[-1] for seen in watch.attentions if seen.keep.shape[-1] == seen.keep.shape[-2]}
    if axes[0] != axes[1] and sizes & set(axes):
        return int(axes[1] not in sizes)
    fewer = {y.shape.index(n) for y in watch.outputs if y.ndim == 3 and y.dtype.kind == "f" for n in axes if _alone(y, n, axes)}
    if axes[0] != axes[1] and len(fewer) == 1 and fewer < {0, 1}:
        return fewer.pop()
    return int(min(axes) > 1 and _apart(x, 1, watch, again) and not _apart(x, 0, watch, again))


def lengths_of(x: np.ndarray, rows: int, longest: int) -> bool:
    """Whether integers say how long each of the rows is."""
    return x.shape == (rows,) and x.dtype.kind in "iu" and rows != longest and x.max() == longest > x.min() > 0


def _alone(y: np.ndarray, n: int, axes: tuple) -> bool:
    """Whether an answer (B, U, C), or (U, B, C), keeps one axis of a series where it was, and has fewer of the other."""
    return n in y.shape[:2] and y.shape[:2].index(n) == axes.index(n) and len({*axes} & {*y.shape}) == 1


def _ends(rows: np.ndarray, pad: int) -> bool:
    """Whether an id fills rows (B, T) up, at their ends or beginnings, to different lengths."""
    filled = rows == pad
    count = filled.sum(axis=1)
    at = np.arange(rows.shape[1])
    behind, before = at >= rows.shape[1] - count[:, None], at < count[:, None]
    return bool(len(set(count.tolist())) > 1 and (count < len(at)).all() and ((filled == behind).all() or (filled == before).all()))


def _apart(x: np.ndarray, axis: int, watch: Watch, again: Callable[[np.ndarray], Watch | None]) -> bool:
    """Whether what stands at one place of an axis of the text gives the same next to others. Where nothing else changes, nothing is
    shown."""
    at = (slice(None),) * axis + (x.shape[axis] // 2,)
    text = x.max() - x + x.min()
    text[at] = x[at]
    other = again(text)
    if other is None:
        return False
    this, that = (_last(each, x.shape[:2]) for each in (watch, other))
    if this is None or that is None or this.shape != that.shape:
        return False
    return same(this[at], that[at]) and not same(this, that)


def _last(watch: Watch, shape: tuple) -> np.ndarray | None:
    """The last numbers for every place of a text."""
    calls: list[Call] = sorted(watch.calls, key=lambda call: -call.ended)
    made = [*watch.outputs, *(y for call in calls for y in call.outputs)]
    return next((y for y in made if y.ndim > 2 and y.dtype.kind == "f" and y.shape[:2] == shape), None)
