"""Operations that pick rows, put them together, or take the mean of them."""

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, step, told_of

EACH = "each of the summands gets the same"


def embedding(row: Row) -> Steps:
    number = _number(row)
    return [
        step("ids[t]", "", number, "the number of the token"),
        step("y", "w[ids[t]]", row.y, "its row of the table"),
    ]


def embedding_back(row: Row) -> Steps:
    return [
        step("ids[t]", "", _number(row), "the number of the token"),
        step("dw[ids[t]]", "dy", row.came, "only this row of the table learns here; the same token elsewhere adds to it"),
    ]


def _number(row: Row) -> int:
    ids = next(x for x in row.run.inputs if x is not None and x.dtype.kind in "iu").reshape(-1)
    return int(ids[row.place]) if row.place < ids.size else int(ids[0]) if ids.size == 1 else -1


def _summed(row: Row) -> tuple[np.ndarray, str] | None:
    """The rows (n, C) that a sum over one axis takes together, of the first of all others; None where y is not their sum."""
    x, axis = row.run.inputs[0], row.setting("axis")
    axes = axis if isinstance(axis, tuple) else (axis,)
    if x is None or len(axes) != 1 or axes[0] is None or x.ndim < 2:
        return None
    at = axes[0] % x.ndim
    if at == x.ndim - 1:
        one = row.x[0]
        return (one.reshape(-1, 1), "c") if one is not None and row.y.size == 1 else None
    rows = np.moveaxis(x, at, -2).reshape(-1, x.shape[at], x.shape[-1])[0].astype(np.float64)
    return (rows, "t") if rows.shape[-1] == row.y.size else None


@told_of(_summed)
def total(row: Row, rows: np.ndarray, letter: str) -> Steps:
    """The sum or the mean over tokens, or over the channels of one."""
    made = f"sum_{letter} x[{letter}]" + (" / n" if row.kind == "Mean" else "")
    n = [step("n", "", len(rows), "so many are taken together")] if row.kind == "Mean" else []
    if letter == "c":
        return [step("x", "", rows), *n, step("y", made, row.y)]
    shown = [step(f"x[{t}]", "", x) for t, x in enumerate(rows[:3])]
    return [*shown, *n, step("y", made, row.y, "every token has its say")]


@told_of(_summed)
def total_back(row: Row, rows: np.ndarray, letter: str) -> Steps:
    share = 1 / len(rows) if row.kind == "Mean" else 1.0
    n = [step("n", "", len(rows), "so many are taken together")] if row.kind == "Mean" else []
    dx = np.broadcast_to(row.came, rows.T.shape if letter == "c" else row.came.shape) * share
    return [*n, step("dx", "dy / n" if row.kind == "Mean" else "dy", dx, EACH)]


def together(row: Row) -> Steps:
    """Parts one after the other."""
    parts = [step(name, "", x) for name, x in zip("abcdefgh", row.x) if x is not None]
    return [*parts, step("y", "", row.y, "one after the other")]


def apart(row: Row) -> Steps:
    """Each part gets its own piece of dy, where the parts stand in the row itself."""
    sizes = [0 if x is None else x.size for x in row.x]
    if sum(sizes) != row.came.size:
        return []
    pieces = np.split(row.came, np.cumsum(sizes)[:-1])
    return [step(f"d{name}", "", piece, "its own piece of dy") for name, piece in zip("abcdefgh", pieces) if piece.size]
