"""badak.compile: run a step twice as it is while it is watched, and from then on replay what it did.

A step is a function of tensors: a forward, or forward, backward and optimizer.step(). Its first call is only run; the next
two are recorded on fixed copies of the arguments; if both recordings say the same, later calls copy their arguments there
and do the entries again, most of them as one list of kernel calls without Python in between.
"""

import threading
from collections.abc import Callable
from typing import Any

from .. import kernels
from ..errors import GraphError, warn_once
from ..graph import Node, changes, modes
from ..tensor import Tensor
from .native import player
from .recorder import Recorder

_MOST = 16  # recordings that one function keeps: of different shapes, say
_WATCHED = 256  # signatures that are counted


class Compiled:
    """A function that is recorded and replayed; `why` says what keeps it from being replayed, "" where nothing does."""

    def __init__(self, function: Callable, strict: bool = False):
        self.function, self.strict = function, strict
        self.plans: dict = {}
        self.why = ""
        self._turn = threading.Lock()

    def __call__(self, *args, **kwargs):
        if modes.tape is not None or modes.anomaly or not self._turn.acquire(blocking=False):
            return self.function(*args, **kwargs)
        try:
            found = _Arguments(args, kwargs)
            plan = self.plans.get(found.key)
            if plan is None or not plan.holds():
                plan = self._new_plan(found.key)
            return plan.call(self, found)
        finally:
            self._turn.release()

    def __getattr__(self, name: str):
        return getattr(self.__dict__["function"], name)

    def _new_plan(self, key) -> "_Plan":
        if len(self.plans) >= _WATCHED:
            self.plans = {old: plan for old, plan in self.plans.items() if plan.steps is not None}
        if sum(plan.steps is not None for plan in self.plans.values()) >= _MOST:
            self.plans.clear()
        plan = self.plans[key] = _Plan()
        return plan

    def complain(self, why: str) -> None:
        """Say once why this function stays as it is; raise where it was to be compiled in full."""
        self.why = why
        if why and self.strict:
            raise GraphError(f"compile(fullgraph=True): the step cannot be replayed: {why}", "fullgraph=False runs it as it is")


class _Arguments:
    """The arguments of a call: the tensors among them, and a key that says what they are apart from their values."""

    def __init__(self, args, kwargs):
        self.tensors: list[Tensor] = []
        self.args, self.kwargs = args, kwargs
        self.key = (
            self._key(args),
            self._key(kwargs) if kwargs else None,
            modes.grad,
            modes.inference,
        )

    def _key(self, value) -> Any:
        kind = type(value)
        if kind is Tensor and not value._requires_grad:
            self.tensors.append(value)
            return value._array.shape, value._array.dtype
        if kind is tuple or kind is list:
            return kind, tuple([self._key(part) for part in value])
        if kind is dict:
            return kind, tuple([(name, self._key(part)) for name, part in value.items()])
        if kind in (int, float, bool, str, type(None)):
            return kind, value
        return kind, id(value), _Alive(value)

    def on(self, tensors):
        """(args, kwargs) with these tensors in the places of the others."""
        waiting = iter(tensors)
        return _replaced(self.args, waiting), _replaced(self.kwargs, waiting)


class _Alive:
    """Keeps an object alive as long as its id stands in a key, and is equal to any other."""

    def __init__(self, thing):
        self.thing = thing

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def _replaced(value, waiting):
    kind = type(value)
    if kind is Tensor and not value._requires_grad:
        return next(waiting)
    if kind is tuple or kind is list:
        return kind(_replaced(part, waiting) for part in value)
    if kind is dict:
        return {name: _replaced(part, waiting) for name, part in value.items()}
    return value


