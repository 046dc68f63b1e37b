"""badak.compile: a step is watched twice while it runs, and from then on what it did is replayed.

A step is a function of tensors: a forward, or forward, backward and optimizer.step(). Its first call only runs. The next two
are recorded, on copies of the arguments that stay where they are; if both recordings say the same, later calls copy their
arguments there and do the entries again, most of them as one list of kernel calls without Python in between. A step that cannot be
replayed runs as it is, and `fallback_reason` says why: most reasons come from `capture.py`.
"""

import functools
import threading
from collections.abc import Callable
from types import MethodType

from badak.compiler.arguments import Arguments
from badak.compiler.capture import WAITS
from badak.compiler.check import EVERY, checked, expect_number
from badak.compiler.plan import ALSO_NAMED, SHARED, Plan
from badak.core.errors import GraphError, tr, warn_once
from badak.core.memory import give_back
from badak.core.modes import modes
from badak.core.public_api import overriding

_MOST = 16  # recordings that one function keeps: of different shapes, say
_WATCHED = 256  # ways to call it that are counted
_ALIKE = 4  # plans for arguments that are alike
_LIVES = 8  # recordings in a row, with fewer replays each, after which no more are made
_recording = threading.Lock()  # the log of kernel calls is one for the process


class Compiled:
    """A function that is recorded and replayed. `fallback_reason` says what keeps it from being replayed, or is "".

    strict: raise where it cannot be replayed, instead of running it as it is. told: say so, once.
    """

    def __init__(self, function: Callable, strict: bool = False, told: bool = True):
        expect_number()
        functools.update_wrapper(self, function, updated=())
        self.function, self.strict, self.told = function, strict, told
        self.rests = False  # whether calls run as they are, for now
        self.reset()

    def reset(self) -> None:
        """Record again."""
        self.plans: dict[tuple, list[Plan]] = {}  # by what the arguments are; several where modules, numbers or .grad differ
        self.fallback_reason = ""
        self._last: Plan | None = None  # the one that was replayed last, of a call with nothing but tensors
        self._leaves_graph = False
        self._lives: list[int] = []  # how often recordings were replayed before something that they read was another one
        self._turn = threading.Lock()

    @property
    def recordings(self) -> list[Plan]:
        """What can be replayed."""
        return [plan for several in self.plans.values() for plan in several if plan.steps is not None]

    def __call__(self, *args, **kwargs):
        recording = modes.observer is not None and any(each.eager for each in modes.observers)
        plain = (
            recording
            or self.rests
            or modes.anomaly
            or modes.casting is not None
            or modes.replaced
            or (overriding.active and (overriding.state.modes or overriding.state.without_classes))
            or (self._leaves_graph and modes.grad)
        )
        if plain or not self._turn.acquire(blocking=False):
            return self.function(*args, **kwargs)
        try:
            last = self._last
            if last is not None and not kwargs and last.holds() and last.suits(args) and not last.shares(args):
                return last.replay(args) if not EVERY else checked(self.function, last, args, kwargs, args)
            return self._look_up(args, kwargs)
        finally:
            self._turn.release()

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        return Compiled, (self.function, self.strict, self.told)

    def _look_up(self, args, kwargs):
        found = Arguments(args, kwargs)
        plan = self._plan(found.key)
        if plan is None or plan.refused:
            return self.function(*args, **kwargs)
        if plan.steps is not None and plan.shares(found.tensors):
            self._tell(SHARED, tr("give it memory of its own: x.clone()"))
            return self.function(*args, **kwargs)
        if plan.steps is not None:
            self._last = plan if found.simple else None
            tensors = found.tensors
            return plan.replay(tensors) if not EVERY else checked(self.function, plan, args, kwargs, tensors)
        if not _recording.acquire(blocking=False):
            return self.function(*args, **kwargs)
        try:
            result = plan.call(found)
        finally:
            _recording.release()
        if plan.refused:
            self._complain(plan.refused)
        elif plan.waits:
            shared = plan.waits in (SHARED, ALSO_NAMED)
            self._tell(plan.waits, tr("give it memory of its own: x.clone()") if shared else tr("stop it for three calls"))
        elif plan.steps is not None:
            self.fallback_reason = ""
            give_back()
        return result

    def _plan(self, key) -> Plan | None:
        """The plan for arguments like these; None where there are too many that are still in use."""
        several = self.plans.get(key, [])
        for plan in list(several):
            if plan.dropped:
                several.remove(plan)
                self._tell(tr("it was recorded for something else: {}", plan.dropped), tr("fullgraph=False records it again"))
            elif plan.holds() if plan.steps is not None else plan.applies():
                return plan
        recordings = self.recordings
        if len(recordings) >= _MOST or len(several) >= _ALIKE:
            oldest = min(several or recordings, key=lambda plan: plan.used)
            if len(recordings) >= _MOST and not oldest.is_idle():
                return None
            self._remove(oldest)
        if len(self.plans) >= _WATCHED:
            self.plans = {old: plans for old, plans in self.plans.items() if any(plan.steps is not None for plan in plans)}
        plan = Plan(self.function)
        if several and (why := self._too_often(several)):
            plan.refuse(why)
            self._complain(why)
        self.plans.setdefault(key, []).append(plan)
        return plan

    def _too_often(self, several: list[Plan]) -> str:
        """Why nothing more is recorded for such arguments, where what was recorded has hardly been replayed."""
        last = max(several, key=lambda plan: plan.used)
        self._lives.append(last.count)
        if len(self._lives) < _LIVES or sum(self._lives[-_LIVES:]) > _LIVES * _LIVES:
            return ""
        return tr("{} is another one too often", last.guards.failed or "what it reads")

    def _remove(self, plan: Plan) -> None:
        for several in self.plans.values():
            if plan in several:
                several.remove(plan)
        plan.drop("others took its place")

    def _tell(self, why: str, fix: str) -> None:
        """Note why this call is not replayed, though others will be."""
        self.fallback_reason = why
        if self.strict:
            raise GraphError(self._cause(why), fix)

    def _complain(self, why: str) -> None:
        """Note why this function stays as it is, and say it where that is wanted."""
        self.fallback_reason = why
        self._leaves_graph = self._leaves_graph or why == WAITS
        if why == WAITS:
            return
        if self.strict:
            raise GraphError(self._cause(why), "fullgraph=False runs it as it is")
        if self.told:
            cause = tr("{}; it runs as it is", self._cause(why))
            warn_once(("compile", self._name(), why), cause, "docs/explanation/compile.md says what can be replayed")

    def _cause(self, why: str) -> str:
        return tr("compile: {} cannot be replayed: {}", self._name(), why)

    def _name(self) -> str:
        return getattr(self.function, "__qualname__", type(self.function).__name__)
