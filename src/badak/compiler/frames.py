"""Which of the program's functions run while a step is recorded, with what, and which functions written in C they call.

Python tells of every call (`sys.setprofile`). badak's own functions and NumPy's are passed over: what they read is announced, or
reaches them through the program. A function in C is known to read nothing but its arguments (`pure.py`), or the step is not
replayed. Of files, folders, sockets and the like Python tells whoever opens them (`sys.addaudithook`): badak, NumPy, a class in C.
"""

import builtins
import functools
import gc
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from badak.autograd.node import Node
from badak.compiler.answers import Question, is_plain, question_of
from badak.compiler.code import Facts, facts
from badak.compiler.pure import impure
from badak.core.errors import PACKAGE, tr
from badak.tensor import Tensor

_PROGRAMS = ("badak.models", "badak.training", "badak.generation")  # parts of badak that are programs like the user's
_OURS = "badak torch numpy numba llvmlite ml_dtypes importlib _frozen_importlib _frozen_importlib_external zipimport".split()


class Executed:
    """What is known of a code object that ran: whose globals, and the objects that were handed to it, by id."""

    def __init__(self, code: types.CodeType, frame: types.FrameType):
        self.code = code
        self.globals, self.builtins = frame.f_globals, frame.f_builtins
        self.arguments: dict[str, dict[int, Any]] = {}
        self.given: dict[int, Any] = {}  # what functions that it called have returned, or generators have yielded
        self.asked: dict[tuple[int, str], tuple[Any, str]] = {}  # (object, attribute) of what it asked for by getattr and the like
        self.words: set[str] = set()  # texts that it was given
        self.everything = False  # whether it may have asked for attributes by any name
        self.ran: set[int] | None = None  # the places of its instructions that were executed, where that is known
        self.facts: Facts | None = None  # what these ask for, once somebody wanted to know
        self.untold = False  # whether it has executed instructions of which Python did not tell
        self.answers: dict[tuple, Question] = {}  # what functions of badak were asked that have told it numbers

    def asks_for(self) -> Facts:
        """What its instructions ask for by name."""
        if self.facts is None:
            self.facts = facts(self.code, self.ran)
        return self.facts


