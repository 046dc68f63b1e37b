"""badak.compile: a step is watched twice while it runs, and from then on what it did is replayed.

A step is a function of tensors: a forward, or forward, backward and optimizer.step(). Its first call only runs. The next two
are recorded, on copies of the arguments that stay where they are; if both recordings say the same, later calls copy their
arguments there and do the entries again, most of them as one list of kernel calls without Python in between.
"""

import functools
import threading
from collections.abc import Callable
from types import MethodType
from typing import Any

from badak import kernels
from badak.errors import GraphError, warn_once
from badak.graph import changes, modes
from badak.ops._broadcast import quiet
from badak.replay.arguments import Arguments, Results, room_for, shown, state_of
from badak.replay.entries import Prepared
from badak.replay.memory import settle
from badak.replay.native import player
from badak.replay.origins import owner_of
from badak.replay.recorder import CHANGED, LIVE_GRAPH, Recorder
from badak.tensor import Tensor
from badak.tensor.dtypes import default_dtype

_MOST = 16  # recordings that one function keeps: of different shapes, say
_WATCHED = 256  # signatures that are counted
_recording = threading.Lock()  # the log of kernel calls is one for the process


class Compiled:
    """A function that is recorded and replayed. `why` says what keeps it from being replayed, "" where nothing does.

    strict: raise where it cannot be replayed, instead of running it as it is. told: say so, once.
    """

    def __init__(self, function: Callable, strict: bool = False, told: bool = True):
        functools.update_wrapper(self, function, updated=())
        self.function, self.strict, self.told = function, strict, told
        self.forget()

    def forget(self) -> None:
        """Record anew."""
        self.plans: dict = {}
        self.why = ""
        self._last: _Plan | None = None  # the one that was replayed last, of a call with nothing but tensors
        self._leaves_graph = False
        self._turn = threading.Lock()

    def __call__(self, *args, **kwargs):
        plain = modes.tape is not None or modes.anomaly or (self._leaves_graph and modes.grad)
        if plain or not self._turn.acquire(blocking=False):
            return self.function(*args, **kwargs)
        try:
            last = self._last
            if last is not None and not kwargs and last.suits(args) and last.holds() and not last.shares(args):
                return last.replay(args)
            return self._look_up(args, kwargs)
        finally:
            self._turn.release()

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        return Compiled, (self.function, self.strict, self.told)

    def _look_up(self, args, kwargs):
        found = Arguments(args, kwargs)
        plan = self.plans.get(found.key)
        if plan is None or not plan.holds():
            plan = self._new_plan(found.key)
        if plan.steps is None:
            return plan.call(self, found)
        if plan.shares(found.tensors):
            return self.function(*args, **kwargs)
        self._last = plan if found.simple else None
        return plan.replay(found.tensors)

    def _new_plan(self, key) -> "_Plan":
        recorded = {old: plan for old, plan in self.plans.items() if plan.steps is not None and plan.holds()}
        if len(self.plans) >= _WATCHED or len(recorded) >= _MOST:
            self.plans = {} if len(recorded) >= _MOST else recorded
        plan = self.plans[key] = _Plan()
        return plan

    def complain(self, why: str) -> None:
        """Note why this function stays as it is, and say it where that is wanted."""
        self.why = why
        self._leaves_graph = self._leaves_graph or why == LIVE_GRAPH
        name = getattr(self.function, "__qualname__", type(self.function).__name__)
        cause = f"compile: {name} cannot be replayed: {why}"
        if why == LIVE_GRAPH:
            return
        if self.strict:
            raise GraphError(cause, "fullgraph=False runs it as it is")
        if self.told:
            warn_once(("compile", name, why), f"{cause}; it runs as it is", "docs/compile.md says what can be replayed")


