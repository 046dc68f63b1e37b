"""The first call of a model in a program that was written for PyTorch: what looks at models takes it from there.

The program runs as under `badak run`, unchanged, until it calls a module that has parameters; there it ends. What a module calls
while it is being made, to find out sizes, does not count. The program's own output goes to stderr.
"""

import sys
from contextlib import redirect_stdout
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple

from badak.compat.torch.run import prepared
from badak.core.errors import ArgumentError, BadakError, tr
from badak.core.events import Observer, watch
from badak.nn import Module


class FirstCall(NamedTuple):
    """model(*args, **kwargs), which has not begun."""

    model: Module
    args: tuple
    kwargs: dict[str, Any]


GOES_ON = 20.0  # seconds


class _Reached(BaseException):
    """Ends the program, where the call would begin or behind it."""


class _Caller(Observer):
    """Waits for the call, and ends the program there; or, where `loss` watches on, behind it."""

    def __init__(self, loss: Observer | None):
        self.loss = loss
        self.call: FirstCall | None = None
        self._inside = False  # the call runs
        self._end = 0.0

    def __exit__(self, *error) -> None:
        super().__exit__(*error)
        if self.loss is not None:
            watch(self.loss, False)

    def on_module_enter(self, module, args, kwargs) -> None:
        if self.call is None:
            if any(True for _ in module.parameters()) and not being_made():
                self.call = FirstCall(module, args, kwargs)
                if self.loss is None:
                    raise _Reached
                self._inside, self._end = True, monotonic() + GOES_ON
                watch(self.loss)
        elif not self._inside and (module is self.call.model or monotonic() > self._end):
            raise _Reached

    def on_module_exit(self, module, output, error=None) -> None:
        if self._inside and self.call is not None and self.loss is not None and module is self.call.model:
            self._inside = False
            self.loss.on_module_exit(module, output, error)  # who watches since it began is not told of its end
            if isinstance(error, Exception):
                raise _Reached from None

    def on_backward_pass(self, outputs, gradients, options, proceed) -> None:
        if self.call is not None:
            raise _Reached
        proceed()


def first_call(program: str, arguments: list[str], is_module: bool = False, loss: Observer | None = None) -> FirstCall:
    """What the program calls first; ArgumentError where it ends or fails before, FileError where there is none.

    loss: who watches how the program goes on, from that call to its backward, its next call of the model, its end, or for
    GOES_ON seconds.
    """
    begin, what = prepared(program, arguments, is_module), "ended"
    with _Caller(loss) as caller:
        try:
            with redirect_stdout(sys.stderr):
                begin()
        except _Reached:
            pass
        except (SystemExit, Exception) as end:
            what = how_it_ended(end)
    if caller.call is not None:
        return caller.call
    cause = tr("{}: {} before it called a module that has parameters", program, what)
    raise ArgumentError(cause, tr("badak run {} shows what it does", program))


def how_it_ended(end: BaseException) -> str:
    if isinstance(end, SystemExit):
        return tr("ended with exit code {}", end.code) if end.code else "ended"
    lines = (end.cause if isinstance(end, BadakError) else str(end)).splitlines()
    return tr("failed with {}{},", type(end).__name__, ": " + lines[0] if lines else "")


def being_made() -> bool:
    """Whether one of the callers is the constructor of a module."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__init__" and isinstance(frame.f_locals.get(code.co_varnames[0]), Module):
            return True
        frame = frame.f_back
    return False
