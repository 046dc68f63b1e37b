"""Operations of two rows, number by number: sums, products, gates, masks; and dropout."""

import numpy as np

from badak.core.errors import tr
from badak.inspect.visualize.steps.row import Row, Steps, step, told_of

WORDS = {  # (role, operation): why
    ("residual", "Add"): tr("what a part made is added to what came in"),
    ("gate", "Mul"): tr("the gate says how much of each number passes"),
    ("rotary", "Mul"): tr("a turn by the angle of this place, first the one part of it"),
    ("rotary", "Sub"): tr("pairs of channels turn by the angle of this place, as hands of a clock"),
    ("rotary", "Add"): tr("pairs of channels turn by the angle of this place, as hands of a clock"),
}
PAIRS = {
    "Add": ("a + b", "dy", "dy"),
    "Sub": ("a - b", "dy", "-dy"),
    "Mul": ("a b", "dy b", "dy a"),
    "Div": ("a / b", "dy / b", "-dy a / b^2"),
    "Maximum": ("max(a, b)", "", ""),
    "Minimum": ("min(a, b)", "", ""),
}
BOTH = "a sum sends all of it both ways"
REPEATED = "where it was repeated, the parts add up"


def _beside(row: Row) -> tuple[np.ndarray, np.ndarray] | None:
    """The two rows that y is of, one number next to the other: a row may have been found in another order of axes."""
    a, b = row.x[:2]
    if a is None or b is None or not all(x.size in (1, row.y.size) for x in (a, b)):
        return None
    with np.errstate(all="ignore"):
        made = {"Add": a + b, "Sub": a - b, "Mul": a * b, "Div": a / b}.get(row.kind)
    return (a, b) if made is None or np.allclose(made, row.y, rtol=1e-2, atol=1e-3, equal_nan=True) else None


@told_of(_beside)
def pair(row: Row, a: np.ndarray, b: np.ndarray) -> Steps:
    return [
        step("a", "", a),
        step("b", "", b),
        step("y", PAIRS[row.kind][0], row.y, WORDS.get((row.role, row.kind), "")),
    ]


@told_of(_beside)
def pair_back(row: Row, a: np.ndarray, b: np.ndarray) -> Steps:
    _, to_a, to_b = PAIRS[row.kind]
    if not to_a:
        return []
    dy = row.came
    made = {"dy": dy, "-dy": -dy, "dy b": dy * b, "dy a": dy * a}
    if row.kind == "Div":
        made |= {"dy / b": dy / b, "-dy a / b^2": -dy * a / (b * b)}
    why = BOTH if row.kind == "Add" else ""
    return [
        step(f"d{name}", formula, made[formula], why if _whole(row, i) else REPEATED)
        for i, (name, formula) in enumerate((("a", to_a), ("b", to_b)))
        if len(row.run.dxs) > i and row.run.dxs[i] is not None
    ]


def _whole(row: Row, i: int) -> bool:
    x = row.run.inputs[i]
    return x is not None and x.shape == row.run.output.shape


def _kept(row: Row) -> tuple[np.ndarray] | None:
    """Which numbers of this row were kept, as they show in it: of x = 0 nobody knows."""
    x = row.given()
    return ((row.y != 0).astype(float),) if x.size == row.y.size and bool((x != 0).all()) else None


@told_of(_kept)
def dropout(row: Row, keep: np.ndarray) -> Steps:
    return [
        step("x", "", row.given()),
        step("keep", "", keep, "drawn: 1 stays, 0 is dropped"),
        step("p", "", row.setting("p"), "how likely a number is dropped"),
        step("y", "x keep / (1 - p)", row.y, "what stays is made larger, so that the mean stays"),
    ]


@told_of(_kept)
def dropout_back(row: Row, keep: np.ndarray) -> Steps:
    return [step("dx", "dy keep / (1 - p)", row.came * keep / (1 - row.setting("p")), "what was dropped gets no gradient")]


def masked(row: Row) -> Steps | None:
    """A number in the place of what is hidden."""
    x = row.given()
    if x.size != row.y.size:
        return None
    hidden = (row.y != x).astype(float)
    return [
        step("x", "", x),
        step("mask", "", hidden, "1 is hidden"),
        step("y", "", row.y, "hidden numbers are replaced"),
    ]


def masked_back(row: Row) -> Steps | None:
    x = row.given()
    return [step("dx", "", np.where(row.y == x, row.came, 0.0), "what was replaced gets no gradient")]
