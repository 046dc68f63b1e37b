"""Rotary positions: are queries and keys turned, in pairs, by angles that grow with the position, all of them, and alike?"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.graph import PRODUCTS, Asked, Graph, Ran, asked_by, mixers, product_after, through
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NO_NUMBERS, NotApplicable, Subject
from badak.ops.arithmetic import Mul
from badak.ops.concat import Cat
from badak.ops.linear import AddMM, Linear
from badak.ops.rearrange import Repeat, RepeatInterleave

CLOSE = 1e-3  # of what a number is made of its pair, against its size
STILL = 2e-7  # a number that is not turned: float32's rounding
LEAST = 3  # different vectors at a position, to tell which two numbers make a pair
NAMES = re.compile(r"rot|rope|partial", re.IGNORECASE)
FIX = tr("x cos + rotate_half(x) sin with cos = cat(cos, cos), or neighbours with repeat_interleave(2): one layout for both")


class Turn(NamedTuple):
    """What became of each number of a head: y = a x + b x[partner]; fits where that is all. At one position."""

    partner: np.ndarray  # (D,)
    a: np.ndarray
    b: np.ndarray
    fits: np.ndarray
    still: np.ndarray


class Turned(NamedTuple):
    """The turns at the second, the last, and the last position but one (where two axes of a picture differ), and where each
    number stood before it was turned."""

    first: Turn
    last: Turn
    beside: Turn
    order: np.ndarray
    end: int  # the last position


def ask(subject: Subject) -> list[Finding]:
    """Find what the queries were at position 0, where nothing is turned, and fit the others to it."""
    if "numbers" in subject.found:
        raise NotApplicable(NO_NUMBERS, moot=True)
    found, seen, looked = [], set(), False
    rows = alike(subject)
    for path, asked in scores_with_heads(subject):
        if path in seen:
            continue
        q, k = both_turned(asked, rows)
        looked = looked or q is not None or k is not None
        if (q is None) != (k is None) and projected(asked.q if q is None else asked.k):
            seen.add(path)
            found.append(one_side(path, "keys" if k is None else "queries"))
        elif q is not None and k is not None and (what := wrong(subject, path, q, k, asked.q)):
            seen.add(path)
            found.append(Finding("rotary", path, what[0], FIX, what[1]))
        elif q is None and k is None and by_heads(asked.q, in_heads(asked.queries), rows):
            looked = True
            seen.add(path)
            found.append(Finding("rotary", path, BY_HEADS, AXIS))
    if not looked:
        raise NotApplicable(tr("queries and keys are not turned by their positions"), moot=True)
    return found


BY_HEADS = tr("queries are turned by the number of their head, alike at every position")
AXIS = tr("turn along the axis of positions: it is 1 in (B, T, H, D), 2 in (B, H, T, D)")


def turns(subject: Subject) -> bool:
    """Whether an attention turns both its queries and its keys by their positions."""
    rows = alike(subject)
    return any(None not in both_turned(asked, rows) for _, asked in scores_with_heads(subject))


def scores_with_heads(subject: Subject) -> Iterator[tuple[str, Any]]:
    """(path, scores) of each attention, or of products of maps where none was seen, of queries (B, H, T, D)."""
    several = [(mixer.path, mixer.asked) for mixer in mixers(subject.reference)]
    several = several or [(asked.path, [asked]) for asked in products(subject.reference)]
    for path, scores in several:
        yield from ((path, asked) for asked in scores if asked.keys is not None and asked.queries.ndim >= 4)


def both_turned(asked: Any, rows: np.ndarray) -> tuple:
    """How queries, and keys, are turned, at the same positions; None for what is not."""
    sides = (asked.q, in_heads(asked.queries)), (asked.k, in_heads(asked.keys))
    both = tuple(turned(*side, rows) for side in sides)
    if None in both or both[0].end == both[1].end or sides[0][1].shape[2] != sides[1][1].shape[2]:  # type: ignore[union-attr]
        return both
    until = min(each.end for each in both) + 1  # type: ignore[union-attr]
    return tuple(turned(*side, rows, until) for side in sides)  # padding leaves fewer heads of keys than of queries to tell by


def in_heads(x: np.ndarray) -> np.ndarray:
    """Queries or keys (B, ..., T, D) with groups of heads as heads."""
    return x.reshape(len(x), -1, *x.shape[-2:])


def alike(subject: Subject) -> np.ndarray:
    """The rows whose positions are the same: padding in front moves them on, so those with as much of it as most; where the batch
    counts them itself, as of documents in a row, those that are counted alike."""
    counted = subject.batch.counted(subject.texts)
    if counted is not None:
        kinds, which, several = np.unique(counted, axis=0, return_inverse=True, return_counts=True)
        return np.flatnonzero(which.ravel() == several.argmax())
    padding = subject.padding.get(subject.kind.text)
    if padding is None:
        return np.arange(subject.rows)
    before = np.logical_and.accumulate(padding, axis=1).sum(axis=1)
    return np.flatnonzero(before == np.bincount(before).argmax())


def projected(made: Ran) -> bool:
    """Whether queries, or keys, are what a map gives, only laid out again, or normalised and scaled alike at every position; or
    the same numbers after all."""
    maps = [run.output for run in made.inside() if run.op in (Linear, AddMM) and run.output.size == made.output.size]
    if any(np.array_equal(np.sort(x, axis=None), np.sort(made.output, axis=None)) for x in maps[-1:]):
        return True
    last = through(made)
    while last is not None and last.op not in (Linear, AddMM):
        if last.op not in (Repeat, RepeatInterleave) and any(map(moves_by_place, last.inputs, last.sources, last.parameters)):
            return False
        reading = [source for source in last.sources if source is not None and source.reads]
        if joined(last) and len(reading) == len(last.sources):
            return all(map(projected, reading))
        if last.op is Mul and len(reading) == 2:  # a norm by hand: times one number for each vector, made of it
            reading = [each for each in reading if each.output.shape[-1] == last.output.shape[-1] > 1]
        last = through(reading[0]) if len(reading) == 1 else None
    return last is not None


def moves_by_place(x: np.ndarray | None, source: Ran | None, parameter: str | None) -> bool:
    """Whether an input is no parameter, nor made of the text, and has several rows: it may say something of each position."""
    if x is None or parameter is not None or (source is not None and source.reads):
        return False
    return x.ndim > 1 and x.size > x.shape[-1]


def by_heads(made: Ran, queries: np.ndarray, rows: np.ndarray) -> bool:
    """Whether queries turn in pairs from head to head, where they should from position to position."""
    both = turned(made, queries.swapaxes(1, 2), rows)
    return both is not None and all(rotation(turn, ~turn.still) and np.any(np.abs(turn.b) > 0.01) for turn in both[:2])


def one_side(path: str, which: str) -> Finding:
    cause = tr("{} are not turned by their positions, and {} are", which, tr("queries") if which == "keys" else tr("keys"))
    return Finding("rotary", path, cause, tr("turn both: q, k = rotary(q), rotary(k)"))


def set_apart(made: Ran, still: np.ndarray) -> bool:
    """Whether the numbers that are not turned are whole parts of a head, which pass by what turns the others."""
    whole = through(made)
    if whole is None or not joined(whole):
        return False
    at = np.cumsum([x.shape[-1] for x in whole.inputs])[:-1]  # type: ignore[union-attr]
    parts = [part for part in np.split(still, at) if part.all()]
    return bool(parts) and sum(map(len, parts)) == still.sum()


def wrong(subject: Subject, path: str, q: Turned, k: Turned, made: Ran) -> tuple[str, dict] | None:
    """(what is wrong, numbers) of the turns of queries and keys at two positions; None where nothing is."""
    if not np.array_equal(q.order, k.order):
        return "the numbers of queries and those of keys are laid out in another order, so that others meet", {}
    for which, (first, last, beside, *_) in (("queries", q), ("keys", k)):
        moving = ~last.still
        for turn in (first, beside, last):
            if not rotation(turn, moving):
                bad = int((moving & ~pairwise(turn)).sum())
                many = f"{bad} of {len(moving)} numbers are in no pair"
                return f"{which} are changed by their positions, but not turned: {many}", {}
    still, size = int(q[1].still.sum()), len(q[1].still)
    if still * 2 >= size and not says(subject, path, size - still, size) and not set_apart(made, q[1].still):
        what = f"only {size - still} of {size} numbers of each head are turned by the position"
        return f"{what}, and nothing says that it is meant so", {"turned": size - still, "of": size}
    clear = ~q[1].still & (np.abs(q[1].b) > 0.01)
    if not np.allclose(q[1].b[clear], k[1].b[clear], atol=0.01) or (q[1].partner != k[1].partner)[clear].any():
        return "queries and keys are turned by other angles, or in other pairs", {}
    return None


def pairwise(turn: Turn) -> np.ndarray:
    """(D,) whether a number turns with its partner, and that one with it."""
    back = turn.partner[turn.partner] == np.arange(len(turn.partner))
    alike = np.abs(turn.a - turn.a[turn.partner]) < CLOSE
    return turn.fits & back & alike & (np.abs(turn.b + turn.b[turn.partner]) < CLOSE)


def rotation(turn: Turn, moving: np.ndarray) -> bool:
    """Whether all numbers that move turn in pairs; an angle of nearly nothing has no partner that could be told."""
    faint = np.abs(turn.b) < CLOSE
    return bool((pairwise(turn) | faint & (np.abs(turn.a - 1) < CLOSE) | ~moving).all())


def says(subject: Subject, path: str, turned: int, size: int) -> bool:
    """Whether an attribute named for rotary positions holds how much of a head is turned."""
    own = subject.model.get_submodule(path)
    for holder in (subject.model, own, *own.children(), getattr(subject.model, "config", None)):
        for name, value in {**getattr(holder, "__dict__", {}), **(holder if isinstance(holder, dict) else {})}.items():
            if NAMES.search(name) and isinstance(value, (int, float)) and not isinstance(value, bool):
                if value == turned or 0 < value < 1 and round(value * size) == turned:
                    return True
    return False


def turned(made: Ran, now: np.ndarray, rows: np.ndarray, until: int | None = None) -> Turned | None:
    """How the queries, or keys, of some rows were turned at the second and at the last position; None where they were not."""
    if now.shape[2] < 3 or now.dtype.kind != "f":
        return None
    end = now.astype(np.float64)
    for each in unturned(made, end, rows):
        if (fit := compared(each, end[some_of(rows, end)], until)) is not None:
            return fit
    return of_parts(made, end, rows, until)


def some_of(rows: np.ndarray, x: np.ndarray) -> np.ndarray:
    return rows if len(x) > rows[-1] else np.arange(len(x))


def of_parts(made: Ran, end: np.ndarray, rows: np.ndarray, until: int | None) -> Turned | None:
    """The same where parts of a head are made apart, and put next to each other."""
    some, whole, old = some_of(rows, end), through(made), []
    if whole is None or not joined(whole):
        return None
    at = np.cumsum([0, *(x.shape[-1] for x in whole.inputs)])  # type: ignore[union-attr]
    for source, first, last in zip(whole.sources, at, at[1:]):
        part = end[some][..., first:last]
        every = unturned(source, end[..., first:last], rows) if source is not None else iter(())
        old.append(next((x for x in every if compared(x, part, until) is not None), part))
    return compared(np.concatenate(old, axis=-1), end[some], until)


def joined(run: Ran) -> bool:
    """Whether several parts of a head are put next to each other."""
    return run.op is Cat and run.attributes.get("axis", 0) in (-1, run.output.ndim - 1) and all(x is not None for x in run.inputs)


def unturned(made: Ran, end: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    """What queries, or keys, of some rows may have been before they were turned, in order: half of them is so, too."""
    for y in (each for run in made.inside() for each in run.outputs):
        if y.ndim == 3 and end.shape[1] == 1:  # one head that all share
            y = y[:, None]
        if y.ndim != 4 or y.dtype.kind != "f" or y.shape[-1] != end.shape[-1]:
            continue
        for x in (y, y.swapaxes(1, 2), y.transpose(1, 2, 0, 3)):
            if x.shape[0] != end.shape[0] or x.shape[2:] != end.shape[2:] or end.shape[1] % x.shape[1]:
                continue
            old = x.astype(np.float64)
            yield from (each[some_of(rows, end)] for each in widened(old, end.shape[1] // old.shape[1]))


def widened(x: np.ndarray, times: int) -> list[np.ndarray]:
    """Heads of keys as they may be laid out for those of queries: each, some of them or all again and again."""
    sizes = [n for n in range(1, x.shape[1] + 1) if x.shape[1] % n == 0] if times > 1 else []
    parts = (x.reshape(len(x), -1, n, *x.shape[2:]) for n in sizes)
    return [np.repeat(each, times, axis=1).reshape(len(x), -1, *x.shape[2:]) for each in parts] or [x]


def compared(x: np.ndarray, y: np.ndarray, until: int | None = None) -> Turned | None:
    """The turns from x to y, if they are alike at position 0 (but for a factor, and another order) and not behind it."""
    x, y = x[:, :, :until], y[:, :, :until]
    order = laid_out(x[:, :, 0], y[:, :, 0])
    if order is None:
        return None
    x = x[..., order]
    x = x * np.where((x[:, :, 0] * y[:, :, 0]).sum(axis=(0, 1)) < 0, -1.0, 1.0)  # some numbers may change their sign everywhere
    start = x[:, :, 0].ravel()
    if not (start @ start):
        return None
    factor = float(start @ y[:, :, 0].ravel() / (start @ start))
    size = float(np.abs(x).max()) * abs(factor)
    if not factor or np.abs(y[:, :, 0] - factor * x[:, :, 0]).max() > 1e-6 * size or np.abs(y - factor * x).max() <= 1e-5 * size:
        return None
    kinds = (np.unique(x[:, :, t].reshape(-1, x.shape[-1]), axis=0) for t in range(x.shape[2]))
    several = [np.count_nonzero(each.any(axis=1)) >= LEAST for each in kinds]  # zeros, as of padding, tell nothing
    moved = np.abs(y - factor * x).max(axis=(0, 1, 3)) > 1e-5 * size  # registers behind are not turned, and padding may be 0
    if x.shape[-1] < 2 or not several[1] or not np.any(moved & several):
        return None
    end = int(np.flatnonzero(moved & several)[-1])
    first, beside, last = (turn_at(x[:, :, t] * factor, y[:, :, t]) for t in (1, max(1, end - 1) if several[end - 1] else 1, end))
    return Turned(first, last, beside, order, end)


def laid_out(x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """Which number of x (..., D) each of y is, but for one factor: neighbours in pairs may have become halves; None where some are
    none of them."""
    x, y = (each.reshape(-1, each.shape[-1]) for each in (x, y))
    at = np.arange(x.shape[1])
    size = np.linalg.norm(x, axis=0), np.linalg.norm(y, axis=0)
    if not (size[0].all() and size[1].all()):
        return at
    alike = np.abs((x / size[0]).T @ (y / size[1]))
    order = at if (np.diag(alike) > 1 - 1e-6).all() or len(x) < LEAST else alike.argmax(axis=0)
    whole = len(set(order.tolist())) == len(at) and (alike[order, at] > 1 - 1e-6).all()
    return order if whole or order is at else None


def products(graph: Graph) -> list[Asked]:
    """Queries and keys of scores that meet no softmax, such as those of a retention: no weights have a part in them, and what they
    become adds up something else of the text."""
    consumers, found = graph.consumers(), []
    for run in graph.runs:
        read = all(each is not None and each.reads for each in run.sources[:2])
        if run.op not in PRODUCTS or any(run.parameters[:2]) or not read:
            continue
        asked = asked_by(run)
        if asked.keys is None or asked.queries is None or asked.queries.ndim < 4 or asked.queries.shape[-1] != asked.keys.shape[-1]:
            continue
        core = product_after(run, consumers)
        weights = 0 if core is not None and core.inputs[0] is not None and core.inputs[0].shape == run.output.shape else 1
        if core is not None and core.sources[1 - weights] is not None and core.inputs[weights].shape == run.output.shape:  # type: ignore[union-attr]
            found.append(asked._replace(path=run.path))
    return found


def turn_at(x: np.ndarray, y: np.ndarray) -> Turn:
    """Least squares of each number on itself and one other; the other is the one that leaves least."""
    x, y = x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])
    i = np.arange(x.shape[1])
    size = np.abs(x).max()
    own, other = np.diag(x.T @ x)[:, None], np.diag(x.T @ x)[None]
    both, here, there = x.T @ x, np.diag(x.T @ y)[:, None], (x.T @ y).T  # of i on j
    det = own * other - both**2
    det[det <= 1e-9 * own * other] = np.inf
    a, b = (here * other - there * both) / det, (there * own - here * both) / det
    rest = np.diag(y.T @ y)[:, None] - a * here - b * there
    rest[i, i] = np.inf
    rest[np.isinf(det)] = np.inf
    partner = rest.argmin(axis=1)
    a, b = a[i, partner], b[i, partner]
    left = np.abs(a * x + b * x[:, partner] - y).max(axis=0)
    still = np.abs(y - x).max(axis=0) <= STILL * size
    return Turn(partner, np.where(still, 1.0, a), np.where(still, 0.0, b), left <= CLOSE * size, still)
