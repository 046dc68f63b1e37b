"""A state that a forward gives and the next one takes: a text in two parts gives what it gives at once."""

import inspect
import re
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.inspect.audit.batch import Batch
from badak.inspect.audit.compare import change, near
from badak.inspect.audit.graph import mixers
from badak.inspect.audit.localize import begins
from badak.inspect.audit.past import optional
from badak.inspect.audit.report import Finding
from badak.inspect.audit.subject import NotApplicable, Subject
from badak.inspect.audit.watch import arrays_of, tensors_in
from badak.ops.conv import Conv
from badak.tensor import Tensor

STATE = re.compile(r"^(init(ial)?_?|prev_?)?(states?|hidden|hx?|h_?[0t]|hc|carry)(_?[0t])?$")
FIX = tr("read it: self.rnn(x, state), and give what came of it; make one of zeros only where none is given")


def taken_and_given(subject: Subject) -> tuple[dict[str, Any], str, int] | None:
    """(the arguments by name, that which is the state, as which part of what the model gives it comes back)."""
    result = subject.reference.result
    if not isinstance(result, tuple) or len(result) < 2:
        return None
    bound = inspect.signature(subject.model.forward).bind(*subject.batch.args, **subject.batch.kwargs).arguments
    shapes = {i: [x.shape for x in arrays_of(part)] for i, part in enumerate(result) if i and part is not None}
    for name, value in bound.items():
        own = [x.shape for x in arrays_of(value) if x.dtype.kind == "f"]
        fits = [i for i, each in shapes.items() if each == own] if STATE.search(name) and own else []
        if fits:
            return bound, name, fits[-1]
    free = [n for n in optional(subject.model) if bound.get(n) is None and STATE.search(n)]
    at = len(result) - 1
    every = shapes.get(at, [])
    if len(free) == 1 and every and all(subject.rows in each and subject.length() not in each[:2] for each in every):
        return bound, free[0], at
    return None


def goes_on(subject: Subject, taken: tuple[dict[str, Any], str, int]) -> list[Finding]:
    """All of the text but its last place; the last one with the state that this left."""
    bound, name, at = taken
    axis, last = subject.batch.batch_axis, subject.length() - 1
    size = (subject.rows, last + 1) if axis == 0 else (last + 1, subject.rows)
    if last < 2 or any(
        leaf.integer and leaf.array.ndim == 1 for leaf in subject.batch.leaves.values() if leaf.array.max() == last + 1
    ):
        raise NotApplicable(tr("a text with lengths next to it was not cut in two"))
    subject.afford(2)

    def forward(where: slice, state: Any) -> Any:
        parts = {n: cut(x, size, (slice(None),) * (1 - axis) + (where,)) for n, x in bound.items()}
        return subject.forward(Batch.of(subject.model, ((), parts | {name: state})), facts=True)

    def end(a: np.ndarray, b: np.ndarray) -> bool | None:
        fits = a.shape[:2] == size and b.shape == a[own].shape
        return near(a[own], b) if fits else near(a, b) if a.shape == b.shape else None

    own = (slice(None),) * (1 - axis) + (slice(-1, None),)
    state = forward(slice(0, -1), bound.get(name)).result[at]
    second = forward(slice(-1, None), state)
    answer = subject.answer or 0
    a, b = subject.reference.outputs[answer], second.outputs[answer]
    if end(a, b) is not False:
        return []
    read = {each for x in tensors_in(second.result[0]) if (made := second.maker(x._array)) is not None for each in made.reads}
    if not any(each.partition("[")[0] == name for each in read):
        cause = tr("{} is not read: with what the text before has left in it, the model gives what it gives with none", name)
        return [Finding("cache", "", cause, FIX)]
    graph = subject.reference
    if mixers(graph) or any(run.op is Conv for run in graph.runs):  # which may see further than a state remembers
        return []
    begin = begins(graph, second, end)
    cause = tr("the last token with the {} of those before gives other outputs than the whole text, by up to {:.2g} of their size",
               name, change(a[own], b))  # fmt: skip
    return [Finding("cache", begin.path, cause, FIX, {}, begin.between)]


def cut(value: Any, size: tuple[int, int], where: tuple) -> Any:
    """The same with a part of each tensor that has rows and places first."""
    if isinstance(value, Tensor):
        return Tensor._of(value._array[where].copy()) if value.shape[:2] == size else value
    if isinstance(value, dict):
        return {key: cut(each, size, where) for key, each in value.items()}
    return type(value)(cut(each, size, where) for each in value) if type(value) in (tuple, list) else value