class _Plan:
    """What is known of one signature: nothing, one recording, or the steps to replay."""

    def __init__(self):
        self.calls = 0
        self.memory: list = []  # the arguments of recordings and replays
        self.first: tuple[list, list] | None = None  # the summary of the first recording, until the second is there
        self.steps: list | None = None
        self.refused = False
        self.changes = changes.count

    def holds(self) -> bool:
        """Whether the model still consists of what it consisted of."""
        if self.changes != changes.count:
            return False
        if self.steps is None:
            return True
        return self.machine == _machine() and all(_has(leaf, grad) for leaf, grad in self.grads)

    def suits(self, args) -> bool:
        """Whether these are tensors as it was recorded for, in the same modes."""
        if len(args) != len(self.arrays) or self.modes != (modes.grad, modes.inference, changes.modes):
            return False
        for x, mine in zip(args, self.arrays):
            if type(x) is not Tensor or (x._requires_grad if x._base is None else x.requires_grad):
                return False
            array = x._array
            if array.shape != mine.shape or array.dtype is not mine.dtype or array.strides != mine.strides:
                return False
        return True

    def shares(self, tensors) -> bool:
        """Whether one of these is memory that the step works on besides its arguments, and may change while it runs."""
        return bool(self.outside) and any(id(owner_of(x._array)) in self.outside for x in tensors)

    def call(self, compiled: Compiled, found: Arguments):
        """Run, or record."""
        if self.calls == 0:
            return self._begin(compiled, found)
        if not self.refused and _recording.acquire(blocking=False):
            try:
                return self._record(compiled, found)
            finally:
                _recording.release()
        return compiled.function(*found.args, **found.kwargs)

    def _begin(self, compiled: Compiled, found: Arguments):
        """The first call, which only runs, and may make what is missing."""
        before = [state_of(x) for x in found.tensors]
        result = compiled.function(*found.args, **found.kwargs)
        self.calls, self.changes = 1, changes.count
        if before != [state_of(x) for x in found.tensors]:
            self._refuse(compiled, CHANGED)
        return result

    def _refuse(self, compiled: Compiled, why: str) -> None:
        self.refused, self.first, self.changes, self.memory = True, None, changes.count, []
        compiled.complain(why)

    def _record(self, compiled: Compiled, found: Arguments):
        if self.first is None:
            self.memory = [room_for(x._array) for x in found.tensors]
            if any(memory is None for memory in self.memory):
                self._refuse(compiled, "an argument is scattered over much memory")
                return compiled.function(*found.args, **found.kwargs)
        for memory, x in zip(self.memory, found.tensors):
            memory[...] = x._array
        recorder = Recorder(self.memory, self.first is None)
        inputs = [shown(memory, x._array) for memory, x in zip(self.memory, found.tensors)]
        args, kwargs = found.on(inputs)
        before = changes.modes
        with recorder:
            result = compiled.function(*args, **kwargs)
            results = Results(result, recorder)
        for mine, x in zip(inputs, found.tensors):
            if mine._array.tobytes() != x._array.tobytes() or (mine._counter is not None and mine._counter.count):
                x._array[...] = mine._array  # the caller's is to change, too
                x._watch().bump("compile")
                recorder.refuse(CHANGED)
        if changes.count != self.changes or changes.modes != before:
            recorder.refuse("it sets attributes of a module, or another memory for a tensor")
        if self.first is not None:
            recorder.compare(self.first[0])
        if recorder.trouble:
            self._refuse(compiled, recorder.trouble)
            return result
        if self.first is None:
            self.first = recorder.summary()
        else:
            self.first = None
            self._build(recorder, results)
        return results.fresh()

    def _build(self, recorder: Recorder, results: Results) -> None:
        self.grads = [(leaf, None if grad is None else grad._array) for leaf, grad, read in recorder.leaves.values() if read]
        self.machine, self.grad, self.modes = _machine(), modes.grad, (modes.grad, modes.inference, changes.modes)
        self.results, self.arrays = results, self.memory
        self.outside = recorder.origins.outside() if recorder.changes_outside else {}
        self.entries = recorder.entries  # whose arrays must live
        settle(self.entries, results.arrays(), recorder.origins)
        self.steps = _steps(self.entries)

    @quiet
    def replay(self, tensors):
        """Give the arguments these values, and do the entries again."""
        for mine, x in zip(self.arrays, tensors):
            mine[...] = x._array
        modes.grad = False
        try:
            for step in self.steps:
                step()
        finally:
            modes.grad = self.grad
        return self.results.fresh()


def _has(leaf, grad) -> bool:
    """Whether the leaf's .grad is this array, or None."""
    return leaf._grad is None if grad is None else leaf._grad is not None and leaf._grad._array is grad


def _machine() -> tuple[Any, int, Any]:
    """What a recording was made for: the kernel set, its number of threads, and the dtype of what numbers become."""
    chosen = kernels.active()
    return chosen, getattr(chosen, "get_num_threads", int)(), default_dtype()


def _steps(entries) -> list[Callable[[], None]]:
    """Functions that do the entries again; the kernel calls of neighbours become one list."""
    steps: list[Callable[[], None]] = []
    waiting: list = []
    for entry in entries:
        if entry.calls is not None:
            waiting.append(entry)
            continue
        if waiting:
            steps.append(player(waiting))
            waiting = []
        prepared = isinstance(entry, Prepared) and entry.prepare is not None
        steps.append(entry.player(player([entry])) if prepared else entry.again)
    if waiting:
        steps.append(player(waiting))
    return steps
