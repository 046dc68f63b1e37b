"""The one wording of a complaint: a line of cause and a line of fix.

Every class also derives from the class that PyTorch raises in that place, so that an `except` written for PyTorch keeps
working. Nothing in badak raises a bare built-in exception for a mistake of the caller.
"""

import os
import re
import shlex
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from badak.core.i18n import Message, message, say
from badak.core.i18n import tr as tr

_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")  # all but a line's end and a tab; order of letters
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # the folder of badak
_OWN_NAME = re.compile(r"\bbadak\.(?=[A-Za-z_])")


def visible(text: str) -> str:
    r"""The text with control characters as they are written in JSON, an escape as \u001b: what others wrote commands no terminal.

    Lines and tabs stay. So do letters of all scripts, but not what turns the order of the letters around it (U+202A to U+2069),
    nor what some take for the end of a line (U+2028, U+2029): a message has two lines.
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def package() -> str:
    """ "torch" in a program for which `import torch` gives badak, else "badak": printed names begin with it."""
    return "torch" if "torch" in sys.modules and sys.modules["torch"] is sys.modules.get("badak") else "badak"


def shown(text: str) -> str:
    """A text as an error shows it: short, without control characters, with the names that the program uses."""
    seen = _short(text)
    return _of(text, _OWN_NAME.sub("torch.", seen)) if package() == "torch" else seen


def _short(text: str) -> str:
    return _of(text, visible(in_brief(text)))


def _of(text: str, seen: str) -> str:
    """What is seen of a text, which is said in another language by the whole of it."""
    return text if seen == text else type(message(text))(seen, message(text).parts)


def _whole(cause: str, fix: str | None) -> str:
    """A line of cause and a line of fix."""
    if fix is None:
        return cause
    return Message(f"{cause}\nfix: {fix}", ("", message(cause), "\n", Message("fix:"), " ", message(fix), ""))


class Shown:
    """What notebooks show of an exception: the person's own lines that led to it, and the message; nothing of what lies below."""

    def _render_traceback_(self, *ignored: object) -> list[str]:
        """IPython's protocol: the lines of the traceback."""
        frames = traceback.extract_tb(self.__traceback__)  # type: ignore[attr-defined]
        own = [frame for frame in frames if not frame.filename.startswith(PACKAGE) and not _of_ipython(frame.filename)]
        shown = "".join(traceback.format_list(own) + traceback.format_exception_only(self))  # type: ignore[call-overload]
        return shown.rstrip().split("\n")


def _of_ipython(path: str) -> bool:
    return f"{os.sep}IPython{os.sep}" in path or f"{os.sep}ipykernel{os.sep}" in path


def _said(error: Exception, seen: Callable[[str], str]) -> str:
    text = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else Exception.__str__(error)
    return str.__str__(seen(say(text)))


class BadakError(Shown, Exception):
    """A mistake that badak can explain: `cause` in one line, `fix` in one line (or None where there is no single one).

    Shown, it speaks the person's language (BADAK_LANG=ko|en, else the locale); `cause`, `fix` and `args` are English.
    `code` ("BADAK-011", or None) names the situation: `badak explain BADAK-011`, docs/reference/errors.md.
    """

    def __init__(self, cause: str, fix: str | None = None, *, code: int | None = None) -> None:
        self.cause, self.fix = shown(cause), None if fix is None else shown(fix)
        Exception.__init__(self, _whole(self.cause, self.fix))
        self.code = None if code is None else name_of(code)
        if code is not None:
            self.add_note(f"badak explain {self.code}")  # what a traceback shows below the message

    def __str__(self) -> str:
        return _said(self, shown)  # not that of a KeyError, where it is one, too

    def mend(self, fix: str) -> None:
        """Give it a fix, as somebody further up knows one."""
        self.fix = _of(fix, visible(fix))
        self.args = (_whole(self.cause, self.fix),)


class ShapeError(BadakError, ValueError, RuntimeError):
    """Sizes that do not fit together."""


class DTypeError(BadakError, TypeError, NotImplementedError):
    """A dtype that the operation cannot take: PyTorch has not implemented it for it, says its class in most cases."""


class IndexOutOfRangeError(BadakError, IndexError, ValueError, RuntimeError):
    """An index, an id, a label or a dim outside its range."""


class ArgumentError(BadakError, ValueError, RuntimeError, AssertionError):
    """An argument with a value that has no meaning here."""


class ArgumentTypeError(BadakError, TypeError, ValueError):
    """An argument of the wrong kind (a string where a tensor belongs, ...)."""


class OutOfMemoryError(BadakError, MemoryError, RuntimeError):
    """More memory than there is."""


class GraphError(BadakError, RuntimeError):
    """Differentiation that cannot be done: no graph, a graph already consumed, a saved tensor changed."""


class ExportError(BadakError, BufferError, RuntimeError):
    """Memory that cannot be handed to another library."""


class StateError(BadakError, RuntimeError):
    """A state_dict or a checkpoint that does not fit what it is loaded into."""


class FileError(BadakError, RuntimeError, ValueError):
    """A file that is absent, damaged, or not what its name says."""


class NotSupportedError(BadakError, NotImplementedError, RuntimeError):
    """Something that PyTorch has and badak does not."""