class _Plan:
    """What is known of one signature: nothing, one recording, or the steps to replay."""

    def __init__(self):
        self.calls = 0
        self.words = None  # of the first recording
        self.first: Recorder | None = None  # kept until the second is there, so that no id is given twice
        self.steps: list | None = None
        self.refused = False
        self.changes = changes.count

    def holds(self) -> bool:
        """Whether the model still consists of what it consisted of."""
        if self.changes != changes.count:
            return False
        if self.steps is None:
            return True
        return (
            self.machine == _machine()
            and all([tensor._array is array for tensor, array in self.outside])
            and all([(leaf._grad is None) if grad is None else (leaf._grad is not None and leaf._grad._array is grad)
                     for leaf, grad in self.grads])
        )  # fmt: skip

    def call(self, compiled: Compiled, found: _Arguments):
        """Run, record or replay."""
        if self.steps is not None:
            return self._replay(found)
        self.calls += 1
        if self.refused or self.calls == 1:
            result = compiled.function(*found.args, **found.kwargs)
            self.changes = changes.count if self.calls == 1 else self.changes
            return result
        return self._record(compiled, found)

    def _record(self, compiled: Compiled, found: _Arguments):
        if self.first is None:
            self.inputs = [Tensor._of(x._array.copy()) for x in found.tensors]
        for mine, x in zip(self.inputs, found.tensors):
            mine._array[...] = x._array
        recorder = Recorder([x._array for x in self.inputs])
        args, kwargs = found.on(self.inputs)
        with recorder:
            result = compiled.function(*args, **kwargs)
            results = _Results(result, recorder)
        for mine, x in zip(self.inputs, found.tensors):
            if mine._counter is not None and mine._counter.count:  # an argument was changed: the caller's is to change, too
                x._array[...] = mine._array
                recorder.refuse("the step changes one of its arguments")
        if changes.count != self.changes:
            recorder.refuse("the step sets attributes of a module")
        if self.first is not None and not recorder.trouble and recorder.words != self.first.words:
            recorder.refuse(_difference(self.first.words, recorder.words))
        if recorder.trouble:
            self.refused, self.first, self.changes = True, None, changes.count
            compiled.complain(recorder.trouble)
            return result
        if self.first is None:
            self.first = recorder
            return result
        self.first = None
        self._build(recorder, results)
        return results.fresh()

    def _build(self, recorder: Recorder, results: "_Results") -> None:
        self.outside = list(recorder.outside.values())
        self.grads = [(leaf, None if grad is None else grad._array) for leaf, grad, read in recorder.leaves.values() if read]
        self.machine = _machine()
        self.results = results
        self.arrays = [x._array for x in self.inputs]
        self.steps = _steps(recorder.entries)
        self.recorder = recorder  # the memory of its arrays

    def _replay(self, found: _Arguments):
        for mine, x in zip(self.arrays, found.tensors):
            mine[...] = x._array
        grad, modes.grad = modes.grad, False
        try:
            for step in self.steps:
                step()
        finally:
            modes.grad = grad
        return self.results.fresh()


def _machine():
    """What the kept calls of kernels were made for."""
    chosen = kernels.active()
    return chosen, getattr(chosen, "get_num_threads", int)()


def _steps(entries) -> list:
    """Functions that do the entries again; neighbouring calls of kernels become one."""
    steps: list = []
    waiting: list = []
    for entry in entries:
        if entry.calls is not None:
            waiting.append(entry)
            continue
        if waiting:
            steps.append(player(waiting))
            waiting = []
        steps.append(entry.again)
    if waiting:
        steps.append(player(waiting))
    return steps


class _Results:
    """What the step returned: tensors, which are copied out after every replay, and constants."""

    def __init__(self, result, recorder: Recorder):
        self.result = result
        self.inference = modes.inference
        recorder.words.append(("result", self._words(result, recorder)))

    def _words(self, value, recorder: Recorder):
        if isinstance(value, Tensor):
            if value._requires_grad and (value._node is None or value._node.saved is not None):
                recorder.refuse("its result still has a graph; compile the whole step, backward included")
            return recorder.origins.describe(value._array), value._requires_grad
        if isinstance(value, tuple | list):
            return type(value), [self._words(part, recorder) for part in value]
        if isinstance(value, dict):
            return [(name, self._words(part, recorder)) for name, part in value.items()]
        return recorder.origins.describe(value)

    def fresh(self, value=...):
        """The result, its tensors in memory of their own."""
        value = self.result if value is ... else value
        if isinstance(value, Tensor):
            copy = Tensor._of(value._array.copy())
            if value._requires_grad:  # as after a backward: its graph is spent
                copy._requires_grad, copy._node = True, Node(value._node.op, None, [], value._node.slots)
            copy._inference = self.inference
            return copy
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.fresh, value))
        if isinstance(value, tuple | list):
            return type(value)(map(self.fresh, value))
        if isinstance(value, dict):
            return {name: self.fresh(part) for name, part in value.items()}
        return value


def _difference(one, other) -> str:
    """Where two recordings part, in the user's words."""
    for a, b in zip(one, other):
        if a != b:
            what = a[1] if a[:1] == b[:1] and isinstance(a[1], str) and a[1] == b[1] else "what it does"
            return f"it is not the same in two calls (at {what}: a number, a shape or a tensor made outside of operations)"
    return "it does not do the same in two calls"
