"""Keeps the first whole step of a program as a `Tape`, and ends the program where the optimizer would make it."""

from typing import Any

import numpy as np

from badak.compat.torch.first_call import being_made
from badak.core.errors import ArgumentError, tr
from badak.core.modes import modes
from badak.inspect.doctor.names import line
from badak.inspect.doctor.tape import Back, Called, Ran, Tape, once
from badak.inspect.doctor.watch import Watch
from badak.optim.optimizer import is_step
from badak.tensor import Tensor

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


class Whole(BaseException):
    """Ends the program: the step was seen whole, but for what the optimizer does."""


class Recorder(Watch):
    """A watch that fills `tape`. `why`: the error that says why the step cannot be repeated, None where it can."""

    def __init__(self) -> None:
        super().__init__(lambda step: None)
        self.tape, self.why = Tape(), None
        self.whole = False
        self._call_under_way: Called | None = None
        self._gradients: dict[int, tuple[Any, np.ndarray]] = {}
        self._going_back = False

    # the forward

    def _from_outside(self, module, args, kwargs) -> None:
        self._call_under_way = None
        if modes.grad and not self._going_back and not being_made():
            super()._from_outside(module, args, kwargs)
            self._call_under_way = Called(module, args, kwargs)

    def came_out(self, y) -> None:
        call, self._call_under_way = self._call_under_way, None
        if call is not None:
            call.returned(y)
            self.tape.entries.append(call)

    def on_op(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        if not self.stack and not self._going_back and outputs[0]._node is not None:
            self.tape.entries.append(Ran(op, inputs, attributes, outputs))

    # the backward

    def on_backward_pass(self, outputs, gradients, options, proceed) -> None:
        if all(y._edge() is not None for y in outputs):
            self.tape.entries.append(Back(outputs, gradients, options))
            self.tape.place = line()
        self._going_back = True
        try:
            proceed()
        finally:
            self._going_back = False
        self._keep_gradients()

    def _keep_gradients(self) -> None:
        """So that it is seen when something else changes them."""
        reached = [(key, p) for key, p in self.reached.items() if p._grad is not None]
        self._gradients = {key: (p, p._grad.to_dense()._array.copy()) for key, p in reached}

    # the step

    def on_call(self, effect, args, kwargs, proceed):
        if effect.function.__name__ in CLIPS and (args or "parameters" in kwargs):
            return self._clip(effect.function, proceed, *args, **kwargs)
        if not is_step(effect, args):
            return proceed(*args, **kwargs)
        self.tape.optimizer, self.whole = args[0], True
        try:
            self._check(len(args) > 1 or any(value is not None for value in kwargs.values()))
            self.tape.finish()
        except ArgumentError as error:
            self.why = error
        raise Whole

    def _clip(self, function, proceed, parameters, *args, **kwargs) -> Any:
        parameters = parameters if isinstance(parameters, Tensor) else list(parameters)
        self.tape.clips.append((function, parameters, args, kwargs))
        result = proceed(parameters, *args, **kwargs)
        self._keep_gradients()
        return result

    def _check(self, closure: bool) -> None:
        if closure:
            raise once(tr("the first step cannot be repeated: optimizer.step() computes the loss itself, by a closure"))
        for p, before in self._gradients.values():
            if p._grad is not None and not np.array_equal(p._grad.to_dense()._array, before, equal_nan=True):
                raise once(
                    tr("the first step cannot be repeated: something else than clipping changed the gradients after backward()")
                )
