"""Rows of data that a model was given: those that it was trained on, and how many of those that it was tested on are among them."""

import linecache
import re
import sys
from typing import Any

import numpy as np

from badak.core.modes import modes
from badak.data import BatchSampler, Dataset, RandomSampler, SequentialSampler, Subset
from badak.inspect.doctor.facts import Tested
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import is_own
from badak.tensor import Tensor

KINDS = 0.5  # of rows that are asked about, which differ
MOST = 200_000  # rows that are remembered
WIDE = 1024  # numbers of a row that are looked at
# The same for rows of every length, so that zeros at the end, which fill texts up, make no difference.
FACTORS = np.random.default_rng(0).integers(1, 2**63, WIDE, dtype=np.uint64) * 2 + 1


def bags(args: tuple, kwargs: dict) -> np.ndarray | None:
    """(n, longest) of texts one behind the other, and where each begins, as an embedding bag reads them; 0 fills up."""
    every = [x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x._node is None]
    flat = [x for x in every if x.ndim == 1 and x.dtype.kind in "iu"]
    for begins in (x for x in flat if len(x) > 1 and not x[0] and (np.diff(x) >= 0).all() and x[-1] > 0):
        text = next((x for x in flat if x is not begins and len(x) > len(begins) and len(x) >= begins[-1]), None)
        if text is not None:
            return filled_up(text, begins)
    return None


def filled_up(text: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """Texts that lie one behind the other as rows of one length."""
    long = np.diff(begins, append=len(text))
    made = np.zeros((len(begins), min(max(int(long.max()), 1), WIDE)), text.dtype)
    inside = np.arange(made.shape[1]) < long[:, None]
    made[inside] = np.concatenate([text[a : a + min(n, WIDE)] for a, n in zip(begins, long)])
    return made


def signatures(args: tuple, kwargs: dict) -> np.ndarray | None:
    """A number for each row: of the first tensor that has rows; of all texts, where it holds ids. Equal rows, equal numbers."""
    found, wide = None, 0
    for x in (*args, *kwargs.values()):
        if not isinstance(x, Tensor) or x._node is not None or x._array.ndim < 2 or x._array.size < 2:
            continue
        a = x._array.reshape(len(x._array), -1)
        if found is None and (a.dtype.kind not in "fiu" or not len(a)):
            return None
        numbers = a.dtype.kind == "f"
        if found is not None and (len(a) != len(found) or (numbers and wide >= 6)):
            continue
        if found is not None and not numbers and (a.dtype.kind not in "iu" or a.min() < 0 or (a == a[:1]).all()):
            continue  # labels of which some do not count, and positions, hang on how long the others are
        a = a[:, :: -(-a.shape[1] // WIDE)]
        bits = np.ascontiguousarray(a).view(f"u{a.itemsize}").astype(np.uint64, copy=False)
        own = bits @ FACTORS[: bits.shape[1]]
        found = own if found is None else own + found * FACTORS[-1]
        wide += a.shape[1]
        if numbers:
            return found
    if found is None and (texts := bags(args, kwargs)) is not None:
        return signatures((Tensor._of(texts),), {})
    return found if wide >= 6 else None


def columns(args: tuple, kwargs: dict) -> np.ndarray | None:
    """The same for the columns of ids, which may be texts."""
    x = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor) and x._node is None and x._array.ndim > 1), None)
    if x is None or x._array.ndim != 2 or x._array.dtype.kind == "f":
        return None
    return signatures((Tensor._of(np.ascontiguousarray(x._array.T)),), {})


def places_of(dataset: Any, index: Any) -> np.ndarray | None:
    """A number for each example: which one of the dataset that lies below subsets and what wraps them."""
    index = list(index) if isinstance(index, (list, tuple)) else []
    for _ in range(8):
        held: list[Any] = [x for x in getattr(dataset, "__dict__", {}).values() if isinstance(x, Dataset)]
        if isinstance(dataset, Subset):
            index, dataset = [dataset.indices[i] for i in index], dataset.dataset
        elif len(held) == 1 and len(held[0]) == len(dataset):
            dataset = held[0]
        else:
            break
    else:
        return None
    return np.array([hash((id(dataset), int(i))) for i in index]) if index else None


