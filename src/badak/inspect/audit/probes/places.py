"""Places that come back in another order: what a block adds to its stream is of other places than those that were read."""

from collections.abc import Iterator
from itertools import takewhile

import numpy as np

from badak.autograd import no_grad
from badak.core.errors import BadakError, tr
from badak.inspect.audit.graph import Graph, Ran, origins, summands_of
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Subject, tried
from badak.inspect.audit.watch import tensors_in
from badak.ops import norm
from badak.ops.along import Gather, TakeAlong
from badak.ops.arithmetic import Add, DivBy, Mul, Scale
from badak.ops.concat import Cat
from badak.ops.conv import Conv
from badak.ops.embedding import Embedding
from badak.ops.index import Select
from badak.ops.linear import AddMM, Linear
from badak.ops.rearrange import Flip
from badak.ops.select import Dropout
from badak.tensor import Tensor, apply

MAPS = (Linear, AddMM)
BY_PLACE = (norm.LayerNorm, norm.RMSNorm, Scale, DivBy, Dropout)
FIX = tr("put places back as they were taken: the permutation of the view turned over, as x.permute(0, 1, 3, 2, 4, 5)")


def exchanged(graph: Graph) -> Iterator[Finding]:
    """Sums of a stream and of what maps made of it, window by window or picture by picture, laid out in another order."""
    known: set[str] = set()
    for run in graph.runs:
        made = summands_of(run)
        if not made or run.output.ndim < 3:
            continue
        stream, branch = made
        if run.path in known or not branch.reads or (pair := maps_between(stream, branch)) is None:
            continue
        there, back = (replayed(*way) for way in pair)
        if there is None or back is None:
            continue
        moved = there[np.where(back < 0, 0, back)]
        wrong = (moved != np.arange(moved.size)) & (moved >= 0) & (back >= 0)
        if wrong.any():
            known.add(run.path)
            cause = tr("{} of {} places of the stream get what is made of another place: they come back in another order",
                       int(wrong.sum()), moved.size)  # fmt: skip
            yield Finding("heads", run.path, cause, FIX, {"places": int(wrong.sum()), "of": moved.size})


