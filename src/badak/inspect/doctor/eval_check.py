"""A look at the first test after the watch, and at the first call in training after it."""

import threading
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from badak.core import events
from badak.core.events import Observer
from badak.core.modes import modes
from badak.inspect.doctor import parts
from badak.inspect.doctor.collectors import is_random, windows
from badak.inspect.doctor.diagnoses.data import SameBatch
from badak.inspect.doctor.diagnoses.handed_on import NotHandedOn
from badak.inspect.doctor.diagnoses.modes import EvalForgotten, TrainForgotten
from badak.inspect.doctor.diagnoses.other_data import OtherData
from badak.inspect.doctor.diagnoses.read import ReadWrongly
from badak.inspect.doctor.diagnoses.tests import TestedOnTrain
from badak.inspect.doctor.doors import DOORS, draws_told, loads_told, reseeded
from badak.inspect.doctor.facts import Tested, Visit
from badak.inspect.doctor.graph import memory
from badak.inspect.doctor.names import line, road
from badak.inspect.doctor.rows import share, signatures
from badak.inspect.doctor.tape import of_arrays, tensors
from badak.nn import Module
from badak.optim.optimizer import is_step
from badak.tensor import Tensor


class Lookout(Observer):
    """Waits for the first calls of trained models without gradients, until one is called with gradients again, and goes.

    It tells whether eval() was forgotten, whether train() was forgotten after it, and whether the rows were trained on.

    patience: seconds after which `enough()` is called at the next call of a model; None: for ever, and then only blocks without
    gradients are looked into, and the first call after them.
    tests: wait for the test of a model without dropout and batch norm, too.
    """

    def __init__(self, visit: Visit, patience: float | None = None, enough: Callable[[], None] | None = None, tests: bool = False):
        self.visit, self.enough = visit, enough
        steps = [*visit.steps, visit.watch.open]
        latest = {id(call.module) for step in visit.steps[-3:] for call in step.calls if call.grad}
        calls = [call for step in visit.steps for call in step.calls if id(call.module) in latest]  # others may have been a teacher
        self.models = {id(call.module): call for call in calls if call.grad and visit.learns(call.module)}
        seen = any(not call.grad and id(call.module) in latest for step in steps for call in step.calls)
        self.parts = {id(m): call for call in self.models.values() for m in call.module.modules() if id(m) not in self.models}
        self.deep = 0  # calls that are under way
        random = any(visit.is_random(call) for call in self.models.values())
        self.on = bool(self.models) and not seen and (random or tests)
        self.tested = False
        self._until = None if patience is None else perf_counter() + patience
        self._thread = threading.get_ident()
        if self.on:
            events.grad_mode_listeners.append(self._grad_mode_set)
            self._told = None if patience is None else draws_told(visit.watch)  # which rows of a dataset are asked about
            if patience is not None:
                events.watch(self)

    def _grad_mode_set(self) -> None:
        """A block without gradients begins or ends."""
        if self._until is None and threading.get_ident() == self._thread and not (modes.grad and self.tested):
            events.watch(self, not modes.grad)

    def end(self) -> None:
        """Look no longer."""
        if self.on:
            self.on = False
            if self._told is not None:
                self._told()
            events.watch(self, False)
            events.grad_mode_listeners.remove(self._grad_mode_set)
            said = self.visit.hidden | {finding.code for finding in self.visit.checkup.findings}
            for diagnosis in (TestedOnTrain, OtherData, ReadWrongly, NotHandedOn) if self.tested else ():
                for finding in diagnosis().look(self.visit) if diagnosis.code not in said else ():
                    self.visit.add(finding)
            known = {finding.code for finding in self.visit.checkup.findings}
            for finding in SameBatch().seeds(self.visit) if SameBatch.code not in known else ():
                self.visit.add(finding)

    def on_call(self, effect, args, kwargs, proceed):
        if effect.function.__name__ == "reseed":
            reseeded(self.visit.watch, args)
        return reads(self.visit, effect, args, kwargs, proceed)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        parts.met(self.visit.watch, op, arrays, outputs)
        if op.name in ("lstm", "gru", "rnn") and not modes.grad:
            windows(self.visit.watch, arrays)

    def on_module_exit(self, module, output, error=None) -> None:
        self.deep = max(0, self.deep - 1)
        if not self.deep:
            gave(self.visit, module, output)

    def on_module_enter(self, module, args, kwargs) -> None:
        self.deep += 1
        known, visit = self.models.get(id(module)), self.visit
        part = known is None and self.deep == 1 and self._until is not None and not modes.grad  # of a method of the model's own
        known = self.parts.get(id(module)) if part else known
        if known is None or part and not visit.learns(module if any(True for _ in module.parameters()) else known.module):
            return
        if not modes.grad:
            place = line()
            random = is_random(module) if part else visit.is_random(known)
            forgotten = (part or not self.tested) and module.training and random and EvalForgotten().judges(visit, known.module)
            if forgotten:
                visit.add(EvalForgotten().late(visit, module, place))
            self.tested = True
            if not part:
                visit.watch.given.single(module, args, kwargs, grad=False)
                visit.watch.given.called(module, args, kwargs, grad=False)
            tested = visit.watch.open.tested
            if len(tested) < 256 and (told := visit.watch.rows.test(args, kwargs, place, id(module), part)) is not None:
                tested.append(replace(told, module=id(known.module)))
            if not forgotten and (self._until is None or perf_counter() < self._until):
                return
        elif self.tested:
            if known.training and not module.training and visit.is_random(known):
                visit.add(TrainForgotten().late(visit, module, line()))
        elif self._until is None or perf_counter() < self._until:
            return
        self.end()
        if self.enough is not None:
            self.enough()


