"""What a model answers, found in what it gives, however that is wrapped; and where positions stand in it."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from badak.autograd import no_grad
from badak.core.events import Observer
from badak.inspect.audit.compare import Places, same
from badak.inspect.audit.graph import Graph, Ran
from badak.inspect.audit.localize import Clean, match, twins
from badak.inspect.audit.padding import triangular
from badak.inspect.audit.watch import Call, Watch, tensors_in
from badak.ops.along import Gather, TakeAlong
from badak.ops.arithmetic import Add, Mul, Sub
from badak.ops.attention import Attention
from badak.ops.concat import Cat
from badak.ops.index import Index
from badak.ops.loss import MSE, NLL, BCEWithLogits, CrossEntropy, CrossEntropySoft, Huber, KLDiv, SmoothL1
from badak.ops.op import Op
from badak.ops.select import MaskedFill, Where
from badak.ops.softmax import LogSoftmax, Softmax
from badak.ops.triangular import Tril, Triu

MEETS = (Add, Sub, Mul, MaskedFill, Where)  # by which masks meet scores
COMPARED = CrossEntropy, NLL, MSE, Huber, SmoothL1  # losses of an answer and what it should be
MOST_MORE = 8  # positions that a model puts before a text, or cuts off it


def main_answer(graph: Graph, words: int, text: str) -> int | None:
    """Which of the tensors that a model gave is its answer: the logits of `words` tokens, else the first of several numbers that
    come from the text."""
    floats = [i for i, y in enumerate(graph.outputs) if y.dtype.kind in "fc" and y.ndim and y.size > 1]
    made = graph.results
    floats = [i for i in floats if (run := made[i]) is None or text in run.reads] or floats
    return next((i for i in floats if words and graph.outputs[i].shape[-1] == words), floats[0] if floats else None)


def labels_in(graph: Graph) -> list[np.ndarray]:
    """What losses within the model compared its answers with."""
    return [run.inputs[1] for run in losses_in(graph)]  # type: ignore[misc]


def losses_in(graph: Graph) -> list[Ran]:
    """The losses within a model."""
    return [
        run
        for run in graph.runs
        if run.op in (CrossEntropy, NLL, MSE, Huber, SmoothL1) and len(run.inputs) > 1 and run.inputs[1] is not None
    ]


def counted(labels: np.ndarray, attributes: dict[str, Any]) -> np.ndarray:
    """Labels with -100 for those that a loss is told to ignore."""
    ignored = attributes.get("ignore_index", -100)
    return np.where(labels == ignored, -100, labels) if labels.dtype.kind == "i" and ignored >= 0 else labels


def given_losses(graph: Graph) -> list[Ran]:
    """Those that a model gives, alone or in a sum."""
    made = [run for x, run in zip(tensors_in(graph.result), graph.results) if run is not None and x.dim() == 0]
    inside = {each.number for run in made for each in run.inside()}
    return [run for run in losses_in(graph) if run.number in inside]


class Taken(NamedTuple):
    """A loss of the library: what it was given, and where."""

    op: type[Op]
    inputs: Any
    attributes: dict[str, Any]
    path: str = ""


TAKES = (CrossEntropy, CrossEntropySoft, NLL, BCEWithLogits)


class Losses(Observer):
    """Watches a program for what its losses compare answers with, also those that are written by hand: the answer of each label
    is picked by gather() or an index, a distribution is compared with one of labels, numbers are taken from each other."""

    def __init__(self) -> None:
        self.labels: list[np.ndarray] = []
        self.scores: list[np.ndarray] = []  # that they are compared with
        self.wholes: list[list[np.ndarray]] = []  # what the model gave before: a program trains, and drops at random
        self.across: list[tuple[int, ...]] = []  # shapes of what a softmax made, and that does not sum to 1 over the classes
        self.taken: list[Taken] = []
        self.first_axis: list[tuple[int, ...]] = []  # shapes of what a softmax over the first axis was made of
        self._softmaxes: dict[int, tuple[Any, np.ndarray]] = {}  # what one made, or its logarithm, and what it was made of
        self._gave: list[np.ndarray] = []

    def on_module_exit(self, module, output, error=None) -> None:
        self._gave = [x._array for x in tensors_in(output) if x.dim() > 1] or self._gave

    def each(self, answer: np.ndarray | None) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """(scores, labels, the answers for a whole batch that the scores are of) of each comparison; answer: one such."""
        for scores, labels, gave in zip(self.scores, self.labels, self.wholes):
            yield scores, labels, next((x for x in gave if answer is not None and x.shape == answer.shape), answer)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        x, y = arrays[0], arrays[1] if len(arrays) > 1 else None
        if op in TAKES:
            self.taken.append(Taken(op, [each if each is None else each.copy() for each in arrays], dict(attributes)))
        if op in (Softmax, LogSoftmax) and x.ndim > 1 and attributes.get("dim", -1) % x.ndim == 0:
            self.first_axis.append(x.shape)
        if op in (Softmax, LogSoftmax) or id(x) in self._softmaxes and (op.view or op.__name__ in _KEPT):
            before = self._softmaxes[id(x)][1] if id(x) in self._softmaxes else x
            laid = before.reshape(outputs[0].shape) if before.size == outputs[0]._array.size else before
            self._softmaxes[id(outputs[0]._array)] = outputs[0], laid
        if op in COMPARED and y is not None:
            self._compared(x, counted(y, attributes), 1, x if op is NLL else None)
        elif op in (KLDiv, CrossEntropySoft) and y is not None:
            axis = 1 if op is CrossEntropySoft else x.ndim - 1
            labels = np.where(y.max(axis) > y.sum(axis) / 2, y.argmax(axis), -100)
            self._compared(np.moveaxis(x, axis, 1), labels, axis, x if op is KLDiv else None)
        elif op in (Gather, TakeAlong) and y is not None and y.dtype.kind in "iu":
            axis = attributes["dim"] % x.ndim
            if y.shape == (*x.shape[:axis], 1, *x.shape[axis + 1 :]):
                self._compared(np.moveaxis(x, axis, 1), y.squeeze(axis), axis, x)
        elif op is Index and x.ndim == 2 and (which := picked(attributes["key"], len(x))) is not None:
            self._compared(x, which, 1, x)
        elif op is Sub and y is not None and x.shape == y.shape and x.ndim > 1 and x.dtype.kind == y.dtype.kind == "f":
            self._compared(x, y, 1)
            self._compared(y, x, 1)

    def _compared(self, scores: np.ndarray, labels: np.ndarray, axis: int, normed: np.ndarray | None = None) -> None:
        """Labels and the scores (N, V, ...) that they are compared with; normed: what a softmax may have made, with its classes
        along an axis."""
        if normed is not None and id(normed) in self._softmaxes and normed.ndim > 1:
            before = self._softmaxes[id(normed)][1]
            if before.shape == normed.shape and np.array_equal(before.argmax(axis), normed.argmax(axis)):  # laid out alike
                scores = np.moveaxis(before, axis, 1) if scores.shape != before.shape or axis != 1 else before
            total = (np.exp(normed) if normed.max() <= 0 else normed).sum(axis)
            if (np.abs(total - 1) > SUM).mean() > 0.5:
                self.across.append(normed.shape)
        self.labels.append(labels.copy())
        self.scores.append(scores.copy())
        self.wholes.append(self._gave)


_KEPT = {"Reshape", "Clone", "Cast", "Log", "Shift", "Clamp"}
SUM = 0.05  # how far from 1 a sum is that a softmax did not make


def picked(key: Any, rows: int) -> np.ndarray | None:
    """The labels of scores[arange(rows), labels]; None for another index."""
    if not (isinstance(key, tuple) and len(key) == 2 and all(isinstance(each, np.ndarray) for each in key)):
        return None
    return key[1] if key[1].dtype.kind in "iu" and np.array_equal(key[0], np.arange(rows)) else None


def asked_by(loss: Callable, graph: Graph) -> Losses:
    """What a loss compares answers with; nothing where it cannot be asked twice."""
    with Losses() as seen, no_grad(), suppress(Exception):
        loss(graph.result)
    return seen


def triangles_in(graph: Graph) -> tuple[list[int], list[int]]:
    """The sizes of triangular masks that met scores, whether or not they hid anything; and of those that the model makes, or gives
    to a part of it, whatever they meet."""
    meets = [run for run in graph.runs if run.reads and (run.op in MEETS or issubclass(run.op, Attention))]
    given = ((x, made) for run in meets for x, made in zip(run.inputs, run.sources))
    met = [x for x, made in given if x is not None and (made is None or not made.reads)]
    own = [run.output for run in graph.runs if run.op in (Tril, Triu) and not run.reads]
    own += [x for call in graph.calls if call.parent is not None for x in call.inputs if id(x) not in graph.given]
    squares = ([x for x in each if x.ndim >= 2 and 2 < x.shape[-1] == x.shape[-2] and triangular(x)] for each in (met, own))
    one, two = ([x.shape[-1] for x in each] for each in squares)
    return one, two


def sink_of(graph: Graph, answer: int | None) -> Ran | None:
    """The operation that made the answer; of a loss alone, that one."""
    made = graph.results
    if answer is not None and answer < len(made):
        return made[answer]
    return next((run for run in made if run is not None), None)


def places_of(graph: Graph, length: int, texts: list[tuple[int, int]]) -> Places:
    """The axes of positions: `length`, and those of what was cut off a text or put together with something.

    texts: (how many tokens were looked up, where in the text they begin).
    """
    known = {length: 0}
    whole = {first for n, first in texts if n == length}
    if whole and max(whole) < 0:  # as long as the text, yet moved by one: what a decoder reads of its labels
        known[length] = max(whole)
    for n, first in texts:
        known.setdefault(n, first)
    if set(texts) == {(length - 1, 0)}:  # what stands before a text without its last token moves it by one
        moved = {length - 1: 0}
        for run in graph.runs:
            if run.op is Cat and run.output.ndim > 1:
                for part in run.inputs:
                    if part is not None and part.ndim == run.output.ndim:
                        _joined(part, run.output, moved)
        known[length] = moved.get(length, 0)
    for run in graph.runs:
        for x in run.inputs:
            if x is not None and x.dtype.kind == "f" and x.ndim == run.output.ndim > 1:
                _joined(x, run.output, known)
    return Places(length, known)


def _joined(x: np.ndarray, y: np.ndarray, known: dict[int, int]) -> None:
    """Note the length of y's positions, where y is a part of x, or x one of y."""
    axes = [axis for axis in range(x.ndim) if x.shape[axis] != y.shape[axis]]
    if len(axes) != 1:
        return
    axis, n, now = axes[0], x.shape[axes[0]], y.shape[axes[0]]
    if n not in known or now in known or abs(n - now) > MOST_MORE or now < 2:
        return
    long, short = (x, y) if n > now else (y, x)
    at = (slice(None),) * axis
    for first in range(long.shape[axis] - short.shape[axis] + 1):
        part = long[(*at, slice(first, first + short.shape[axis]))]
        if same(part, short) and np.any(short != short[(*at, slice(0, 1))]):
            known[now] = known[n] + (first if n > now else -first)
            return