def patches(graph: Graph) -> Iterator[Finding]:
    """A picture put together of patches (B, N, P P C) whose places do not stand where they were."""
    pictures = {call.inputs[0].shape for call in graph.calls[:1] if call.inputs and call.inputs[0].ndim == 4}
    for x in tensors_in(graph.result):
        way = [*origins(graph.maker(x._array))]
        if not way or not any(x.ndim == 4 and x.shape[::2] == y[::2] and x.shape[3] == y[3] for y in pictures):
            continue
        run = way.pop()
        if run.op not in MAPS or run.output.ndim != 3 or not way:
            continue
        at = replayed([(each, 0) for each in way[::-1]], run.output.shape, last=False)
        B, N, width = run.output.shape
        high = int(np.sqrt(width // x.shape[1]))
        if at is None or high < 2 or high * high * x.shape[1] != width or N * high * high != x.shape[2] * x.shape[3]:
            continue
        grid = np.arange(B * N).reshape(B, 1, x.shape[2] // high, x.shape[3] // high).repeat(high, axis=2).repeat(high, axis=3)
        if not (at == grid).all():
            cause = tr("what has shape {} is put together to {}: patches come apart, or stand in another order", run.output.shape,
                       tuple(x.shape))  # fmt: skip
            yield Finding("heads", way[-1].path, cause, FIX)


def viewed(path: str, x: np.ndarray, y: np.ndarray, what: str, fix: str) -> Finding:
    """A view that takes one thing for another."""
    return Finding("heads", path, tr("what has shape {} is viewed as {}: {}", x.shape, y.shape, what), fix)


def torn(graph: Graph) -> Iterator[Finding]:
    """A view that takes one axis for another: pictures (B, C, H, W) as (B, N, C P P) whose vectors are no patches, and (..., T, C)
    as (..., C, T), whatever reads it then."""
    pictures = {call.inputs[0].shape for call in graph.calls[:1] if call.inputs and call.inputs[0].ndim == 4}
    known: set[int] = set()
    for reader in graph.runs:
        for y, run in zip(reader.inputs, reader.sources):
            if reader.moves or run is None or y is None or y.ndim not in (3, 4) or not run.reads or run.number in known:
                continue
            way = moved_by(run)
            if not way:
                continue
            known.add(run.number)
            x = way[0][0].inputs[0]
            assert x is not None
            if y.ndim == 3 and x.shape in pictures and cut_wrongly(way, x.shape, y.shape):
                yield viewed(way[-1][0].path, x, y, tr("its vectors are of no patches"), PATCHES)
                continue
            given = (each.inputs[0] for each, _ in way if not cut_beside(way))
            if (x := next((z for z in given if z is not None and turned_by_view(z, y, reader)), None)) is not None:
                yield viewed(way[-1][0].path, x, y, tr("one axis is taken for the other"), TURNED)


def misplaced(subject: Subject) -> Iterator[Finding]:
    """Two parts of each place of a text that are joined or added up, one of which does not change where a token does, and changes
    far behind: its places stand in another order, as what was read from the end and not turned back."""
    graph, name = subject.reference, subject.kind.text
    turns = any(run.op in (Flip, Gather, TakeAlong) and run.output.ndim > 1 for run in graph.runs)
    if not turns or name not in subject.texts or subject.length() < LEAST:
        return
    if (other := tried(lambda: subject.facts({name: subject.other_at(name, 1)}))) is None:
        return
    for run, twin in zip(graph.runs, other.runs):
        if run.op not in (Cat, Add) or twin.op is not run.op:
            continue
        known = [(x, y) for x, y, source in zip(run.inputs, twin.inputs, run.sources) if source is not None and source.reads]
        parts = [changed_places(x, y, subject) for x, y in known]
        for part, beside in (parts, parts[::-1]) if len(parts) == 2 else ():
            if part is not None and beside is not None and beside[:, 1].all() and not part[:, : LEAST // 2].any() and part.any():
                cause = tr("with another token at place 1, one of two parts that are joined is the same there, and changes behind")
                yield Finding("heads", run.path, cause, TURNED_BACK)
                return


LEAST = 8  # places of a text
TURNED_BACK = tr("turn what was read from the end back before it is joined: b.flip(1), or within the lengths of the rows")


def changed_places(x: np.ndarray | None, y: np.ndarray | None, subject: Subject) -> np.ndarray | None:
    """(R, T), where long rows of (B, T, C) differ; None of anything else."""
    if x is None or y is None or x.shape != y.shape or x.ndim != 3 or x.shape[:2] != subject.primary.shape:
        return None
    changed = np.asarray((x != y).any(axis=-1))
    padding = subject.padding.get(subject.kind.text)
    rows = subject.batch.by_rows(changed)
    return rows if padding is None else rows[padding.sum(axis=1) <= rows.shape[1] - LEAST]


PATCHES = tr("x.view(B, C, H // P, P, W // P, P).permute(0, 2, 4, 3, 5, 1).reshape(B, -1, P * P * C), or a convolution of stride P")
TURNED = tr("x.transpose(1, 2), not x.reshape(B, C, T)")


def moved_by(run: Ran) -> list[tuple[Ran, int]]:
    """The operations that moved all numbers of something to where they are, in order."""
    whole = lambda at: at.moves and at.inputs and at.inputs[0] is not None and at.inputs[0].size == at.output.size
    return [(at, 0) for at in takewhile(whole, origins(run))][::-1]


def cut_wrongly(way: list[tuple[Ran, int]], picture: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether vectors that are as long as patches of all channels are something else of a picture."""
    B, C, H, W = picture
    high = int(np.sqrt(shape[2] // C))
    if high < 2 or shape != (B, H // high * (W // high), C * high * high) or H % high or W % high:
        return False
    at = laid(way, np.arange(B * C * H * W).reshape(picture))
    if at is None:
        return False
    for vector in at[0]:
        channels, rows, columns = (len(np.unique(each)) for each in np.unravel_index(vector, picture)[1:])
        if channels != C or channels * rows * columns != len(vector):
            return True
    return False


def cut_beside(way: list[tuple[Ran, int]]) -> bool:
    """Whether what is viewed was cut right before, as where scores of distances (..., T, T + 1) are shifted."""
    first = way[0][0].sources[0]
    return first is not None and first.op is Select and first.output.ndim == 4


def turned_by_view(x: np.ndarray, y: np.ndarray, reader: Ran) -> bool:
    """Whether (..., T, C) is read as (..., C, T), its numbers in the order in which they were; where one length is several of the
    other, as when patches are put together, a convolution alone tells."""
    T, C = x.shape[-2:] if x.ndim > 2 else (0, 0)
    if y.shape != (*x.shape[:-2], C, T) or T == C or min(T, C) < 2:
        return False
    several = max(T, C) % min(T, C) == 0 and reader.op is not Conv
    return not several and np.array_equal(x.ravel(), y.ravel())


Way = tuple[list[tuple[Ran, int]], tuple[int, ...]]  # operations, with which input of each was followed; the shape before them


def maps_between(stream: Ran, branch: Ran) -> tuple[Way, Way] | None:
    """(from the last map to the branch, from the stream to the first map that reads it in the same layout); None where there are
    none, or where nothing moves on either way."""
    behind: list[tuple[Ran, int]] = []
    at: Ran | None = branch
    last: tuple[Ran, list] | None = None
    while at is not None and at is not stream:
        if at.op in MAPS:
            last = at, list(behind)
        side = followed(at)
        if side is None:
            break
        behind.append((at, side))
        at = at.sources[side]
    if last is None:
        return None
    end, rest = last
    layout = end.output.shape[:-1]
    if alike_axes(layout):  # which is which cannot be told
        return None
    for first in end.inside():
        if first.op not in MAPS or first.output.shape[:-1] != layout or first.number < stream.number:
            continue
        before: list[tuple[Ran, int]] = []
        at = first.sources[0]
        while at is not None and at is not stream and at.number > stream.number and at.op not in MAPS:
            side = followed(at, stream)
            if side is None:
                break
            before.append((at, side))
            at = at.sources[side]
        if at is stream and any(moves(run) for run, _ in [*rest, *before]):
            return (rest[::-1], end.output.shape), (before[::-1], stream.output.shape)
    return None


def alike_axes(layout: tuple[int, ...]) -> bool:
    """Whether there are as many rows as places, or rows as columns."""
    return len({n for n in layout if n > 1}) < sum(n > 1 for n in layout)


def in_windows(subject: Subject) -> Graph:
    """The first forward; where what maps read was moved and has as many rows as places, as by windows, one of a row less."""
    graph, rows = subject.reference, subject.rows
    maps = (run for run in graph.runs if run.op in MAPS and run.output.ndim == 3 and len(run.output) > rows > 2)
    if not any(alike_axes(run.output.shape[:-1]) for run in maps) or any(leaf.integer for leaf in subject.batch.leaves.values()):
        return graph
    arrays = {name: leaf.array for name, leaf in subject.batch.leaves.items()}
    less = {
        name: np.delete(x, -1, subject.axis_of_rows(x)) for name, x in arrays.items() if x.shape[subject.axis_of_rows(x)] == rows
    }
    return tried(lambda: subject.facts(less)) or graph


def followed(run: Ran, stream: Ran | None = None) -> int | None:
    """Which input holds the places that an operation hands on; None where it mixes them, or computes something else."""
    if run.op in (*BY_PLACE, *MAPS) or run.moves:
        return 0
    reading = [i for i, source in enumerate(run.sources) if source is not None and source.reads]
    if stream is not None:
        reading = [i for i in reading if stream.number in {each.number for each in run.sources[i].inside()}]  # type: ignore[union-attr]
    if run.op is Mul or moves(run):
        whole = [i for i in reading if run.op is not Mul or run.sources[i].output.shape == run.output.shape]  # type: ignore[union-attr]
        return whole[0] if len(whole) == 1 else None
    return None


def moves(run: Ran) -> bool:
    return (run.moves or run.op.data_movement) and run.op not in (Embedding, Dropout)


def replayed(way: list[tuple[Ran, int]], shape: tuple[int, ...], last: bool = True) -> np.ndarray | None:
    """Which place stands where behind some operations, flat: -1 for what comes from elsewhere; None where that cannot be told.

    last: whether the last axis is still that of the channels; else the places of all numbers are given.
    """
    n = int(np.prod(shape[:-1]))
    x = laid(way, np.broadcast_to(np.arange(n).reshape(*shape[:-1], 1), shape))
    if x is None or not last:
        return x
    lowest, highest = x.min(axis=-1), x.max(axis=-1)
    return lowest.ravel() if np.array_equal(lowest, highest) else None


def laid(way: list[tuple[Ran, int]], x: np.ndarray) -> np.ndarray | None:
    """What operations that move, and maps of each place, make of numbers; None where that cannot be told."""
    for run, side in way:
        if run.op in MAPS:
            x = np.broadcast_to(x[..., :1], run.output.shape)
        elif moves(run):
            given = [None if y is None else x if i == side else np.full(y.shape, -1) for i, y in enumerate(run.inputs)]
            try:
                with no_grad():
                    made = apply(
                        run.op, *(y if y is None else Tensor._of(np.ascontiguousarray(y)) for y in given), **run.attributes
                    )
            except (BadakError, TypeError, ValueError):
                return None
            x = (made if isinstance(made, Tensor) else made[0])._array
        if x.shape != run.output.shape:
            return None
    return x
