"""The first call of a model in a program that was written for PyTorch: what looks at models takes it from there.

The program runs as under `badak run`, unchanged, until it calls a module that has parameters; there it ends. What a module calls
while it is being made, to find out sizes, does not count. The program's own output goes to stderr.
"""

import sys
from contextlib import redirect_stdout
from types import FrameType
from typing import Any, NamedTuple

from badak.errors import ArgumentError, BadakError
from badak.face.run import prepared
from badak.nn import Module


class FirstCall(NamedTuple):
    """model(*args, **kwargs), which has not begun."""

    model: Module
    args: tuple
    kwargs: dict[str, Any]


class _Reached(BaseException):
    """Ends the program where the call would begin."""

    def __init__(self, call: FirstCall):
        super().__init__()
        self.call = call


def first_call(program: str, arguments: list[str], is_module: bool = False) -> FirstCall:
    """What the program calls first; ArgumentError where it ends or fails before, FileError where there is none."""
    begin = prepared(program, arguments, is_module)
    plain = Module.__call__

    def called(module: Module, *args, **kwargs):
        if any(True for _ in module.parameters()) and not being_made(sys._getframe(1)):
            raise _Reached(FirstCall(module, args, kwargs))
        return plain(module, *args, **kwargs)

    Module.__call__ = called  # type: ignore[method-assign,assignment]
    try:
        with redirect_stdout(sys.stderr):
            begin()
    except _Reached as reached:
        return reached.call
    except SystemExit as end:
        what = f"ended with exit code {end.code}" if end.code else "ended"
    except Exception as error:
        lines = (error.cause if isinstance(error, BadakError) else str(error)).splitlines()
        what = f"failed with {type(error).__name__}{': ' + lines[0] if lines else ''},"
    else:
        what = "ended"
    finally:
        Module.__call__ = plain  # type: ignore[method-assign,assignment]
    raise ArgumentError(
        f"{program}: {what} before it called a module that has parameters", f"badak run {program} shows what it does"
    )


def being_made(frame: FrameType | None) -> bool:
    """Whether one of the callers is the constructor of a module."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__init__" and isinstance(frame.f_locals.get(code.co_varnames[0]), Module):
            return True
        frame = frame.f_back
    return False