READS = frozenset("eq gt ge lt le along position".split())


def reads(visit: Visit, effect: Any, args: tuple, kwargs: dict, proceed: Callable) -> Any:
    """Note how a test reads what a model gave."""
    name = effect.function.__name__
    if name in READS and not modes.grad:
        return DOORS[name](visit.watch, effect, args, kwargs, proceed)
    return proceed(*args, **kwargs)


def gave(visit: Visit, module: Module, output: Any) -> None:
    """Note what a model gave in a test."""
    for y in list(tensors(output))[:8] if not modes.grad else ():
        if y._node is None and len(visit.watch.answers) < 256:
            visit.watch.answers[memory(y._array)] = y, module


WAITS = 6  # times as long a program may take for what it does not compute


class LateTests(Observer):
    """Looks at the tests that a program makes after its training, until `patience` seconds are over; `end` says what is wrong."""

    on = True

    def __init__(self, visit: Visit, patience: float, enough: Callable[[], None]):
        self.visit, self.enough, self.deep = visit, enough, 0
        self._until = thread_time() + patience, perf_counter() + WAITS * patience  # of its own time, whatever else runs
        calls = [call for step in visit.steps for call in step.calls if call.grad and visit.learns(call.module)]
        self.models = {id(call.module): call for call in calls}
        self.made: dict[int, object] = {}  # what models gave, by its memory
        self.wrong: dict[int, list[tuple[str, np.ndarray | None]]] = {}  # calls in train mode: the line, the rows
        self.tested: dict[tuple[int, ...], list[Tested]] = {}
        self.learns, self.turns = True, 0  # whether the last call was one of a training; how often one came behind a test
        self.known = {(model, way) for model, _, way in visit.watch.given.tested}
        self._told = draws_told(visit.watch)
        events.watch(self)

    def on_module_enter(self, module, args, kwargs) -> None:
        self.deep += 1
        if self.deep > 1:
            return
        if thread_time() > self._until[0] or perf_counter() > self._until[1]:
            self.enough()
        watch = self.visit.watch
        args, kwargs = of_arrays(args, kwargs)
        if modes.grad:
            if id(module) in self.models:
                self.turns += not self.learns
                self.learns = True
                watch.rows.train(args, kwargs, id(module), line())
            return
        watch.given.single(module, args, kwargs, grad=False)
        if id(module) not in self.models:
            return
        self.learns = False
        place, way = line(), road()
        own = any(isinstance(x, Tensor) and memory(x._array) in self.made for x in args)  # no data
        if own or not self.turns and (id(module), way) in self.known:
            return
        watch.given.called(module, args, kwargs, grad=False)
        several = self.tested.setdefault((self.turns, *way), [])
        if len(several) < 256 and (told := watch.rows.test(args, kwargs, place, id(module))) is not None:
            several.append(told)
        if module.training and self.visit.is_random(self.models[id(module)]):
            self.wrong.setdefault(id(module), []).append((place, signatures(args, kwargs)))

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        parts.met(self.visit.watch, op, arrays, outputs)

    def on_module_exit(self, module, output, error=None) -> None:
        self.deep = max(0, self.deep - 1)
        if not self.deep and isinstance(output, Tensor):
            if len(self.made) < 256:
                self.made[memory(output._array)] = output
            gave(self.visit, module, output)

    def on_call(self, effect, args, kwargs, proceed):
        return reads(self.visit, effect, args, kwargs, proceed)

    def end(self) -> None:
        """Say what is wrong, and look no longer."""
        if not self.on:
            return
        self.on = False
        self._told()
        events.watch(self, False)
        visit = self.visit
        for key, several in self.wrong.items():
            rows = [found.tobytes() for _, found in several if found is not None]
            taught = [found for _, found in several if found is not None and share(found, visit.watch.rows.trained) > 0.5]
            again = len(set(rows)) < len(rows)  # asked twice: the doubt is meant; of what was learnt: batch norm looks again
            if not again and not taught and EvalForgotten().judges(visit, self.models[key].module):
                visit.add(EvalForgotten().late(visit, self.models[key].module, several[0][0]))
        judge = TestedOnTrain()
        found = [finding for every in self.tested.values() if every and (finding := judge.judged(visit, every)) is not None]
        said = {finding.code for finding in visit.checkup.findings}
        more = [found[:1], judge.scaled(visit), OtherData().look(visit), ReadWrongly().look(visit), NotHandedOn().look(visit)]
        for finding in [each for several in more for each in several if each.code not in said]:
            visit.add(finding)


class NextTraining(Observer):
    """Waits, behind a training in which nothing was found, for another optimizer; `begin` watches what it does."""

    on = True

    def __init__(self, visit: Visit, patience: float, enough: Callable[[], None], begin: Callable[[], None]):
        self.enough, self.begin = enough, begin
        self._known = {*visit.watch.optimizers}
        self._told = loads_told(visit.watch)  # what is loaded in between
        self._until = thread_time() + patience, perf_counter() + WAITS * patience
        events.watch(self)

    def on_optimizer(self, optimizer) -> None:
        self.other()

    def on_call(self, effect, args, kwargs, proceed):
        if not is_step(effect, args) or id(args[0]) in self._known:
            return proceed(*args, **kwargs)
        result = proceed(*args, **kwargs)
        self.other()
        return result

    def on_module_enter(self, module, args, kwargs) -> None:
        if thread_time() > self._until[0] or perf_counter() > self._until[1]:
            self.enough()

    def other(self) -> None:
        if self.on:
            self.end()
            self.begin()

    def end(self) -> None:
        """Wait no longer."""
        if self.on:
            self.on = False
            self._told()
            events.watch(self, False)
