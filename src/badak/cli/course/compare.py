"""What a program gave for a case, next to what it should have given."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from badak.core.i18n import say
from badak.core.nests import inside
from badak.tensor import Tensor

SHOWN = 4  # numbers of each side


class Difference(NamedTuple):
    """Where two results part: a line of cause, a line of fix, and rows (place, yours, expected)."""

    cause: str
    fix: str
    rows: list[tuple[str, str, str]]


class Gradients(NamedTuple):
    """Those of the inputs that want one, and the names of these inputs."""

    values: tuple
    names: tuple[str, ...]


def array_of(value: Any) -> np.ndarray | None:
    """The numbers of a tensor, an array, a number or nested lists of them; None for anything else."""
    if isinstance(value, Tensor):
        return value.detach().numpy()
    if isinstance(value, list | tuple):
        parts = [array_of(part) for part in value]
        if any(part is None or part.shape != parts[0].shape for part in parts):  # type: ignore[union-attr]
            return None
        return np.array(parts)
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        found = np.asarray(value)
        return found if found.dtype.kind in "biuf" else None
    return None


def difference(given: Any, expected: Any, tolerance: float, where: str = "") -> Difference | None:
    """The first difference of two results, None where they agree. `expected` says which kind of value is wanted."""
    place = where or say("the result")
    if isinstance(expected, Gradients):
        return _each(given.values, expected.values, tolerance, [say("the gradient of {}", name) for name in expected.names])
    if isinstance(expected, tuple | list) and not _is_numbers(expected) and not _is_words(expected):
        size, sizes = len(given) if isinstance(given, tuple | list) else 1, len(expected)
        if not isinstance(given, tuple | list) or size != sizes:
            return Difference(
                say("{} has {} values, expected {}", place, size, sizes),
                say("return them as one tuple, in the order of the text"),
                [("", brief(given), brief(expected))] if next(inside((given, expected), Tensor), None) is None else [],
            )
        within = f"{where}, " if where else ""
        return _each(given, expected, tolerance, [within + say("value {} of {}", i, sizes) for i in range(1, sizes + 1)])
    if isinstance(expected, dict):
        if not isinstance(given, dict) or set(given) != set(expected):
            return Difference(
                say("{} is not the expected dict", place), say("compare the keys"), [("", brief(given), brief(expected))]
            )
        names = list(expected)
        return _each([given[n] for n in names], [expected[n] for n in names], tolerance, [f'"{n}"' for n in names])
    wanted = array_of(expected)
    if wanted is None:
        if type(given) is type(expected) and given == expected:
            return None
        return Difference(say("{} differs", place), say("work the case through on paper"), [("", brief(given), brief(expected))])
    return _numbers(given, wanted, isinstance(expected, Tensor), tolerance, place)


def _each(given: Any, expected: Any, tolerance: float, places: Iterable[str]) -> Difference | None:
    for mine, theirs, place in zip(given, expected, places):
        found = difference(mine, theirs, tolerance, place)
        if found is not None:
            return found
    return None


def _is_words(value: tuple | list) -> bool:
    """Whether it holds strings alone: a pair of them is one value."""
    return bool(value) and all(isinstance(part, str) for part in value)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and array_of(value) is not None


def _numbers(given: Any, wanted: np.ndarray, is_tensor: bool, tolerance: float, place: str) -> Difference | None:
    mine = array_of(given)
    if given is None:
        return Difference(
            say("{} is None", place), say("the function has no return, or it stands in a branch that was not taken"), []
        )
    if mine is None:
        return Difference(
            say("{} is a {}, expected numbers", place, type(given).__name__),
            say("return a tensor") if is_tensor else say("return numbers"),
            [],
        )
    if mine.shape != wanted.shape and is_tensor and isinstance(given, tuple | list):
        kind = type(given).__name__
        return Difference(say("{} is a {} of {} values, expected one tensor", place, kind, len(given)), say("return a tensor"), [])
    if mine.shape != wanted.shape:
        return Difference(
            say("{} has shape {}, expected {}", place, mine.shape, wanted.shape),
            say("write the shape of each line behind it as a comment, and look where it changes"), [],
        )  # fmt: skip
    kinds = {"b": "bool", "iu": "long", "f": "float"}
    kind = next(k for k in kinds if wanted.dtype.kind in k)
    if mine.dtype.kind not in kind:
        return Difference(
            say("{} has dtype {}, expected {}", place, mine.dtype, wanted.dtype),
            say("convert it at the end: x.{}()", kinds[kind]),
            [],
        )
    if is_tensor and isinstance(given, Tensor) and mine.dtype != wanted.dtype:
        return Difference(
            say("{} has dtype {}, expected {}", place, mine.dtype, wanted.dtype),
            say("make new tensors with dtype=x.dtype, as the input"),
            [],
        )
    return _values(mine, wanted, tolerance, place)


def _values(mine: np.ndarray, wanted: np.ndarray, tolerance: float, place: str) -> Difference | None:
    if not wanted.size:
        return None
    if wanted.dtype.kind != "f":
        wrong = mine != wanted
    else:
        finite = np.abs(wanted[np.isfinite(wanted)])
        bound = tolerance * (1e-3 + np.abs(wanted) + 0.1 * (finite.max() if finite.size else 0.0))
        with np.errstate(all="ignore"):
            wrong = ~((np.abs(mine - wanted) <= bound) | (mine == wanted) | (np.isnan(mine) & np.isnan(wanted)))
    if not wrong.any():
        return None
    rows = [(str([int(i) for i in at]) if at.size else "", f"{mine[tuple(at)]:.6g}", f"{wanted[tuple(at)]:.6g}")
            for at in np.argwhere(wrong)[:SHOWN]]  # fmt: skip
    bad = int(np.isnan(mine).sum() - np.isnan(wanted).sum()) if wanted.dtype.kind == "f" else 0
    if bad > 0:
        return Difference(
            say("{} has NaN in {} of {} numbers", place, bad, mine.size),
            say("look for inf - inf, 0 / 0, exp of a large number, or log of 0"),
            rows,
        )
    return Difference(say("{} is wrong in {} of {} numbers", place, int(wrong.sum()), mine.size), _pattern(mine, wanted), rows)


def _pattern(mine: np.ndarray, wanted: np.ndarray) -> str:
    """What the wrong numbers have in common."""
    if mine.dtype.kind == wanted.dtype.kind == "f":
        with np.errstate(all="ignore"):
            ratios = (mine / wanted)[np.abs(wanted) > 1e-6]
        if ratios.size > 1 and np.isfinite(ratios).all() and np.ptp(ratios) < 1e-3 * abs(ratios[0]) and abs(ratios[0]) > 1e-6:
            return say("each number is {:.4g} times the expected one: look for that factor", ratios[0])
    if mine.ndim > 1 and mine.shape[-1] == mine.shape[-2] and np.allclose(mine.swapaxes(-1, -2), wanted, 1e-3, 1e-5, True):
        return say("the numbers are right and the last two axes are swapped: transpose")
    if mine.dtype.kind == "b" and mine.size > 1 and (mine != wanted).all():
        return say("each value is the opposite: True and False are swapped")
    return say("compute the first number of the list by hand, and print what your program has there")


def brief(value: Any) -> str:
    """A value on one line."""
    return on_a_line(repr(value))


def on_a_line(text: str) -> str:
    """A text without the ends of its lines, and without its middle where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= 120 else f"{text[:100]} ... {text[-15:]}"
