"""Operations that act on each number alone: y = f(x), and dx = dy f'(x), as their rows or docstrings have it."""

import numpy as np

from badak.inspect.visualize.steps.row import Row, Steps, step
from badak.ops.op import Saved
from badak.ops.pointwise import formula_of

SLOPE = "the slope at x"


def of_one(row: Row) -> bool:
    """Whether the operation of this row acts on each number of one input."""
    return bool(row.run.op.pointwise) and len(row.run.inputs) == 1


def pointwise(row: Row) -> Steps:
    f, x, c = formula_of(row.run.op, row.run.attributes), row.given(), row.setting("c")
    constant = [] if c is None else [step("c", "", float(c))]
    parts = [step(name, formula, of(x.astype(np.float64)), why) for name, formula, of, why in f.parts]
    return [step("x", "", x), *constant, *parts, step("y", f.y, row.y)]


def pointwise_back(row: Row) -> Steps:
    f, x = formula_of(row.run.op, row.run.attributes), row.given().astype(np.float64)
    parts = [step(name, formula, of(x), why) for name, formula, of, why in (*f.parts, *f.parts_of_slope)]
    slope = _slope(row, x)
    return [*parts, step("slope", f.slope, slope, SLOPE), step("dx", "dy slope", row.came * slope)]


def _slope(row: Row, x: np.ndarray) -> np.ndarray:
    """dy/dx, by the operation's own backward in float64."""
    saved = Saved((True,))
    row.run.op.forward(saved, x, **row.run.attributes)
    return row.run.op.backward(saved, np.ones_like(x))
