"""A look at the first test after the watch, and at the first call in training after it."""

import threading
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from badak.autograd.grad_mode import _Switch
from badak.core.modes import modes
from badak.inspect.doctor.diagnoses.modes import EvalForgotten, TrainForgotten
from badak.inspect.doctor.diagnoses.tests import TestedOnTrain
from badak.inspect.doctor.names import line
from badak.nn import Module

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class Lookout:
    """Waits for the first calls of trained models without gradients, until one is called with gradients again, and goes.

    It tells whether eval() was forgotten, whether train() was forgotten after it, and whether the rows were trained on.

    patience: seconds after which `enough()` is called at the next call of a model; None: for ever, and then only blocks without
    gradients are looked into, and the first call after them.
    tests: wait for the test of a model without dropout and batch norm, too.
    """

    def __init__(
        self, visit: "Visit", patience: float | None = None, enough: Callable[[], None] | None = None, tests: bool = False
    ):
        self.visit, self.enough = visit, enough
        steps = [*visit.steps, visit.watch.open]
        calls = [call for step in visit.steps for call in step.calls]
        self.models = {id(call.module): call for call in calls if call.grad and visit.learns(call.module)}
        seen = any(not call.grad for step in steps for call in step.calls)
        random = any(visit.is_random(call) for call in self.models.values())
        self.on = bool(self.models) and not seen and (random or tests)
        self.tested = False
        self._until = None if patience is None else perf_counter() + patience
        self._thread = threading.get_ident()
        if self.on:
            self._plain = Module.__call__, _Switch.__enter__, _Switch.__exit__
            self._look()

    def _look(self) -> None:
        lookout, (call, enter, leave) = self, self._plain

        def called(module: Module, *args: Any, **kwargs: Any) -> Any:
            if id(module) in lookout.models and threading.get_ident() == lookout._thread:
                lookout._met(module, args, kwargs)
            return call(module, *args, **kwargs)

        def entered(switch: Any) -> None:
            enter(switch)
            if lookout._until is None and not modes.grad:
                Module.__call__ = called  # type: ignore[method-assign,assignment]

        def left(switch: Any, *error: Any) -> None:
            leave(switch, *error)
            if lookout._until is None and modes.grad and not lookout.tested:
                Module.__call__ = call  # type: ignore[method-assign]

        if self._until is not None:
            Module.__call__ = called  # type: ignore[method-assign,assignment]
        _Switch.__enter__, _Switch.__exit__ = entered, left  # type: ignore[method-assign,assignment]

    def end(self) -> None:
        """Look no longer."""
        if self.on:
            self.on = False
            Module.__call__, _Switch.__enter__, _Switch.__exit__ = self._plain  # type: ignore[method-assign]
            for finding in TestedOnTrain().look(self.visit) if self.tested else ():
                self.visit.add(finding)

    def _met(self, module: Module, args: tuple, kwargs: dict) -> None:
        known, visit = self.models[id(module)], self.visit
        if not modes.grad:
            place = line(3)
            forgotten = not self.tested and module.training and visit.is_random(known) and EvalForgotten().judges(visit, module)
            if forgotten:
                visit.add(EvalForgotten().late(visit, module, place))
            self.tested = True
            tested = visit.watch.open.tested
            if len(tested) < 256 and (told := visit.watch.rows.test(args, kwargs, place)) is not None:
                tested.append(told)
            if not forgotten and (self._until is None or perf_counter() < self._until):
                return
        elif self.tested:
            if known.training and not module.training and visit.is_random(known):
                visit.add(TrainForgotten().late(visit, module, line(3)))
        elif self._until is None or perf_counter() < self._until:
            return
        self.end()
        if self.enough is not None:
            self.enough()