def undefined(self: object, signature: str) -> NotSupportedError:
    """What a base class raises for a method that its subclasses define: `raise undefined(self, "def step(self)")`."""
    name = signature.removeprefix("def ").partition("(")[0]
    return NotSupportedError(tr("{} does not define {}", type(self).__name__, name), signature)


def expect_function(where: str, func: object) -> None:
    """Raise unless `func` can be called."""
    if not callable(func):
        raise ArgumentTypeError(tr("{}: expected a function; got {}", where, type(func).__name__), f"{where}(function)")


def expect_kind(value: object, kinds: Any, rule: str, fix: str | None, *names: object) -> None:
    """Raise unless the value is of one of these kinds. rule: a template for the names, and at its end for the kind that it is."""
    if not isinstance(value, kinds):
        raise ArgumentTypeError(tr(rule, *names, type(value).__name__), fix)


class NoDataError(NotSupportedError, TypeError):
    """A value was asked of a tensor on the meta device, which has a shape and a dtype, and no values."""


class DeviceError(NotSupportedError, AssertionError):
    """Work for a device that badak does not have."""


class BadakWarning(UserWarning):
    """Something that runs, and probably not as meant. `code`: as in BadakError."""

    def __init__(self, text: str = "", code: int | None = None) -> None:
        super().__init__(_of(text, visible(text)))
        self.code = None if code is None else name_of(code)

    def __str__(self) -> str:
        return _said(self, visible)

    def __format__(self, form: str) -> str:
        """As Python's own `formatwarning` shows it: with the code."""
        return format(f"{str(self)}\nbadak explain {self.code}" if self.code else str(self), form)


LONGEST = 500  # characters of a line: an array that got into it is not printed by the thousand
LONGEST_LIST = 2000  # of a line that begins with a tab, a list of keys, in which programs look for one
_warned: set[object] = set()


def name_of(code: int) -> str:
    """The code of a situation as people write it: 11 is "BADAK-011". Up to 199: inspect/introspection/error_codes.py;
    from 201: inspect/doctor/diagnoses; from 301: inspect/audit/report.py."""
    return f"BADAK-{code:03}"


def in_brief(cause: str) -> str:
    """A cause without its middle, where it is very long; lines (of keys, of layers) count each for itself."""
    return cause if len(cause) <= LONGEST else "\n".join(map(_line_in_brief, cause.split("\n")))


def _line_in_brief(part: str) -> str:
    most = LONGEST_LIST if part.startswith("\t") else LONGEST
    return part if len(part) <= most else f"{part[: most // 2]} ... {part[-most // 4 :]}"


def expect(ok: bool, where: str, rule: str, fix: str | None = None, error: type[BadakError] = ShapeError, **found: object) -> None:
    """Raise `error` unless `ok`: "where: expected rule; got name=value, ..." and the fix.

    The arguments are evaluated on every call: hot code says `if not ok: raise ...` itself.
    """
    if not ok:
        values = ", ".join(f"{name}={value}" for name, value in found.items())
        rule = message(rule)
        got = tr("{}: expected {}; got {}", where, rule, values) if values else tr("{}: expected {}", where, rule)
        raise error(got, fix)


def warn_once(key: object, cause: str, fix: str | None = None, code: int | None = None) -> None:
    """Warn with cause and fix, once in this process for each `key`."""
    if key not in _warned:
        _warned.add(key)
        warn(cause, fix, code)


def warn(cause: str, fix: str | None = None, code: int | None = None, kind: type[Warning] | None = None) -> None:
    """Warn with cause and fix, as often as Python's filters let it. kind: PyTorch's class, of a warning that it gives too."""
    text = _short(_whole(cause, fix))
    if code is None:
        warnings.warn(text, kind or BadakWarning, stacklevel=_outside())
    else:
        warnings.warn(BadakWarning(text, code), stacklevel=_outside())


@contextmanager
def heard_anew() -> Iterator[None]:
    """Within the block every `warn_once` speaks again; behind it, those that have spoken before or in it are silent."""
    before = set(_warned)
    _warned.clear()
    try:
        yield
    finally:
        _warned.update(before)


def forget_warnings() -> None:
    """Let every `warn_once` speak again (for tests and notebooks)."""
    _warned.clear()


def command(*words: object) -> str:
    """ "badak train gpt --resume 'my run'": what to type at this system's command line."""
    line = ["badak", *map(str, words)]
    return subprocess.list2cmdline(line) if sys.platform == "win32" else shlex.join(line)


def user_line() -> str:
    """ "file.py:line" of the nearest caller outside badak, "" where there is none."""
    frame = user_frame()
    return "" if frame is None else f"{file_name(frame.f_code.co_filename)}:{frame.f_lineno}"


def file_name(path: str) -> str:
    """ "train.py" of "/home/me/train.py"."""
    return path.rsplit("/", 1)[-1]


def user_frame() -> FrameType | None:
    """The frame of the nearest caller outside badak, None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "badak":
        frame = frame.f_back
    return frame


def _outside() -> int:
    """The stacklevel that makes a warning point at the user's line."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "badak":
        level, frame = level + 1, frame.f_back
    return level
