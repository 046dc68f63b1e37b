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


def columns(args: tuple, kwargs: dict) -> np.ndarray | None:
    """The same for the columns of ids, which may be texts."""
    x = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x._node is None and x._array.ndim > 1), None)
    if x is None or x._array.ndim != 2 or x._array.dtype.kind == "f":
        return None
    return signatures((Tensor._of(np.ascontiguousarray(x._array.T)),), {})


class Rows:
    """The rows that were trained on."""

    def __init__(self) -> None:
        self.trained: set[int] = set()
        self.seen = 0
        self.asked: np.ndarray | None = None
        self.drawn: Tensor | None = None  # rows of data, before anything is done to them
        self._last: np.ndarray | None = None

    def train(self, args: tuple, kwargs: dict) -> None:
        if self.seen < MOST:
            found, drawn = signatures(args, kwargs), self.drawn
            found = columns(args, kwargs) if found is None else found
            if found is not None:
                self._last, self.asked, self.drawn = found, None, None
                self.seen += len(found)
                self.trained.update(found.tolist())
                if (texts := columns(args, kwargs)) is not None:
                    self.trained.update(texts.tolist())
                if drawn is not None and len(drawn._array) == len(found) and (before := signatures((drawn,), {})) is not None:
                    self.trained.update(before.tolist())

    def test(self, args: tuple, kwargs: dict, place: str) -> Tested | None:
        """What is to be said of rows that a model is asked about without gradients."""
        found, texts, self.drawn = signatures(args, kwargs), columns(args, kwargs), None
        if found is None or texts is not None and self.share(texts) > self.share(found):
            found = texts
        if found is None or not self.trained:
            return None
        now = self._last is not None and np.array_equal(found, self._last)
        known = sum(1 for each in found.tolist() if each in self.trained)
        again = self.asked is not None and np.array_equal(found, self.asked)
        self.asked = found
        return Tested(place, len(found), known, words(1 if now else NEAR) if known else "", again)

    def share(self, found: np.ndarray) -> float:
        """How many of some rows were trained on."""
        return sum(each in self.trained for each in found.tolist()) / max(len(found), 1)

    @property
    def few(self) -> bool:
        """Whether a handful of rows is all there is, as in exclusive or."""
        return len(self.trained) <= 8


WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
STEM = re.compile(r"(loader|set|data|iter|dl|ds)$")  # testloader, valset
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
            if chosen := chooses(frame.f_code.co_filename, text):
                return chosen
        frame = frame.f_back
    return ""


def chooses(file: str, text: str) -> str:
    """The line by which the best is chosen by what a line computes, in a program that has data for tests; else ""."""
    found = re.match(r"(\w+) = ", text)
    lines = linecache.getlines(file) if found else []
    if not found or not any(map(says_test, lines)):
        return ""
    name = re.escape(found[1])
    best = re.compile(rf"\bbest\w*\W+(=\s*(max|min)\(.*)?.*\b{name}\b|\b{name}\s*[<>]=?\s*[\w.\[\"']*best", re.IGNORECASE)
    return next((each.strip() for each in lines if best.search(each.split("#")[0]) and says_choice(each)), "")


def says_choice(text: str) -> bool:
    return any(each in text for each in ("<", ">", "max(", "min("))


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
    found = [STEM.sub("", word.lower()) or "data" for word in WORD.findall(text)]
    return any(word in HELD or (word[0] in "xy" and word[1:] in HELD) for word in found)
