"""What models were given: some rows of each call, the labels next to them, weights that were written, loaded or kept."""

from itertools import combinations
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import road, weights_of
from badak.inspect.doctor.rows import bags
from badak.inspect.doctor.tape import tensors
from badak.nn import Module
from badak.tensor import Tensor

ROWS, WIDE, CALLS, MOST = 64, 512, 64, 256  # rows of a call, numbers of a row, calls of a model, writes that are kept
PARTS = 4  # tensors of a call


class Rows(NamedTuple):
    """Some rows of what a model was given: (rows, numbers), and the shape that a row had."""

    values: np.ndarray
    shape: tuple[int, ...]
    whole: int  # rows that there were
    leads: bool = True  # whether it is the first tensor that the model was given


class Pair(NamedTuple):
    """What a model was given, and the labels that its answers were compared with, row by row."""

    place: str
    rows: np.ndarray
    shape: tuple[int, ...]  # of a row
    labels: np.ndarray


class Loaded(NamedTuple):
    """A module was given weights: whether any of its own keys were among them."""

    module: Any  # a weak reference
    kind: type[Module]
    shapes: tuple
    any: bool
    place: str
    own: bool = False  # they were its own: what was to be a copy is the model


class Given:
    """A sample of the data of a training and of its tests."""

    def __init__(self) -> None:
        self.trained: dict[tuple[int, int], list[Rows]] = {}  # of each model, of each tensor that it is given
        self.tested: dict[tuple[int, int, tuple[int, ...]], list[Rows]] = {}  # of each way to it, too
        self.pairs: list[Pair] = []
        self.written: dict[int, tuple[np.ndarray, np.ndarray, int]] = {}  # memory, what it held, how often it was written to
        self.factors: dict[int, float] = {}  # memory of what was multiplied by a number last, without gradients, and by which
        self.stays: dict[int, list[float]] = {}  # such factors of what was written then: how much of it stayed each time
        self.replaced: dict[int, tuple[Tensor, np.ndarray, int]] = {}  # tensors that were given other memory, as by .data =
        self.told: dict[str, list[str]] = {}  # where the answers stand in what the model was given, "" where they do not
        self.next: dict[str, list[bool]] = {}  # whether labels are the next steps of what the model was given
        self.loaded: list[Loaded] = []
        self.kept: list[tuple[Any, str, str, int]] = []  # state_dict(): a weak reference, where, its line, the step
        self.example: dict[int, tuple[Module, tuple, dict]] = {}  # the first call of a model in training
        self.drawn: dict[bytes, None] = {}  # classes that were drawn
        self.singles: dict[tuple[int, int], list[int]] = {}  # of calls in a test with one id of each row, the first of each text
        self.learnt: dict[tuple[int, int], list[np.ndarray]] = {}  # the same of a training, of all rows
        self.paired: dict[tuple[int, int, int], list[int]] = {}  # two ids of each row: calls, those where they are equal
        self.alone: dict[int, tuple[Module, list[bool]]] = {}  # of each such call whether it is given numbers, too
        self._before: tuple[int, int, bool] = 0, 0, False  # the last call: ids of each row, the model, whether in training
        self.shuffled: list[tuple[Any, list, str]] = []  # a list, what has a label for each of it, the line
        self._last: Rows | None = None

    def called(self, module: Module, args: tuple, kwargs: dict, grad: bool) -> None:
        if grad and id(module) not in self.example and len(self.example) < 8 and all(map(is_plain, (*args, *kwargs.values()))):
            self.example[id(module)] = module, tuple(map(copied, args)), {key: copied(x) for key, x in kwargs.items()}
        rows = sample(args, kwargs)
        if grad and len(args) > 1:
            self.pair(id(module), args)
        self.keep(id(module), args, kwargs, grad)
        if grad:
            self._last = rows if rows is None or rows.values.dtype.kind == "f" else sample(args, kwargs, floats=True) or rows

    def pair(self, module: int, args: tuple) -> None:
        """Whether two tensors with an id for each row hold the same ids, without being the same."""
        ids = [(i, x._array) for i, x in enumerate(args[:PARTS]) if isinstance(x, Tensor) and x._array.dtype.kind in "iu"]
        rows = [(i, a) for i, a in ids if a.ndim == 1 and len(a) >= 8]
        for (i, a), (j, b) in combinations(rows, 2):
            if len(a) == len(b) and memory(a) != memory(b):
                counts = self.paired.setdefault((module, i, j), [0, 0])
                counts[0] += 1
                counts[1] += np.ptp(a) > 0 and np.array_equal(a, b)

    def single(self, module: Module, args: tuple, kwargs: dict, grad: bool) -> None:
        """A call with one id of each row, as of what writes a text."""
        ids = [(i, x._array) for i, x in enumerate(args[:PARTS]) if isinstance(x, Tensor) and x._array.dtype.kind in "iu"]
        state = any(x._array.dtype.kind == "f" for x in tensors((args, kwargs)))
        long = 0 if not ids else ids[0][1].shape[-1] if ids[0][1].ndim == 2 else 1 if state and ids[0][1].ndim == 1 else 0
        before, *same = self._before
        begins = long > 1 or same != [id(module), grad] or before > 1 and not state
        if grad and long and begins and len(learnt := self.learnt.setdefault((id(module), ids[0][0]), [])) < CALLS:
            learnt.append(ids[0][1].reshape(-1, long)[:, 0].copy())
        if not grad and long == 1 and len(self.singles) < MOST:
            firsts = self.singles.setdefault((id(module), ids[0][0]), [])
            if begins and len(firsts) < CALLS:
                firsts.append(int(ids[0][1].flat[0]))
            _, states = self.alone.setdefault(id(module), (module, []))
            if len(states) < CALLS:
                states.append(state)
        self._before = long, id(module), grad

    def keep(self, module: int, args: tuple, kwargs: dict, grad: bool) -> None:
        """Some rows of each tensor that a model is given; of texts that lie one behind the other as one."""
        way: tuple[int, ...] = () if grad else road()
        every = [(x,) for x in (*args, *kwargs.values()) if isinstance(x, Tensor)][:PARTS]
        found = [sample(each, {}) for each in every]
        for i, rows in enumerate(found if any(each is not None for each in found) else [sample(args, kwargs)]):
            if rows is not None and len(self.tested) <= MOST:
                kept = self.trained.setdefault((module, i), []) if grad else self.tested.setdefault((module, i, way), [])
                if len(kept) < CALLS:
                    kept.append(rows)

    def compared(self, place: str, labels: np.ndarray, inside: bool) -> None:
        """The answers to the last call are compared with these labels; inside: by the model, which was given them."""
        last = self._last if not inside or self._last is None or self._last.leads else None
        if last is None or len(self.pairs) >= CALLS or last.values.dtype.kind != "f":
            return
        n = len(last.values)
        whole = last.values.shape[1] == np.prod(last.shape, dtype=int)
        if whole and len(last.shape) == 2 and labels.shape == (last.whole, *last.shape) and last.shape[0] > 2:
            x = last.values.reshape(n, *last.shape)
            moves = not np.array_equal(x[:, 1:], x[:, :-1])
            self.next.setdefault(place, []).append(moves and np.array_equal(x[:, 1:], labels[:n, :-1]))
        if labels.size == last.whole:
            self.pairs.append(Pair(place, last.values, last.shape, labels.reshape(-1)[:n].copy()))
        elif (
            labels.ndim in (2, len(last.shape) + 1)
            and len(labels) == last.whole
            and (labels.shape[1] < max(last.shape[:2]) or labels.ndim == 2 and ((labels == 0) | (labels == 1)).all())
        ):
            self.pairs.append(Pair(place, last.values, last.shape, labels[:n].copy()))

    def redefined(self, x: Tensor, later: bool) -> None:
        """A tensor is about to be given other memory. later: a step was made by then; before that nothing is an average."""
        self.stayed(id(x), x._array, later)
        known = self.replaced.get(id(x))
        if known is not None:
            self.replaced[id(x)] = x, known[1], known[2] + later
        elif len(self.replaced) < MOST and x._array.size < 1 << 20:
            self.replaced[id(x)] = x, x._array.copy(), int(later)

    def history(self, x: Tensor) -> tuple[np.ndarray, np.ndarray, int] | None:
        """(what a tensor holds, what it held at first, how often it was written to); None where it was not."""
        if id(x) in self.replaced:
            return x._array, *self.replaced[id(x)][1:]
        return self.written.get(id(x._array))

    def stayed(self, key: int, array: np.ndarray, later: bool) -> None:
        """What has been multiplied by a number is about to be written, or is given other memory."""
        share = self.factors.pop(memory(array), None)
        if share is not None and later and (key in self.stays or len(self.stays) < MOST):
            self.stays.setdefault(key, []).append(share)

    def wrote(self, array: np.ndarray, later: bool) -> None:
        """Something is about to be written into memory."""
        self.stayed(id(array), array, later)
        known = self.written.get(id(array))
        if known is not None:
            self.written[id(array)] = known[0], known[1], known[2] + later
        elif len(self.written) < MOST and array.size < 1 << 20:
            self.written[id(array)] = array, array.copy(), int(later)