def verdict(reference: Watch, other: Watch, clean: Clean, moves: Callable[[Any, Any], bool] | None = None) -> bool | None:
    """Whether what the model gives is clean; of one that gives a loss, or nothing that can be judged, what its last module gives.

    None where nothing can be judged. moves: what of the outputs counts as moved at all; a constant shows nothing.
    """
    pairs = [(a, b) for a, b in zip(reference.outputs, other.outputs) if a.ndim and a.dtype.kind in "fc"]
    words = [clean(a, b) for a, b in pairs]
    if False in words:
        return False
    if any(word and (moves is None or moves(a, b)) for word, (a, b) in zip(words, pairs)):
        return True
    if any(word is False for word in judged_outside(reference, match(reference, other), clean)):
        return False
    for call, twin in reversed(twins(reference, other)):
        for a, b in numbers_of(call, twin) if call.parent is not None else ():
            if (moves is None or moves(a, b)) and (word := clean(a, b)) is not None:
                return word
    return True if words and True in words and moves is None else None


def numbers_of(call: Call, twin: Call) -> list[tuple[np.ndarray, np.ndarray]]:
    """What a call gave in both forwards, where that is more than a row."""
    if len(call.outputs) != len(twin.outputs):
        return []
    return [(a, b) for a, b in zip(call.outputs, twin.outputs) if a.ndim > 1 and a.dtype.kind in "fc"]


def judged_outside(reference: Watch, twins: dict[int, Call], clean: Clean) -> Iterator[bool | None]:
    """The word about each of the outermost modules that give something else now: of several, one may end in the loss unseen."""
    pending = reference.roots()
    while pending:
        call = pending.pop()
        twin = twins.get(call.index)
        pairs = numbers_of(call, twin) if twin is not None and call.parent is not None else []
        yield from (clean(a, b) for a, b in pairs if moved(a, b))
        if not pairs:
            pending += call.children


def moved(a: np.ndarray, b: np.ndarray) -> bool:
    return not same(a, b)
