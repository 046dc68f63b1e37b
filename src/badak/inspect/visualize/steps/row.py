"""One operation at one place, and a step through it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from badak.inspect.visualize.numbers import FIRST, short
from badak.inspect.visualize.trace import Ran

Steps = list[dict[str, Any]]


@dataclass(eq=False)
class Row:
    """One operation at one place: rows of its inputs and its output, of what came back, and of what goes on; None where unknown."""

    run: Ran
    x: list[np.ndarray | None]
    y: np.ndarray
    dy: np.ndarray | None
    dx: list[np.ndarray | None]
    place: int
    role: str = ""

    @property
    def kind(self) -> str:
        """Which operation; one of mixed precision is told as its twin."""
        return self.run.op.__name__.removeprefix("Mixed")

    def given(self, i: int = 0) -> np.ndarray:
        """A row that is known: `table.py` asks nobody for steps otherwise."""
        x = self.x[i]
        assert x is not None
        return x

    @property
    def came(self) -> np.ndarray:
        assert self.dy is not None
        return self.dy

    def setting(self, name: str, default: Any = None) -> Any:
        return self.run.attributes.get(name, default)


def told_of(find: Callable[[Row], tuple | None]) -> Callable[[Callable[..., Steps]], Callable[[Row], Steps | None]]:
    """A decorator: the steps of a row are told of what is found in it; where nothing is found, there are none."""

    def decorate(tell: Callable[..., Steps]) -> Callable[[Row], Steps | None]:
        return lambda row: None if (found := find(row)) is None else tell(row, *found)

    return decorate


def step(name: str, formula: str, values: Any, why: str = "") -> dict[str, Any]:
    """One step: at most the first six of its values."""
    flat = np.asarray(values, np.float64).reshape(-1)
    return {"name": name, "formula": formula, "values": short(flat[:FIRST]), "of": int(flat.size), "why": why}


def filled(x: np.ndarray | None, size: int, default: float) -> np.ndarray:
    """A parameter that may be absent."""
    return np.full(size, default) if x is None else x.astype(np.float64).reshape(-1)
