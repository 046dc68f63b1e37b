"""What a dataset gives when one example is asked for several times: pictures that are mirrored, and their labels or not."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from badak.tensor import Tensor
from badak.tensor.random import default_generator

TIMES, EXAMPLES, FAR = 8, 6, 1 << 18  # asked, examples, numbers of a picture


@contextmanager
def drawing_nothing() -> Iterator[None]:
    """What is drawn meanwhile is given back: the program goes on with the numbers that it would have had."""
    states = random.getstate(), np.random.get_state(), default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        default_generator.set_state(states[2])


def parts(example: Any) -> list[np.ndarray]:
    """The arrays of an example, in their order."""
    if isinstance(example, dict):
        example = tuple(example.values())
    every = example if isinstance(example, (tuple, list)) else (example,)
    return [x._array if isinstance(x, Tensor) else np.asarray(x) for x in every if isinstance(x, (Tensor, np.ndarray, int, float))]


def is_picture(x: np.ndarray) -> bool:
    return x.ndim in (2, 3) and x.dtype.kind == "f" and min(x.shape[-2:]) > 3 and x.size <= FAR


def mirrored(a: np.ndarray, b: np.ndarray) -> int:
    """Along which of the last two axes one picture is the mirror of another that it does not equal; 0 where it is not."""
    if a.shape != b.shape or np.array_equal(a, b):
        return 0
    return next((axis for axis in (-1, -2) if np.array_equal(np.flip(a, axis), b)), 0)


def asked(dataset: Any) -> list[tuple[int, bool | None]]:
    """(axis, whether what is asked for each place is mirrored as well; None where nothing is) for each mirrored answer."""
    found: list[tuple[int, bool | None]] = []
    with drawing_nothing(), suppress(Exception):  # a dataset of the program's own may be anything
        for i in range(min(EXAMPLES, len(dataset))):
            first = parts(dataset[i])
            if not first or not is_picture(first[0]):
                break
            for _ in range(TIMES - 1):
                other = parts(dataset[i])
                if axis := mirrored(first[0], other[0]):
                    places = [(a, b) for a, b in zip(first[1:], other[1:]) if a.shape[-2:] == first[0].shape[-2:]]
                    moves = [(a, b) for a, b in places if not np.array_equal(a, np.flip(a, axis))]
                    found.append((axis, all(np.array_equal(np.flip(a, axis), b) for a, b in moves) if moves else None))
    return found


def stable(dataset: Any) -> bool:
    """Whether each of its first examples is the same when it is asked for again."""
    with drawing_nothing():
        for i in range(min(EXAMPLES, len(dataset))):
            first, other = parts(dataset[i]), parts(dataset[i])
            if len(first) != len(other) or not all(np.array_equal(a, b) for a, b in zip(first, other)):
                return False
        return True


def switched_on(dataset: Any) -> str:
    """The attribute of a dataset of the program's own that is True, and without which its examples are the same each time; "" for
    none."""
    own = getattr(dataset, "__dict__", {})
    with suppress(Exception):
        for name in [name for name, value in own.items() if value is True] if not stable(dataset) else ():
            own[name] = False
            try:
                if stable(dataset):
                    return name
            finally:
                own[name] = True
    return ""