class Frames:
    """Watches this thread. `executed`: by code; `refuse`: told of a call that cannot be replayed, with the reason."""

    def __init__(self, refuse: Callable[[str], None], before: dict[types.CodeType, Executed] | None = None):
        """before: what an earlier call has executed; then this one need not be followed instruction by instruction."""
        self.executed: dict[types.CodeType, Executed] = {}
        self.before = before
        self.refuse = refuse
        self.on = self._steps = False
        self._kinds: dict[types.CodeType, int] = {}  # code: whose it is
        self._passed: set[types.CodeType] = set()  # what is known to be no program's, nor to run for one
        self._watch = self._watcher()

    @staticmethod
    def trouble() -> str:
        """Why it cannot watch now; "" where it can."""
        return "a profiler is watching (sys.setprofile)" if sys.getprofile() is not None else ""

    def start(self) -> None:
        """Watch. Python's collector waits: what it calls on its way is not the program's."""
        self._collects = gc.isenabled()
        gc.disable()
        self.on, self._thread = True, threading.get_ident()
        _audit()
        _hears[self._thread] = self._heard
        self._builtins = {name: getattr(builtins, name) for name in BY_NAME}
        for name, function in self._builtins.items():
            setattr(builtins, name, self._asking(function))
        self._steps = sys.gettrace() is None and self.before is None
        if self._steps:
            sys._getframe().f_trace_opcodes = True  # Python 3.12.1 tells of instructions only if one frame asks before
            sys.settrace(self._tracer)
        sys.setprofile(self._watch)

    def stop(self) -> None:
        """Watch no more."""
        if self.on:
            self.on = False
            _hears.pop(self._thread, None)
            sys.setprofile(None)
            if self._steps:
                sys.settrace(None)
            for name, function in self._builtins.items():
                setattr(builtins, name, function)
            if self._collects:
                gc.enable()
            self._watch = self.refuse = None  # type: ignore[assignment]  # who is told, and knows this, ends with the call

    def _asking(self, function: Callable) -> Callable:
        """A builtin that is given an attribute's name, which nothing else tells."""
        caller, passed, asked = sys._getframe, self._passed, self._asked

        @functools.wraps(function)
        def asking(*args):
            frame = caller(1)
            if frame.f_code not in passed:
                asked(frame, *args)
            if not args and function in (vars, dir):  # which tell of the function that calls them
                return frame.f_locals if function is vars else sorted(frame.f_locals)
            return function(*args)

        return asking

    def _asked(self, frame, *args) -> None:
        thing, name = (*args, "__dict__")[:2] if args else (None, None)
        if self.on and self._thread == threading.get_ident() and type(name) is str and not _passes(thing):
            if self._is_program(frame):
                self._of(frame).asked[id(thing), name] = thing, name

    def _tracer(self, frame, event: str, what):
        """Python tells of each instruction of the program's functions, and of no others."""
        if not self._kinds.get(frame.f_code, _PROGRAM) & _PERHAPS or not self._is_program(frame):
            return None
        found = self._of(frame)
        if found.untold:
            return None
        ran = found.ran = set() if found.ran is None else found.ran

        def stepped(frame, event: str, what):
            if event == "opcode":
                ran.add(frame.f_lasti)
            elif event == "return" and frame.f_lasti not in ran:
                found.ran, found.untold = None, True
            return frame.f_trace  # itself, which would keep all that was found until Python's collector comes

        frame.f_trace = stepped  # before the next line: Python 3.13.0 looks whether it is there
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return stepped

    def pause(self) -> None:
        """Watch nothing until `go_on`."""
        _hears.pop(threading.get_ident(), None)
        sys.setprofile(None)
        if self._steps:
            sys.settrace(None)

    def go_on(self) -> None:
        """Watch again after what `unseen` has hidden."""
        if self.on:
            if self._steps:
                sys.settrace(self._tracer)
            sys.setprofile(self._watch)
            _hears[self._thread] = self._heard

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """A block in which nothing is watched."""
        self.pause()
        try:
            yield
        finally:
            self.go_on()

    def _heard(self, event: str) -> None:
        """The step goes to the world outside, by whatever function, unless kernels are made or modules imported."""
        frame: types.FrameType | None = sys._getframe(2)
        while frame is not None:
            known = self._kinds.get(frame.f_code)
            if known is None:
                known = _belongs_to(frame.f_globals.get("__name__") or "", frame.f_code.co_filename)
            if known & (_LIBRARY | _IMPORTS):
                return
            frame = frame.f_back if known != _PROGRAM else None
        if self.refuse is not None:
            self.refuse(tr("it calls {}, which may answer or do something else in each call", event))

    def _watcher(self) -> Callable:
        """What Python tells. Most of it comes from badak's own functions, and is passed over first."""
        kinds, is_program, called, returned = self._kinds, self._is_program, self._called, self._returned

        def told(frame, event: str, what) -> None:
            if event == "call":
                if kinds.get(frame.f_code, _PROGRAM) & _PERHAPS and is_program(frame):
                    called(frame)
            elif event == "return":
                if what is not None and (back := frame.f_back) is not None:
                    if kinds.get(back.f_code, _PROGRAM) & _PERHAPS and is_program(back):
                        returned(frame, back, what)
            elif event == "c_call":
                if not kinds.get(frame.f_code, _PROGRAM) & _PERHAPS or not is_program(frame):
                    return
                if what.__name__ in BY_NAME:  # by another name than that of the builtin
                    self._of(frame).everything = True
                elif what is sys.getrecursionlimit and kinds.get(frame.f_code) == _CALLERS:
                    return  # as a bound of a loop
                elif (why := impure(what)) and self.refuse is not None:
                    self.refuse(tr("it calls {}, which may answer or do something else in each call", why))

        return told

    def _is_program(self, frame) -> bool:
        """Whether a function is the program's. One of Python's library is its caller's, and what an import runs its importer's."""
        program = False
        while frame is not None:
            code = frame.f_code
            known = self._kinds.get(code)
            if known is None:
                module = frame.f_globals.get("__name__") or ""
                known = self._kinds[code] = _belongs_to(module, code.co_filename)
                if module.endswith(".arrayprint") and self.refuse is not None:
                    self.refuse(tr("it calls {}, which may answer or do something else in each call", f"numpy.{code.co_name}"))
                if not known & _PERHAPS:
                    self._passed.add(code)
            if known == _LIBRARY or (known == _OWN and not program):
                return False
            if known == _OWN:
                return True
            program = known == _PROGRAM or (program and not known & _IMPORTS)
            frame = frame.f_back
        return True

    def _of(self, frame) -> Executed:
        code = frame.f_code
        found = self.executed.get(code)
        if found is None:
            found = self.executed[code] = Executed(code, frame)
            if self.before is not None and code in self.before:
                found.ran, found.facts = self.before[code].ran, self.before[code].facts
        return found

    def _called(self, frame) -> None:
        found = self._of(frame)
        code = frame.f_code
        fresh = code.co_varnames[code.co_argcount + code.co_kwonlyargcount :][:2] if code.co_flags & _PACKED else ()
        for name, value in frame.f_locals.items():
            if type(value) is str:
                found.words.add(value)
            if _passes(value):
                continue
            kept = found.arguments.setdefault(name, {})
            if name in fresh and type(value) in (tuple, dict):  # *args and **kwargs are made for each call
                for part in value.values() if type(value) is dict else value:
                    if not _passes(part):
                        _keep(part, kept)
            else:
                _keep(value, kept)

    def _returned(self, frame, back, value) -> None:
        if not _passes(value):
            _keep(value, self._of(back).given)
        code = frame.f_code
        library = (frame.f_globals.get("__name__") or "").split(".")[0]
        keeps_state = library in _COMPILERS or (library == "numpy" and code.co_name in _STATE_OF_NUMPY)
        if keeps_state and self.refuse is not None:
            self.refuse(tr("it calls {}, which may answer or do something else in each call", f"{library}.{code.co_name}"))
        if self._kinds.get(code) == _OWN and is_plain(value) and (question := question_of(frame)) is not None:
            self._of(back).answers[question.key] = question