def source_of(loader: Any) -> int:
    """Of a loader that gives all of a dataset: which dataset; 0 where it gives a part, or what cannot be told."""
    sampler, dataset = getattr(loader, "sampler", None), getattr(loader, "dataset", None)
    whole = isinstance(sampler, RandomSampler | SequentialSampler) and sampler.data_source is dataset
    return id(dataset) if whole and type(getattr(loader, "batch_sampler", None)) is BatchSampler else 0


class Rows:
    """The rows that were trained on."""

    def __init__(self) -> None:
        self.trained: set[int] = set()
        self.own: dict[int, set[int]] = {}  # those of each model
        self.rows: dict[int, set[int]] = {}  # the same, as they were given
        self.seen = 0
        self.asked: np.ndarray | None = None
        self.drawn: Tensor | None = None  # rows of data, before anything is done to them
        self.places: np.ndarray | None = None  # of the rows of a loader in their dataset
        self.times: dict[int, list] = {}  # data that rows are picked from: it, which were, how many
        self.beside: dict[int, int] = {}  # such data: how often rows were picked without gradients
        self.windows: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}  # memory of windows: what of, where they begin, how long
        self.flat: dict[int, np.ndarray] = {}  # memory that parts of a text are views of, as one row
        self.covered: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # data that windows are cut from, and what was read of it
        self._last: np.ndarray | None = None
        self.given: Any = None  # the dataset of the batch that a loader gave last
        self.loaded: dict[int, Any] = {}  # the datasets of batches that a training was given
        self.loaded_for_tests: dict[int, tuple[Any, str]] = {}  # those of tests, and what a line says
        self.source = 0  # the dataset of the batch that a loader gave last, which a call will read
        self.unread = False  # whether batches were given that no call has read
        self.sources: set[int] = set()  # those of batches that were trained on
        self.acted = 0  # how often a model was asked about one row without gradients, as what a policy does
        self._before: dict[str, tuple[np.ndarray, int]] = {}  # by the line: what the last call in training was given; `acted` then
        self.slides = 0  # calls in training that were given the rows of the one before, in their order, all or all but a few
        self.read: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # data that rows are picked from, and how often each was
        self.whole: dict[int, np.ndarray] = {}  # tables of numbers that tests were given, which no loader made
        self.slices: dict[int, tuple[np.ndarray, int, int]] = {}  # tables that rows one after the other were learnt of: which
        self._asked_now: list[tuple[Tested, np.ndarray]] = []
        self.masks: set[bytes] = set()  # that picked the labels of a training from those of all rows
        self.masks_of_tests: list[tuple[bytes, str, int, int]] = []  # of tests: also what a line says, how many it picks, of which

    def train(self, args: tuple, kwargs: dict, model: int, place: str) -> None:
        if self.given is not None:
            self.loaded[id(self.given)] = self.given
            self.given = None
        self.slice_of(next((x._array for x in args if isinstance(x, Tensor) and x._node is None), None))
        if self.seen < MOST:
            found, drawn = signatures(args, kwargs), self.drawn
            found = columns(args, kwargs) if found is None else found
            if found is not None:
                before, acted = self._before.get(place, (None, 0))
                self.slides += slid(before, found, self.acted > acted)
                self._before[place] = found, self.acted
                self._last, self.asked, self.drawn = found, None, None
                self.seen += len(found)
                kept = set(found.tolist())
                self.rows.setdefault(model, set()).update(kept)
                if (texts := columns(args, kwargs)) is not None:
                    kept.update(texts.tolist())
                if drawn is not None and len(drawn._array) == len(found) and (drawn_as := signatures((drawn,), {})) is not None:
                    kept.update(drawn_as.tolist())
                if self.places is not None and len(self.places) == len(found):
                    kept.update(self.places.tolist())
                if self.source and drawn is not None and len(drawn._array) == len(found):
                    self.sources.add(self.source)
                self.source, self.unread = 0, False
                for whole, begins, long in self.cut(args):
                    _, read = self.covered.setdefault(id(whole), (whole, np.zeros(len(whole), bool)))
                    read[begins[:, None] + np.arange(long)] = True
                    if not any(whole is text for text in self.flat.values()):
                        self.count(whole, begins)
                self.places = None
                self.trained |= kept
                self.own.setdefault(model, set()).update(kept)

    def masked(self, mask: np.ndarray, labels: np.ndarray) -> None:
        """The labels of some of all rows are picked by a mask."""
        if modes.grad and self.asked is None:  # else a model was asked without gradients before it
            self.masks.add(mask.tobytes())
        elif len(self.masks_of_tests) < 256:
            self.masks_of_tests.append((mask.tobytes(), words(NEAR), int(mask.sum()), memory(labels)))

    def drew(self, source: int) -> None:
        """A loader gave a batch of all of a dataset; one that nobody read, as behind the steps that are watched, tells nothing."""
        self.source = 0 if self.source or self.unread else source
        self.unread = bool(source) and not self.source

    def slice_of(self, x: Any) -> None:
        """A training is given some rows of a table, one after the other."""
        whole = x
        while whole is not None and isinstance(whole.base, np.ndarray):
            whole = whole.base
        if whole is not x and whole.ndim == x.ndim > 1 and whole.strides == x.strides and whole.shape[1:] == x.shape[1:]:
            first = (memory(x) - memory(whole)) // x.strides[0]
            _, low, high = self.slices.get(id(whole), (whole, first, 0))
            if id(whole) in self.slices or len(self.slices) < 8:
                self.slices[id(whole)] = whole, min(low, first), max(high, first + len(x))

    def part_of(self, args: tuple, part: int) -> None:
        """The rows of data that a part of a model is given, which the program may ask by itself in a test."""
        if len(self.own.get(part, ())) < MOST and (found := signatures(args, {})) is not None and len({*found.tolist()}) > 1:
            self.own.setdefault(part, set()).update(found.tolist())

    def test(self, args: tuple, kwargs: dict, place: str, model: int, part: bool = False) -> Tested | None:
        """What is to be said of rows that a model, or a part of it, is asked about without gradients."""
        if self.given is not None and id(self.given) not in self.loaded_for_tests:
            self.loaded_for_tests[id(self.given)] = self.given, words(NEAR)
        first = next((x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
        if self.given is None and first is not None and len(self.whole) < 8 and self.trained:
            self.whole[memory(first)] = first
        self.given = None
        pool = self.own.get(model, set() if part else self.trained)  # of an average of the weights, say, those of all
        found, texts, drawn = signatures(args, kwargs), columns(args, kwargs), self.drawn
        self.drawn = None
        if found is None or texts is not None and share(texts, pool) > share(found, pool):
            found = texts
        inside = self.part(args, kwargs)
        if found is None and inside:  # one number for each row
            return Tested(place, inside, inside, words(NEAR), False, model)
        if found is None or not self.trained:
            return None
        now = self._last is not None and np.array_equal(found, self._last)
        known = sum(1 for each in found.tolist() if each in pool)
        if self.places is not None and len(self.places) == len(found):
            known = max(known, sum(1 for each in self.places.tolist() if each in pool))
        cut, self.places = self.overlap(args), None
        known = max(known, cut)
        if self.source in self.sources and self.source and drawn is not None and len(drawn._array) == len(found):
            known = len(found)
        self.source, self.unread = 0, False
        if part and not known:  # of what it draws itself, say
            return None
        kinds = len(np.unique(found)) / max(len(found), 1)
        if kinds < 0.95 and known < 0.95 * len(found) or kinds < KINDS and not cut:
            known = 0  # of so few kinds some, or all, are equal by chance
        again = self.asked is not None and np.array_equal(found, self.asked)
        self.asked = found
        known = max(known, inside)
        assert first is not None
        sure = first.dtype.kind == "f" and first.size >= SURE * len(found)
        said = words(1 if now else NEAR, bool(cut)) if known else ""
        tested = Tested(place, len(found), known, said, again, model, len(self.rows.get(model, ())), sure)
        self._asked_now = [*self._asked_now[-7:], (tested, found)]
        return tested

    def picked(self, whole: np.ndarray, rows: np.ndarray) -> None:
        """Rows of data were picked for training."""
        if len(self.read) < 8 or id(whole) in self.read:
            _, times = self.read.setdefault(id(whole), (whole, np.zeros(len(whole), bool)))
            times[rows] = True
        if whole.ndim > 1:
            self.count(whole, rows)

    def cut(self, args: tuple) -> list[tuple[np.ndarray, np.ndarray, int]]:
        """Of windows that a model is given: what they are cut from, where they begin, how long they are."""
        arrays = [x._array for x in args if isinstance(x, Tensor)][:1]
        known = [self.windows[memory(x)] for x in arrays if memory(x) in self.windows]
        return known or [each for x in arrays if (each := self.seen_of(x)) is not None]

    def seen_of(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, int] | None:
        """The same of ids (B, T) that are no copy: a part of a text that lies in memory as a whole, row by row."""
        whole: Any = x
        while isinstance(whole.base, np.ndarray):
            whole = whole.base
        plain = x.ndim == 2 and x.dtype.kind in "iu" and x.strides[-1] == x.itemsize and x.strides[0] > 0 and x.size > 1
        if whole is x or not plain or whole.dtype != x.dtype or not whole.flags.c_contiguous:
            return None
        if id(whole) not in self.flat and len(self.flat) < 8:
            self.flat[id(whole)] = whole.reshape(-1)
        text = self.flat.get(id(whole))
        first = (memory(x) - memory(whole)) // x.itemsize
        return None if text is None else (text, first + np.arange(len(x)) * (x.strides[0] // x.itemsize), x.shape[1])

    def overlap(self, args: tuple) -> int:
        """How many windows there are, where as much of them as of all that training reads from was read by it."""
        for whole, begins, long in self.cut(args):
            _, read = self.covered.get(id(whole), (whole, np.zeros(0, bool)))
            if not read.any():
                continue
            inside = np.flatnonzero(read)
            share = read[inside[0] : inside[-1] + 1].mean()
            if share > SHARE and read[begins[:, None] + np.arange(long)].mean() > LEAST * share:
                return len(begins)
        return 0

    def stacked(self, arrays: Any, made: np.ndarray) -> None:
        """Windows of one series are put together."""
        bases = [x.base for x in arrays]
        if len(bases) > 1 and isinstance(bases[0], np.ndarray) and bases[0].ndim == 1 and all(b is bases[0] for b in bases):
            whole, long = bases[0], len(arrays[0])
            begins = [(memory(x) - memory(whole)) // whole.itemsize for x in arrays]
            if len(self.windows) > 64:
                del self.windows[next(iter(self.windows))]
            self.windows[memory(made)] = whole, np.array(begins), long

    def again(self) -> tuple[int, int, int] | None:
        """(rows drawn, different ones, rows that there are) of data of which a few rows come again and again."""
        for whole, picked, drawn in self.times.values():
            different = int(picked.sum())
            if self.beside.get(id(whole), 0) < 8 and drawn >= 64 and drawn >= 8 * different and len(whole) >= 10 * different > 0:
                return drawn, different, len(whole)
        return None

    def count(self, whole: np.ndarray, rows: np.ndarray) -> None:
        """Rows were drawn for a step of a training."""
        if len(self.times) < 8 or id(whole) in self.times:
            known = self.times.setdefault(id(whole), [whole, np.zeros(len(whole), bool), 0])
            known[1][rows] = True
            known[2] += len(rows)

    def part(self, args: tuple, kwargs: dict) -> int:
        """How many rows there are, where they are a part of the very data from all of which rows are picked for training."""
        x: Any = next((x._array for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
        for whole, times in self.read.values() if x is not None and x.ndim and len(x) >= 8 else ():
            if x.strides != whole.strides or x.shape[1:] != whole.shape[1:] or x.dtype != whole.dtype or not whole.strides[0]:
                continue
            first, rest = divmod(memory(x) - memory(whole), whole.strides[0])
            inside = times[first : first + len(x)] if 0 <= first and not rest and first + len(x) <= len(whole) else times[:0]
            if len(inside) and 2 * inside.mean() >= times.mean() > 0:
                return len(x)
        return 0

    def taught(self, args: tuple, kwargs: dict, tested: list[Tested]) -> list[Tested]:
        """The tests of a step but those that ask one model about the rows that another one is then trained on."""
        found = signatures(args, kwargs) if self._asked_now else None
        same = [each for each, rows in self._asked_now if found is not None and np.array_equal(rows, found)]
        self._asked_now = []
        return [each for each in tested if not any(each is other for other in same)] if same else tested

    @property
    def few(self) -> bool:
        """Whether a handful of rows is all there is, as in exclusive or."""
        return 0 < len(self.trained) <= 8


def slid(before: np.ndarray | None, now: np.ndarray, acted: bool) -> bool:
    """Whether rows are those before, in their order, where something was done in between; or have moved on by a few."""
    if before is None or len(before) != len(now) or len(now) < 16 or 2 * np.count_nonzero(np.diff(now)) < len(now):
        return False
    if np.array_equal(before, now):
        return acted
    return any(np.array_equal(before[k:], now[:-k]) for k in range(1, len(now) // 4))


def share(found: np.ndarray, pool: set[int]) -> float:
    """How many of some rows were trained on."""
    return sum(each in pool for each in found.tolist()) / max(len(found), 1)


WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
STEM = re.compile(r"(loader|set|data|iter|dl|ds)$")  # testloader, valset
HELD = frozenset("test tests testing tested val valid validate validation dev heldout holdout held te va".split())


SHARE, LEAST = 0.05, 0.2  # of a series that has been read; of that, in a few windows of a test, at least
SURE = 16  # numbers of a row that are never equal by chance
NEAR = 4  # calls within each other that are looked at


def words(left: int, both: bool = False) -> str:
    """The first of some lines of the program, from the inside out, that says test or validation; "" where none does.

    both: a loop over the training and the test counts, too, for all that it asks about is known.
    """
    frame: Any = sys._getframe(1)
    while frame is not None and left:
        if not is_own(frame.f_code):
            left -= 1
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).split("#")[0].strip()
            name = frame.f_code.co_name
            loop = loop_around(frame.f_code.co_filename, frame.f_lineno)
            far = left == 0 and bool(re.search(r"\btrain(?!er)", text))  # the furthest, which says training, too
            given = re.match(r"[\w., ]+(?==[^=])", text)
            far = bool(far or given and "train" in given[0] and says_test(given[0]))  # train_h, test_h = f(train_x), f(test_x)
            plain = (each for each in (text, loop) if not far and (each is text or both or "train" not in each))
            if said := next(filter(says_test, plain), ""):
                return said
            if says_test(name):
                return f"def {name}"
            if chosen := chooses(frame.f_code.co_filename, text):
                return chosen
            if both and (made := made_of(frame)):
                return made
        frame = frame.f_back
    return ""


def made_of(frame: Any) -> str:
    """The line of a function before this one that says test, where none says training: data = batches(val_text)."""
    code = frame.f_code
    every = range(code.co_firstlineno + 1, frame.f_lineno) if code.co_name != "<module>" else ()
    lines = [linecache.getline(code.co_filename, at).split("#")[0].strip() for at in every]
    learnt = any(re.search(r"\btrain(?!\()|train_|_tr\b", each) for each in lines)
    return "" if learnt else next((each for each in lines if says_test(each)), "")


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


EVAL = re.compile(
    r"eval(uation)?_?(data)?_?(loader|set|dl|ds|iter|iterator|data|batch|batches|x|y|examples|texts|sentences|rows|pairs|idx|indices"
    r"|df|frame|split|samples|inputs|labels|targets|features|tokens|ids|records|items|words|names)\b",
    re.IGNORECASE,
)


def says_test(text: str) -> bool:
    if EVAL.search(text):
        return True
    found = [STEM.sub("", word.lower()) or "data" for word in WORD.findall(text)]
    return any(word in HELD or (word[0] in "xy" and word[1:] in HELD) for word in found)
