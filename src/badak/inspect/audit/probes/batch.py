"""Batch leak: what a row gives may not depend on its neighbours, neither on their content nor on their order."""

from functools import partial

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.batch import counts
from badak.inspect.audit.compare import ROUNDING, change, kept, real
from badak.inspect.audit.graph import Graph
from badak.inspect.audit.localize import Clean, begins
from badak.inspect.audit.ready import normalises_batches
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import Neighbours, NotApplicable, Subject, tried
from badak.inspect.audit.watch import Watch


def ask(subject: Subject) -> list[Finding]:
    """Keep one row in the middle, and fill all others with something else, drawn at random."""
    for path, module in subject.model.named_modules():
        if normalises_batches(module):
            subject.notes.append(
                tr("{} ({}) mixes the rows of a batch in train mode, by design; asked in eval mode", path,
                   type(module).__name__)
            )  # fmt: skip
    if subject.rows < 2:
        raise NotApplicable(tr("the batch has one row"))
    neighbours = subject.neighbours = neighbours_changed(subject)
    row, watch = neighbours.row, neighbours.watch
    tolerance = 0.0 if shapes(subject.reference) == shapes(watch) else ROUNDING  # an expert may have been asked for more rows
    clean = partial(kept, row=row, rows=subject.rows, tolerance=tolerance)
    if not subject.texts and subject.batch.ties(subject.rows):
        subject.leaks_rows = True
        raise NotApplicable(tr("the batch says which of its rows are next to each other: they are one graph"), moot=True)
    if subject.clean(watch, clean):
        return documents(subject)
    subject.leaks_rows = True
    return [leak(subject, watch, clean, row)]


def documents(subject: Subject) -> list[Finding]:
    """Other tokens in the first of several documents that stand in one row, as the batch says by numbers of theirs and by places
    that are counted from 0 again: nothing changes in the others."""
    counted = subject.batch.counted(subject.texts)
    names = [name for name in subject.texts if counted is not None and subject.ids(name).shape == counted.shape]
    if counted is None or not names:
        return []
    which = np.cumsum(counted == 0, axis=1)
    every = (subject.ids(name) for name, leaf in subject.batch.leaves.items() if leaf.integer)
    told = [x for x in every if x.shape == which.shape and bool(((np.diff(x) != 0) <= (np.diff(which) != 0)).all()) and np.ptp(x)]
    first = (which == which[:, :1]) & (which[:, :1] < which[:, -1:])
    if not first.any() or not any((np.diff(x) != 0)[np.diff(which) != 0].any() for x in told):
        return []
    watch = tried(lambda: subject.forward({names[0]: subject.other_tokens(names[0], first)}))
    clean = partial(real, paddings=subject.places[names[0]].masks(first))
    if watch is None or tried(lambda: subject.clean(watch, clean)) is not False:
        return []
    begin = begins(subject.reference, watch, clean)
    cause = tr("with other tokens in the first document of each row, what stands in the others changes")
    fix = tr("let tokens see those of their own document alone: keep & (document[:, :, None] == document[:, None, :])")
    return [Finding("batch", begin.path, cause, fix, {"documents": int(which.max())}, begin.between)]


def leak(subject: Subject, watch: Watch, clean: Clean, row: int) -> Finding:
    """Where a row that was kept begins to differ."""
    begin = begins(subject.reference, watch, clean)
    gaps = [_gap(a, b, row, subject.rows) for a, b in zip(subject.reference.outputs, watch.outputs)]
    largest = max(gaps, default=0.0)
    how = tr("of the output changes by up to {:.2g} of its size", largest) if largest else tr("changes within the model")
    cause = tr("with other texts in the other rows, row {} {}", row, how)
    fix = tr("look for a mean, a norm, a softmax or a reshape over the axis of the batch")
    numbers = {"row kept": row, "rows changed": subject.rows - 1, "largest change": largest}
    return Finding("batch", begin.path, cause, fix, numbers, begin.between)


def shapes(graph: Graph) -> list[tuple]:
    return [run.output.shape for run in graph.runs]


def _gap(a: np.ndarray, b: np.ndarray, row: int, rows: int) -> float:
    axis = next((i for i, n in enumerate(a.shape) if n == rows), None)
    if axis is None:
        return change(a, b) if a.ndim else 0.0
    return change(np.take(a, row, axis), np.take(b, row, axis))