def is_plain(x: Any) -> bool:
    """Whether an argument is data, and no part of a graph."""
    return x is None or isinstance(x, bool | int | float | str) or (isinstance(x, Tensor) and x._node is None)


def copied(x: Any) -> Any:
    return Tensor._of(x._array.copy()) if isinstance(x, Tensor) else x


def sample(args: tuple, kwargs: dict, floats: bool = False) -> Rows | None:
    """Some rows of the first tensor that has rows; of numbers, of ids else, where floats says so."""
    every = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    for x in every:
        if x._node is None and x._array.ndim > 1 and x._array.size > 1 and x._array.dtype.kind in ("f" if floats else "fiu"):
            a = x._array
            flat = a[:ROWS].reshape(len(a[:ROWS]), -1)
            return Rows(flat[:, :: -(-flat.shape[1] // WIDE)].copy(), a.shape[1:], len(a), x is every[0])
    texts = None if floats else bags(args, kwargs)
    return Rows(texts[:ROWS], texts.shape[1:], len(texts)) if texts is not None else None


def shapes_of(module: Module) -> tuple:
    return tuple(p.shape for p in weights_of(module))


def loaded_into(module: Module, missing: list[str], place: str, state: Any) -> Loaded:
    own = dict(module.named_parameters())
    given = [(p, state[name]) for name, p in own.items() if isinstance(state, dict) and name in state]
    same = bool(given) and all(isinstance(x, Tensor) and np.may_share_memory(p._array, x._array) for p, x in given)
    return Loaded(ref(module), type(module), shapes_of(module), not own or not set(own) <= set(missing), place, same)
