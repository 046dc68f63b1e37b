"""A step length that is long enough and not too long: the strong Wolfe conditions, by bracketing and cubic interpolation."""

from collections.abc import Callable
from typing import Any, NamedTuple

LESS = 1e-4  # of the slope at the start: how much the loss must fall
FLATTER = 0.9  # of the slope at the start: how flat it must have become


class Point(NamedTuple):
    """The loss a step length t along a direction d, its gradient and slope = gradient . d there."""

    t: Any
    loss: float
    grad: Any
    slope: Any


def strong_wolfe(
    at: Callable[[Any], Point],
    start: Point,
    t: Any,
    reach: Any,
    most: int,
    close: float = 1e-9,
    less: float = LESS,
    flatter: float = FLATTER,
) -> tuple[Point, int]:
    """(a point whose loss has fallen and whose slope is flat enough, evaluations of `at`); the best found after `most` tries.

        loss(t) <= loss(0) + less t slope(0)          |slope(t)| <= flatter |slope(0)|

    t: the first to try. reach: the largest |d|, which with `close` says when a bracket is too small to go on.
    Source: Nocedal and Wright 2006, "Numerical Optimization", algorithms 3.5 and 3.6, with minFunc's safeguards as in PyTorch.
    """
    ends, tries, done = _bracket(at, start, t, most, less, flatter)
    low = 0 if ends[0].loss <= ends[1].loss else 1
    stuck = False
    while not done and tries < most and not abs(ends[1].t - ends[0].t) * reach < close:
        t, stuck = _inner(ends, stuck)
        new, tries = at(t), tries + 1
        if new.loss > start.loss + less * t * start.slope or new.loss >= ends[low].loss:
            ends[1 - low] = new
            low = 0 if ends[0].loss <= ends[1].loss else 1
            continue
        done = bool(abs(new.slope) <= -flatter * start.slope)
        if not done and new.slope * (ends[1 - low].t - ends[low].t) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = new
    return ends[low], tries + 1


def _bracket(
    at: Callable[[Any], Point], start: Point, t: Any, most: int, less: float, flatter: float
) -> tuple[list[Point], int, bool]:
    """(two points around one that fulfils the conditions, tries after the first, whether both are such a point)."""
    before, now, tries = start, at(t), 0
    while tries < most:
        if now.loss > start.loss + less * now.t * start.slope or (tries > 1 and now.loss >= before.loss):
            return [before, now], tries, False
        if abs(now.slope) <= -flatter * start.slope:
            return [now, now], tries, True
        if now.slope >= 0:
            return [before, now], tries, False
        t = _lowest(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now, tries = now, at(t), tries + 1
    return [start, now], tries, False


def _inner(ends: list[Point], stuck: bool) -> tuple[Any, bool]:
    """(a step length within a bracket, whether it lies near an end of it: the second time in a row it is moved inwards)."""
    low, high = min(ends[0].t, ends[1].t), max(ends[0].t, ends[1].t)
    t, margin = _lowest(ends[0], ends[1], low, high), 0.1 * (high - low)
    if not min(high - t, t - low) < margin:
        return t, False
    if not (stuck or t >= high or t <= low):
        return t, True
    return (high - margin if abs(t - high) < abs(t - low) else low + margin), False


def _lowest(a: Point, b: Point, low: Any, high: Any) -> Any:
    """Where the cubic through both points with their slopes is lowest, held in [low, high]; the middle where it has no minimum."""
    first, last = (a, b) if a.t <= b.t else (b, a)
    u = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = u**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square**0.5
    t = last.t - (last.t - first.t) * ((last.slope + root - u) / (last.slope - first.slope + 2 * root))
    return min(max(t, low), high)


def _strong_wolfe(obj_func, x, t, d, f, g, gtd, c1=LESS, c2=FLATTER, tolerance_change=1e-9, max_ls=25):
    """PyTorch's form of `strong_wolfe`: (loss, gradient, t, evaluations); obj_func(x, t, d) gives (loss, gradient) at x + t d."""

    def at(t: Any) -> Point:
        loss, grad = obj_func(x, t, d)
        return Point(t, loss, grad, grad.dot(d))

    best, tries = strong_wolfe(at, Point(0, f, g, gtd), t, d.abs().max(), max_ls, tolerance_change, c1, c2)
    return best.loss, best.grad, best.t, tries


def _cubic_interpolate(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through both points with their slopes is lowest, held in `bounds`, or between them."""
    low, high = bounds or (min(x1, x2), max(x1, x2))
    return _lowest(Point(x1, f1, None, g1), Point(x2, f2, None, g2), low, high)
