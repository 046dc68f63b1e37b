"""Rows of data that a model was given: those that it was trained on, and how many of those that it was tested on are among them."""

import linecache
import re
import sys
from typing import Any

import numpy as np

from badak.inspect.doctor.facts import Tested
from badak.inspect.doctor.names import is_own
from badak.tensor import Tensor

MOST = 200_000  # rows that are remembered
WIDE = 1024  # numbers of a row that are looked at
# The same for rows of every length, so that zeros at the end, which fill texts up, make no difference.
FACTORS = np.random.default_rng(0).integers(1, 2**63, WIDE, dtype=np.uint64) * 2 + 1


def signatures(args: tuple, kwargs: dict) -> np.ndarray | None:
    """A number for each row of the first tensor that has rows; equal rows, equal numbers."""
    for x in (*args, *kwargs.values()):
        if isinstance(x, Tensor) and x._node is None and x._array.ndim > 1 and x._array.size > 1:
            a = x._array.reshape(len(x._array), -1)
            if a.dtype.kind not in "fiu" or not len(a) or (a.dtype.kind != "f" and a.shape[1] < 6):
                return None
            a = a[:, :: -(-a.shape[1] // WIDE)]
            bits = np.ascontiguousarray(a).view(f"u{a.itemsize}").astype(np.uint64, copy=False)
            return bits @ FACTORS[: bits.shape[1]]
    return None


class Rows:
    """The rows that were trained on."""

    def __init__(self) -> None:
        self.trained: set[int] = set()
        self.seen = 0
        self.asked: np.ndarray | None = None
        self._last: np.ndarray | None = None

    def train(self, args: tuple, kwargs: dict) -> None:
        if self.seen < MOST:
            found = signatures(args, kwargs)
            if found is not None:
                self._last, self.asked = found, None
                self.seen += len(found)
                self.trained.update(found.tolist())

    def test(self, args: tuple, kwargs: dict, place: str) -> Tested | None:
        """What is to be said of rows that a model is asked about without gradients."""
        found = signatures(args, kwargs)
        if found is None or not self.trained:
            return None
        now = self._last is not None and np.array_equal(found, self._last)
        known = sum(1 for each in found.tolist() if each in self.trained)
        again = self.asked is not None and np.array_equal(found, self.asked)
        self.asked = found
        return Tested(place, len(found), known, words(1 if now else NEAR) if known else "", again)

    @property
    def few(self) -> bool:
        """Whether a handful of rows is all there is, as in exclusive or."""
        return len(self.trained) <= 8


WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
HELD = frozenset("test tests testing tested val valid validate validation dev heldout holdout held te va".split())


NEAR = 3  # calls within each other that are looked at


def words(left: int) -> str:
    """The first of some lines of the program, from the inside out, that says test or validation; "" where none does."""
    frame: Any = sys._getframe(1)
    while frame is not None and left:
        if not is_own(frame.f_code):
            left -= 1
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).split("#")[0].strip()
            name = frame.f_code.co_name
            loop = loop_around(frame.f_code.co_filename, frame.f_lineno)
            if said := next((each for each in (text, loop) if says_test(each) and not (each is loop and "train" in each)), ""):
                return said
            if says_test(name):
                return f"def {name}"
        frame = frame.f_back
    return ""


def loop_around(file: str, number: int) -> str:
    """The head of the innermost loop that a line stands in; "" where there is none."""
    text = linecache.getline(file, number)
    deep = len(text) - len(text.lstrip())
    for at in range(number - 1, max(0, number - 40), -1):
        text = linecache.getline(file, at)
        indent = len(text) - len(text.lstrip())
        if text.strip() and indent < deep:
            deep = indent
            if text.strip().startswith("for "):
                return text.strip()
    return ""


def says_test(text: str) -> bool:
    found = [word.lower() for word in WORD.findall(text)]
    return any(word in HELD or (word[0] in "xy" and word[1:] in HELD) for word in found)