_hears: dict[int, Callable[[str], None]] = {}  # thread: who is told there
_INNER = frozenset("array builtins code compile cpython ctypes exec function gc import marshal object pickle sys".split())


@functools.cache
def _audit() -> None:
    """Ask Python to tell, once for the process: it takes no such wish back."""

    def told(event: str, what) -> None:
        if _hears and event.split(".")[0] not in _INNER and (hears := _hears.get(threading.get_ident())) is not None:
            hears(event)

    sys.addaudithook(told)


def unseen(method):
    """Decorator of a method of an object with `frames`: what happens in it is not watched."""

    @functools.wraps(method)
    def quietly(self, *args, **kwargs):
        self.frames.pause()
        try:
            return method(self, *args, **kwargs)
        finally:
            self.frames.go_on()

    return quietly


def _keep(value, found: dict[int, Any]) -> None:
    """Keep a value; with an iterator what it goes through, of which it lets go at its end."""
    if id(value) not in found:
        found[id(value)] = value
        if issubclass(type(value), Iterator) and type(value) is not types.GeneratorType:
            for part in within(value):
                if not _passes(part):
                    _keep(part, found)


def within(iterator) -> list:
    """What an iterator goes through. Tuples of its own are not looked at: they may have gaps, in which no object stands."""
    parts = gc.get_referents(iterator)
    return [each for part in parts for each in (gc.get_referents(part) if type(part) is tuple else [part])]


_PACKED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


_SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.ndarray, Node})


def _passes(value) -> bool:
    """Whether a value needs not be kept: a number, or a tensor, whose values are no matter of Python."""
    kind = type(value)
    return kind in _SIMPLE or kind is Tensor or (kind is tuple and all(map(_passes, value)))


_STATE_OF_NUMPY = frozenset("geterr geterrcall getbufsize get_printoptions".split())
BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "vars", "dir")
_PROGRAM, _OWN, _CALLERS, _LIBRARY, _IMPORTS = 1, 2, 4, 8, 16
_PERHAPS = _PROGRAM | _CALLERS
_COMPILERS = ("numba", "llvmlite")
_LIBRARIES = ("badak.kernels", *_COMPILERS)  # which call nothing of the program's, but for where it prints to


def _belongs_to(module: str, file: str) -> int:
    """Whose the functions of a module are. What kernels are made of has no module."""
    if not module and file.startswith(PACKAGE):
        return _LIBRARY
    if is_of_python(module):
        return _CALLERS | (_IMPORTS if "importlib" in module.split(".")[0] else 0)
    if module.startswith(_LIBRARIES):
        return _LIBRARY
    return _PROGRAM if is_program(module) else _OWN


def is_of_python(module: str) -> bool:
    """Whether a module is one of Python's library."""
    first = module.split(".")[0]
    return first != "__main__" and (first in sys.stdlib_module_names or module.startswith("namedtuple_"))


def is_program(module: str) -> bool:
    """Whether the functions of a module are read as the user's are."""
    return str(module).split(".")[0] not in _OURS or module.startswith(_PROGRAMS)
