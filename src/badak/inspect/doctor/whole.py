"""The tables that a training and its tests read, as a whole, and by the numbers of which of their rows they were scaled."""

from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.data import Subset
from badak.inspect.doctor.augmented import drawing_nothing, parts
from badak.inspect.doctor.facts import Visit
from badak.inspect.doctor.graph import memory

LEAST, KINDS, COLUMNS = 24, 8, 64  # rows; numbers that a column has; columns that are looked at
NEAR, EXACT = 2e-4, 1e-6  # how far a mean and a spread, or an end, may be from what rows were scaled to
TIMES = 20  # that spreads of columns are apart which have different units
MOST, SECONDS, WIDE = 8192, 0.3, 4  # examples that are asked for, in which time; numbers of a step of a window


def rows_of(dataset: Any, asks: bool) -> np.ndarray | None:
    """What a dataset gives as the first of each example, as one table. asks: a dataset of the program's own may be asked."""
    if isinstance(dataset, Subset):
        whole = rows_of(dataset.dataset, asks)
        return None if whole is None else whole[np.asarray(dataset.indices, dtype=int)]
    held = getattr(dataset, "tensors", None)
    if held:
        return held[0]._array
    if not asks or not 0 < len(dataset) <= MOST:
        return None
    until, found = perf_counter() + SECONDS, []
    with drawing_nothing():
        for i in range(len(dataset)):
            found.append(parts(dataset[i])[0])
            if perf_counter() > until or found[-1].shape != found[0].shape:
                return None
    return np.stack(found)


def scaled_to(x: np.ndarray) -> tuple[str, int]:
    """ "spread" where the columns of a table have a mean of 0 and a spread of 1, or all of its numbers have; "range" where they go
    from 0 to 1, and hardly any number is at an end; "" for none; and how many columns."""
    n, wide = len(x), x.shape[-1]
    flat = x.reshape(n, -1).astype(np.float64)
    views = [flat, flat.reshape(-1, wide)] if x.ndim == 3 and wide <= WIDE else [flat]
    if np.abs(flat.mean(axis=1)).max() > 1e-3:  # else each row is scaled by itself
        views.append(flat.reshape(-1, 1))
    for view in views if np.isfinite(flat).all() else ():
        view = view[:, :COLUMNS]
        view = view[:, [len(np.unique(view[:, i])) >= KINDS for i in range(view.shape[1])]]
        if not view.size:
            continue
        mean, low, high = view.mean(axis=0), view.min(axis=0), view.max(axis=0)
        one = np.minimum(abs(view.std(axis=0) - 1), abs(view.std(axis=0, ddof=1) - 1)) < NEAR
        if (one & (abs(mean) < NEAR)).mean() >= 0.5:
            return "spread", int(one.sum())
        few = np.maximum((view == low).sum(axis=0), (view == high).sum(axis=0)) <= max(2, x[0].size if view.shape[1] == 1 else 2)
        ends = (abs(low) < EXACT) & (abs(high - 1) < EXACT) & few
        if x.ndim < 4 and ends.mean() >= 0.5:
            return "range", int(ends.sum())
    return "", 0


def tables(visit: Visit) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(those that a training reads, those that its tests read), as far as they are known as a whole."""
    rows = visit.watch.rows
    learnt = [rows_of(each, visit.asks) for each in rows.loaded.values()] + [whole for whole, _ in rows.read.values()]
    learnt += [whole[low:high] for whole, low, high in rows.slices.values()]
    asked = [rows_of(each, visit.asks) for each, _ in rows.loaded_for_tests.values()] + [*rows.whole.values()]
    return of_numbers(learnt), of_numbers(asked)


def of_numbers(several: list[np.ndarray | None]) -> list[np.ndarray]:
    """Those that have rows of numbers, and enough of them."""
    return [x for x in several if x is not None and x.ndim > 1 and x.dtype.kind == "f" and len(x) >= LEAST]


def scaled_by(visit: Visit) -> tuple[str, str, int, int]:
    """("all", how) where rows of a training and of a test were scaled as one table, ("own", how) where those of the test were by
    themselves; how many both are. ("", "") where nothing is to be seen."""
    learnt: list[np.ndarray] = []
    asked: list[np.ndarray] = []
    with suppress(Exception):  # a dataset of the program's own may be anything
        learnt, asked = tables(visit)
    for a in learnt:
        tests = [b for b in asked if b.shape[1:] == a.shape[1:] and not alike(a, b)]
        mine, columns = scaled_to(a) if tests else ("", 0)
        for b in tests:
            if mine and scaled_to(b)[0] == mine:
                return "own", mine, len(a), len(b)
        for group in [*([b] for b in tests), tests][: len(tests) + (len(tests) > 1)]:
            how, more = scaled_to(np.concatenate([a, *group]))
            if more > columns and mine in ("", how):
                return "all", how, len(a), sum(map(len, group))
    return "", "", 0, 0


def unlike_columns(visit: Visit) -> list[tuple[float, float]]:
    """The least and the largest spread of the columns of a table, all numbers of which have together a mean of 0 and a spread of
    1: of columns that is wrong, of pictures right, which have more of them, laid flat."""
    found = []
    with suppress(Exception):  # a dataset of the program's own may be anything
        for x in (x.astype(np.float64) for x in tables(visit)[0] if x.ndim == 2 and 1 < x.shape[1] <= COLUMNS // 2):
            spreads = x.std(axis=0)[np.ptp(x, axis=0) > 0]
            if abs(x.mean()) < NEAR and abs(x.std() - 1) < 2 / x.size + NEAR and spreads.max() > TIMES * spreads.min():
                found.append((float(spreads.min()), float(spreads.max())))
    return found


def alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether one holds rows of the other."""
    return memory(a) == memory(b) or np.array_equal(a[: len(b)], b[: len(a)])


def scaling(visit: Visit, which: str) -> tuple[str, int, int] | None:
    """What is to be said of tables that were scaled by such rows: "all", or "own"."""
    found, how, n, m = scaled_by(visit)
    if found != which:
        return None
    to = tr("a mean of 0 and a spread of 1") if how == "spread" else tr("a range from 0 to 1")
    if which == "all":
        return tr("the {:,} rows that are learnt and the {:,} of a test have, as one table, {}, and the former alone have not: "
                  "they were scaled by the numbers of all", n, m, to), n, m  # fmt: skip
    return tr("the {:,} rows of a test have, by themselves, {}, as the {:,} that are learnt: each were scaled by their own numbers",
              m, to, n), n, m  # fmt: skip
