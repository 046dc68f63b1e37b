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
from badak.core.errors import ArgumentError, BadakError
from badak.core.events import Observer, watch
from badak.nn import Module
from badak.tensor import Tensor


class FirstCall(NamedTuple):
    """model(*args, **kwargs), which has not begun."""

    model: Module
    args: tuple
    kwargs: dict[str, Any]


GOES_ON = 20.0  # seconds


class _Reached(BaseException):
    """Ends the program, where the call would begin or behind it."""

    def __init__(self, call: FirstCall):
        super().__init__()
        self.call = call
        self.inside = False  # the call runs
        self.end = monotonic() + GOES_ON

    def go_on(self, module: Module) -> None:
        """Another module is called: end where it is the same model again, or where it takes too long."""
        if not self.inside and (module is self.call.model or monotonic() > self.end):
            raise self


def first_call(program: str, arguments: list[str], is_module: bool = False, loss: Observer | None = None) -> FirstCall:
    """What the program calls first; ArgumentError where it ends or fails before, FileError where there is none.

    loss: who watches how the program goes on, from that call to its backward, its next call of the model, its end, or for
    GOES_ON seconds.
    """
    begin = prepared(program, arguments, is_module)
    plain, went_back = Module.__call__, Tensor.backward
    reached: list[_Reached] = []

    def called(module: Module, *args, **kwargs):
        if reached:
            reached[0].go_on(module)
        elif any(True for _ in module.parameters()) and not being_made(sys._getframe(1)):
            reached.append(_Reached(FirstCall(module, args, kwargs)))
            if loss is None:
                raise reached[0]
            watch(loss)
            try:
                reached[0].inside = True
                return plain(module, *args, **kwargs)
            except Exception:
                raise reached[0] from None
            finally:
                reached[0].inside = False
        return plain(module, *args, **kwargs)

    def backward(*args, **kwargs):
        if reached:
            raise reached[0]
        return went_back(*args, **kwargs)

    Module.__call__ = called  # type: ignore[method-assign,assignment]
    Tensor.backward = backward  # type: ignore[method-assign,assignment]
    try:
        with redirect_stdout(sys.stderr):
            begin()
    except _Reached as end:
        return end.call
    except (SystemExit, Exception) as end:
        if reached:
            return reached[0].call
        what = how_it_ended(end)
    else:
        if reached:
            return reached[0].call
        what = "ended"
    finally:
        Module.__call__, Tensor.backward = plain, went_back  # type: ignore[method-assign,assignment]
        if loss is not None:
            watch(loss, False)
    raise ArgumentError(
        f"{program}: {what} before it called a module that has parameters", f"badak run {program} shows what it does"
    )


def how_it_ended(end: BaseException) -> str:
    if isinstance(end, SystemExit):
        return f"ended with exit code {end.code}" if end.code else "ended"
    lines = (end.cause if isinstance(end, BadakError) else str(end)).splitlines()
    return f"failed with {type(end).__name__}{': ' + lines[0] if lines else ''},"


def being_made(frame: FrameType | None) -> bool:
    """Whether one of the callers is the constructor of a module."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__init__" and isinstance(frame.f_locals.get(code.co_varnames[0]), Module):
            return True
        frame = frame.f_back
    return False
