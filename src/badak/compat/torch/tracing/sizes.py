"""Which integers of a trace follow the sizes of its inputs: the same run with other sizes says it.

An integer of the trace is a polynomial of the sizes, of degree one in each, such as batch * heads or 3 + length. Its coefficients
follow from the runs at the corners (each size as it is, and one larger), and another run, with all sizes changed, is the proof.
"""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from badak.compat.torch.tracing.record import Ref, Step, Trace, Value
from badak.core.errors import NotSupportedError, tr

Point = tuple[int, ...]  # a size for each symbol
MOST = 4  # symbols: the runs are 2^n + 1


class Expression(NamedTuple):
    """The sum of c * the product of the symbols of each term."""

    terms: tuple[tuple[tuple[int, ...], int], ...]  # ((numbers of symbols), c)

    def at(self, point: Point) -> int:
        """Its value."""
        return sum(c * int(np.prod([point[i] for i in term], dtype=object)) for term, c in self.terms)


class Differs(NotSupportedError):
    """Two runs with other sizes are not the same program."""


def corners(point: Point) -> list[Point]:
    """Each size as it is, and one larger."""
    return list(product(*((n, n + 1) for n in point)))


def fitted(numbers: list[int], at: list[Point], where: str) -> int | Expression:
    """The integer that takes these values; `at` are the corners of the first of them, and a last point, the proof."""
    if len(set(numbers)) == 1:
        return numbers[0]
    base, n = at[0], len(at[0])
    terms: dict[tuple[int, ...], int] = {}
    for subset in product((0, 1), repeat=n):
        chosen = tuple(i for i in range(n) if subset[i])
        terms[chosen] = 0
    # f(s) = sum over subsets of the finite difference * product of (s_i - base_i), written out
    values = dict(zip(at[:-1], numbers[:-1]))
    for subset in list(terms):
        difference = 0
        for inner in product(*(((0, 1) if i in subset else (0,)) for i in range(n))):
            sign = (-1) ** (len(subset) - sum(inner))
            difference += sign * values[tuple(b + d for b, d in zip(base, inner))]
        for inner in product(*(((0, 1) if i in subset else (0,)) for i in range(n))):
            term = tuple(i for i in range(n) if inner[i])
            rest = int(np.prod([-base[i] for i in subset if not inner[i]], dtype=object))
            terms[term] = terms[term] + difference * rest
    found = Expression(tuple((term, c) for term, c in terms.items() if c))
    if found.at(at[-1]) != numbers[-1]:
        shown = ", ".join(f"{number} at {point}" for number, point in zip(numbers, at))
        raise Differs(tr("{}: an integer follows the sizes in no simple way: {}", where, shown), "leave that size fixed")
    return found


def unified(traces: list[Trace], points: list[Point]) -> Trace:
    """The trace whose integers are expressions of the sizes; `points`: the sizes of each trace, the last one is the proof."""
    first = traces[0]
    for other in traces[1:]:
        ours, theirs = ([name_of(step.function) for step in each.steps] for each in (first, other))
        if ours != theirs:
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            one, two = (names[at] if at < len(names) else "its end" for names in (ours, theirs))
            cause = tr("the program is another one for other sizes: step {} is {} at one size, {} at another", at, one, two)
            raise Differs(cause, "fix the size")
    for number, values in enumerate(zip(*(each.values for each in traces))):
        if values[0].kind == "constant":
            first.values[number] = _constant(list(values), points)
    first.steps = [
        Step(
            steps[0].kind, steps[0].function,
            _same([step.inputs for step in steps], points, name_of(steps[0].function)),
            _same([step.attributes for step in steps], points, name_of(steps[0].function)), steps[0].outputs,
        )
        for steps in zip(*(each.steps for each in traces))
    ]  # fmt: skip
    return first


def _same(all_: list, points: list[Point], where: str) -> Any:
    one = all_[0]
    if isinstance(one, Ref) or isinstance(one, bool) or one is None or isinstance(one, str):
        pass
    elif isinstance(one, int) and all(type(x) is int for x in all_):
        return fitted(all_, points, where)
    elif isinstance(one, tuple | list) and all(type(x) is type(one) and len(x) == len(one) for x in all_):
        return type(one)(_same(list(parts), points, where) for parts in zip(*all_))
    elif isinstance(one, dict) and all(isinstance(x, dict) and x.keys() == one.keys() for x in all_):
        return {name: _same([x[name] for x in all_], points, where) for name in one}
    elif isinstance(one, slice) and all(isinstance(x, slice) for x in all_):
        return slice(*(_same([getattr(x, part) for x in all_], points, where) for part in ("start", "stop", "step")))
    if any(x != one or type(x) is not type(one) for x in all_):
        cause = tr("{}: {!r} at one size, {!r} at another", where, one, next(x for x in all_ if x != one))
        raise Differs(cause, "leave that size fixed")
    return one


class Made(NamedTuple):
    """A constant that follows the sizes. how: "full" of a shape with one value, or "arange" from `start` by `step`, n of them."""

    how: str
    dtype: np.dtype
    shape: tuple
    start: Any
    step: Any = 0


def _constant(values: list[Value], points: list[Point]) -> Value:
    arrays = [each.array for each in values]
    one = arrays[0]
    if all(each.shape == one.shape and each.tobytes() == one.tobytes() for each in arrays):
        return values[0]
    if all(each.ndim == one.ndim and each.dtype == one.dtype and each.size for each in arrays):
        shape = tuple(fitted([each.shape[axis] for each in arrays], points, tr("a constant")) for axis in range(one.ndim))
        firsts = [each.reshape(-1)[0].item() for each in arrays]
        if all((each == each.reshape(-1)[0]).all() for each in arrays):
            start = (
                firsts[0] if len(set(firsts)) == 1 else fitted(firsts, points, tr("a constant")) if type(firsts[0]) is int else None
            )
            if start is not None:
                values[0].made = Made("full", one.dtype, shape, start)
                return values[0]
        if one.ndim == 1 and one.dtype.kind == "i" and min(map(len, arrays)) > 1:
            steps = {int(each[1] - each[0]) for each in arrays}
            if len(steps) == 1 and all((np.diff(each) == next(iter(steps))).all() for each in arrays):
                start = fitted(firsts, points, tr("a constant"))
                values[0].made = Made("arange", one.dtype, shape, start, steps.pop())
                return values[0]
    shapes = tr(" and ").join(str(each.shape) for each in arrays[:2])
    cause = tr("a constant of the program follows the sizes in no simple way (shapes {})", shapes)
    raise Differs(cause, "make it of badak.arange, zeros, ones or full, or leave the size fixed")


def name_of(function: Any) -> str:
    """The name of what a step does: "norm.LayerNorm", "compare.eq"."""
    return f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
