"""A look at the first test after the watch: only blocks of no_grad() and inference_mode() are looked into, no step is."""

import threading
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from badak.autograd.grad_mode import _Switch
from badak.doctor.diagnoses.modes import EvalForgotten
from badak.doctor.names import line
from badak.graph.modes import modes
from badak.nn import Module

if TYPE_CHECKING:
    from badak.doctor.visit import Visit


class Lookout:
    """Waits for the first call of a trained model without gradients, then tells whether eval() was forgotten, and goes.

    patience: seconds after which `enough()` is called at the next call of a model; None: for ever, and then only blocks without
    gradients are looked into.
    """

    def __init__(self, visit: "Visit", patience: float | None = None, enough: Callable[[], None] | None = None):
        self.visit, self.enough = visit, enough
        self.models = {
            id(call.module): call.module for step in visit.steps for call in step.calls if call.random and visit.learns(call.module)
        }
        seen = any(not call.grad for step in [*visit.steps, visit.watch.open] for call in step.calls)
        self.on = bool(self.models) and not seen
        self._until = None if patience is None else perf_counter() + patience
        self._thread = threading.get_ident()
        if self.on:
            self._plain = Module.__call__, _Switch.__enter__, _Switch.__exit__
            self._look()

    def _look(self) -> None:
        lookout, (call, enter, leave) = self, self._plain

        def called(module: Module, *args: Any, **kwargs: Any) -> Any:
            if id(module) in lookout.models and threading.get_ident() == lookout._thread:
                lookout._met(module)
            return call(module, *args, **kwargs)

        def entered(switch: Any) -> None:
            enter(switch)
            if lookout._until is None and not modes.grad:
                Module.__call__ = called  # type: ignore[method-assign,assignment]

        def left(switch: Any, *error: Any) -> None:
            leave(switch, *error)
            if lookout._until is None and modes.grad:
                Module.__call__ = call  # type: ignore[method-assign]

        if self._until is not None:
            Module.__call__ = called  # type: ignore[method-assign,assignment]
        _Switch.__enter__, _Switch.__exit__ = entered, left  # type: ignore[method-assign,assignment]

    def end(self) -> None:
        """Look no longer."""
        if self.on:
            self.on = False
            Module.__call__, _Switch.__enter__, _Switch.__exit__ = self._plain  # type: ignore[method-assign]

    def _met(self, module: Module) -> None:
        if not modes.grad:
            self.end()
            if module.training:
                self.visit.add(EvalForgotten().late(self.visit, module, line(3)))
            elif self.enough is None:
                return
        elif self._until is None or perf_counter() < self._until:
            return
        self.end()
        if self.enough is not None:
            self.enough()