def neighbours_changed(subject: Subject) -> Neighbours:
    """One row in the middle is kept; of the others one gets its text, one its own tokens in another order, the rest random ones."""
    rows, row = subject.rows, subject.rows // 2
    changed, moves = {}, {}
    for name in subject.texts:
        changed[name] = subject.other_tokens(name, np.arange(rows) != row)
    for name, leaf in subject.batch.leaves.items():
        axis = subject.axis_of_rows(leaf.array)
        if leaf.integer and leaf.array.ndim > 2 and not subject.texts and leaf.array.shape[0] == rows:
            changed[name] = others_mixed(subject, leaf.array, row)
        elif holds_numbers(leaf.array, axis, rows):
            changed[name] = subject.other_values(name, (*[slice(None)] * axis, np.arange(rows) != row))
    if not changed:
        raise NotApplicable(tr("nothing in the batch could be changed for some of its rows"))
    for name, leaf in subject.batch.leaves.items():
        asked = leaf.array.shape == (rows,) and any(
            x.indices.shape == (rows,) and np.array_equal(np.sort(x.indices), np.sort(leaf.array))
            for x in subject.reference.lookups
        )
        kinds = numbers_of_rows(subject, leaf.array) or asked or beside_a_text(subject, leaf.array)
        if name not in changed and leaf.integer and kinds:
            changed[name] = others_moved(leaf.array, min(subject.batch.batch_axis, leaf.array.ndim - 1), row)
    twin = _twin(subject, changed, row)
    turned = rows - 1 if rows > 2 and row != rows - 1 and subject.texts else None
    if turned is not None:
        for name in subject.texts:
            ids = np.array(subject.batch.by_rows(changed[name]))
            move = circle(ids.shape[1], subject.padding[name][turned] if name in subject.padding else None)
            if move is not None:
                ids[turned] = subject.ids(name)[turned][move]
                changed[name], moves[name] = subject.placed(ids), move
                changed |= beside(subject, name, changed, turned, move)
    return Neighbours(row, twin, turned if moves else None, moves, subject.facts(changed))


def beside(subject: Subject, text: str, changed: dict, row: int, move: np.ndarray) -> dict[str, np.ndarray]:
    """What says something of each token of a row, such as its segment, moved with them; what counts them stays."""
    found = {}
    for name, leaf in subject.batch.leaves.items():
        x = changed.get(name, leaf.array)
        if name in subject.texts or not leaf.integer or x.shape != subject.batch.leaves[text].array.shape:
            continue
        rows, own = (np.array(subject.batch.by_rows(each)) for each in (x, leaf.array))
        rows[row] = own[row] if counts(own)[row] else own[row][move]
        found[name] = subject.placed(rows)
    return found


def beside_a_text(subject: Subject, x: np.ndarray) -> bool:
    """Whether integers say something of each place of a text, such as the letters of each word."""
    axes = {subject.batch.leaves[name].array.shape for name in subject.texts}
    return x.ndim > 1 and x.shape[:2] in axes and x.shape[0] != x.shape[1] and x.max(initial=0) > 1


def numbers_of_rows(subject: Subject, x: np.ndarray) -> bool:
    """Whether integers say something of each row, such as a time, and are no lengths of texts."""
    longest = max(n for leaf in subject.batch.leaves.values() for n in leaf.array.shape)
    return x.dtype.kind in "iu" and x.shape == (subject.rows,) and x.max(initial=0) > longest


def others_mixed(subject: Subject, x: np.ndarray, row: int) -> np.ndarray:
    """The ids of all rows but one drawn again from those that there are; 0, which may be padding, stays."""
    other = np.where(x == 0, 0, subject.rng.choice(x[x != 0] if x.any() else x.ravel(), x.shape)).astype(x.dtype)
    other[row] = x[row]
    return other


def others_moved(x: np.ndarray, axis: int, row: int) -> np.ndarray:
    """The rows other than one in another order."""
    rows = np.arange(x.shape[axis])
    others = rows[rows != row]
    rows[others] = np.roll(others, 1)
    return np.take(x, rows, axis)


def holds_numbers(x: np.ndarray, axis: int, rows: int) -> bool:
    """Whether a tensor holds numbers of each row: pictures, features; no mask, and nothing that stands between two rows."""
    if x.dtype.kind != "f" or x.ndim < 2 or x.shape[axis] != rows or (x.ndim < 4 and x.shape[1 - axis] == rows):
        return False
    return x.size > 1 << 24 or len(np.unique(x)) > 2


def _twin(subject: Subject, changed: dict[str, np.ndarray], row: int) -> int | None:
    """Give the first row, or the one before where rows get shorter, all that the kept one has: its text, its masks; None where
    that cannot be done."""
    if subject.rows < 3:
        return None
    counts = (leaf.array for leaf in subject.batch.leaves.values() if leaf.integer and leaf.array.shape == (subject.rows,))
    twin = row - 1 if any(np.ptp(x) and (np.diff(x) <= 0).all() for x in counts) else 0
    for name, leaf in subject.batch.leaves.items():
        x = changed.get(name, leaf.array)
        text = leaf.integer and x.ndim == 2 and name in changed
        axis = subject.batch.batch_axis if text else subject.axis_of_rows(x)
        square = x.ndim >= 2 and x.shape[0] == x.shape[1] and name not in changed
        if square and x.shape[0] == subject.rows and len(np.unique(x)) > 2:  # numbers of each row, or of each two rows
            return None
        if x.ndim and x.shape[axis] == subject.rows and not square:
            x = x.copy()
            at: tuple = (slice(None),) * axis
            x[(*at, twin)] = x[(*at, row)]
            changed[name] = x
    return twin


def circle(length: int, padding: np.ndarray | None) -> np.ndarray | None:
    """Where each token comes from when the second to the middle one move on by one; None where that moves none."""
    real = np.arange(length) if padding is None else np.flatnonzero(~padding)
    places = real[1 : len(real) // 2 + 1]
    if len(places) < 2 or len(real) < 4:
        return None
    move = np.arange(length)
    move[places] = np.roll(places, 1)
    return move
