"""Which of the program's functions run while a step is recorded, with what, and which functions written in C they call.

Python tells of every call (`sys.setprofile`). badak's own functions and NumPy's are passed over: what they read is announced, or
reaches them through the program. Of a call into C nobody can see what it reads; it is known by name that it reads nothing but its
arguments (`_PURE`), or the step is not replayed.
"""

import array
import builtins
import contextvars
import datetime
import decimal
import gc
import inspect
import re
import struct
import sys
import threading
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from badak.autograd.node import Node
from badak.core.errors import PACKAGE
from badak.tensor import Tensor

_PROGRAMS = ("badak.models", "badak.training", "badak.generation")  # parts of badak that are programs like the user's
_OURS = "badak torch numpy numba llvmlite ml_dtypes importlib _frozen_importlib _frozen_importlib_external zipimport".split()

_BUILTINS = """
    abs all any ascii bin callable chr delattr dir divmod format getattr hasattr hash hex id isinstance issubclass iter len max min
    next oct ord pow repr round setattr sorted sum vars __build_class__ aiter anext
""".split()
# functions of these modules compute from their arguments alone, or change them
_PURE = frozenset(
    "math cmath _operator operator itertools _functools functools _collections collections _bisect _heapq _weakref _abc _struct "
    "_statistics binascii zlib _string unicodedata _sre _typing array _types types _opcode _tokenize _ast _json".split()
)
_PURE_OF = {
    "builtins": frozenset(_BUILTINS),
    "sys": frozenset({"intern", "exc_info", "is_finalizing", "exception"}),
    "posix": frozenset({"fspath", "_path_normpath", "_path_splitroot_ex"}),
}
# methods of these read and change their object alone, which is compared
_OBJECTS: Any = (
    int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, deque, OrderedDict, defaultdict, range, slice,
    array.array, type, property, classmethod, staticmethod, types.FunctionType, types.MethodType, types.CodeType, types.ModuleType,
    types.GeneratorType, types.SimpleNamespace, types.MappingProxyType, types.CellType, types.GenericAlias, re.Pattern, re.Match,
    decimal.Decimal, struct.Struct, weakref.ref, BaseException, np.ndarray, np.generic, np.dtype, np.ufunc, contextvars.ContextVar,
    type({}.keys()),
    type({}.values()), type({}.items()), types.BuiltinFunctionType, object,
)  # fmt: skip
_DATES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo)
_CLOCKS = frozenset({"now", "today", "utcnow"})


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
        self.untold = False  # whether it has executed instructions of which Python did not tell
        self.answers: dict = {}  # (code, object) of functions of badak that have told it numbers, asked for nothing else


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
        self._builtins = {name: getattr(builtins, name) for name in _BY_NAME}
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

        @wraps(function)
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
            return stepped

        frame.f_trace = stepped  # before the next line: Python 3.13.0 looks whether it is there
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return stepped

    def pause(self) -> None:
        """Watch nothing until `go_on`."""
        sys.setprofile(None)
        if self._steps:
            sys.settrace(None)

    def go_on(self) -> None:
        """Watch again after what `unseen` has hidden."""
        if self.on:
            if self._steps:
                sys.settrace(self._tracer)
            sys.setprofile(self._watch)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """A block in which nothing is watched."""
        self.pause()
        try:
            yield
        finally:
            self.go_on()

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
                if what.__name__ in _BY_NAME:  # by another name than that of the builtin
                    self._of(frame).everything = True
                elif what is sys.getrecursionlimit and kinds.get(frame.f_code) == _CALLERS:
                    return  # as a bound of a loop
                elif (why := impure(what)) and self.refuse is not None:
                    self.refuse(f"it calls {why}, which may answer or do something else in each call")

        return told

    def _is_program(self, frame) -> bool:
        """Whether a function is the program's. One of Python's library is its caller's."""
        program = False
        while frame is not None:
            code = frame.f_code
            known = self._kinds.get(code)
            if known is None:
                known = self._kinds[code] = _belongs_to(frame.f_globals.get("__name__") or "", code.co_filename)
                if not known & _PERHAPS:
                    self._passed.add(code)
            if known == _LIBRARY or (known == _OWN and not program):
                return False
            if known == _OWN:
                return True
            program = program or known == _PROGRAM
            frame = frame.f_back
        return True

    def _of(self, frame) -> Executed:
        code = frame.f_code
        found = self.executed.get(code)
        if found is None:
            found = self.executed[code] = Executed(code, frame)
            if self.before is not None and code in self.before:
                found.ran = self.before[code].ran
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
        if code.co_name in _STATE_OF_NUMPY and frame.f_globals.get("__name__", "").startswith("numpy.") and self.refuse is not None:
            self.refuse(f"it calls numpy.{code.co_name}, which may answer or do something else in each call")
        if self._kinds.get(code) == _OWN and code.co_argcount < 2 and not code.co_flags & _VARIABLE and _is_plain(value):
            asked = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else frame.f_globals
            self._of(back).answers[code, id(asked)] = code, asked


def unseen(method):
    """Decorator of a method of an object with `frames`: what happens in it is not watched."""

    @wraps(method)
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
            for part in gc.get_referents(value):
                if not _passes(part):
                    _keep(part, found)


_PACKED = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_VARIABLE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR


def _is_plain(value) -> bool:
    """Whether a value is a number or a text, or a few of them."""
    if type(value) in (list, tuple):
        return len(value) < 100 and all(map(_is_plain, value))
    return type(value) in (int, float, complex, bool, str, bytes)


_SIMPLE = frozenset({int, float, complex, bool, str, bytes, type(None), type(Ellipsis), np.ndarray, Node})


def _passes(value) -> bool:
    """Whether a value needs not be kept: a number, or a tensor, whose values are no matter of Python."""
    kind = type(value)
    return kind in _SIMPLE or kind is Tensor or (kind is tuple and all(map(_passes, value)))


_STATE_OF_NUMPY = frozenset("geterr geterrcall getbufsize get_printoptions".split())
_BY_NAME = ("getattr", "hasattr", "setattr", "delattr", "vars", "dir")
_PROGRAM, _OWN, _CALLERS, _LIBRARY = 1, 2, 4, 8
_PERHAPS = _PROGRAM | _CALLERS
_LIBRARIES = ("badak.kernels", "numba", "llvmlite")  # which call nothing of the program's, but for where it prints to


def _belongs_to(module: str, file: str) -> int:
    """Whose the functions of a module are. What kernels are made of has no module."""
    if not module and file.startswith(PACKAGE):
        return _LIBRARY
    first = module.split(".")[0]
    if first != "__main__" and (first in sys.stdlib_module_names or module.startswith("namedtuple_")):
        return _CALLERS
    if module.startswith(_LIBRARIES):
        return _LIBRARY
    return _PROGRAM if is_program(module) else _OWN


def is_program(module: str) -> bool:
    """Whether the functions of a module are read as the user's are."""
    return str(module).split(".")[0] not in _OURS or module.startswith(_PROGRAMS)


def impure(function) -> str:
    """The name of a function in C that may read or change more than its arguments; "" for one that does not."""
    owner = getattr(function, "__self__", None)
    name = function.__name__
    if isinstance(owner, types.ModuleType) or owner is None:
        module = function.__module__ or getattr(owner, "__name__", "")
        first = module.split(".")[0]
        if module in _PURE or name in _PURE_OF.get(module, ()) or first in ("numpy", "ml_dtypes", "numba"):
            return ""
        return f"{module}.{name}" if module and module != "builtins" else name
    kind = owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, _DATES) and name not in _CLOCKS:
        return ""
    if name == "__subclasses__":
        return "__subclasses__"
    base = defined_in_c(kind)
    if base in _OBJECTS or base.__name__.endswith("iterator") or issubclass(kind, Tensor):
        return ""
    return f"{kind.__module__}.{kind.__qualname__}.{name}".removeprefix("builtins.")


_bases: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def defined_in_c(kind: type) -> type:
    """The first class of a class's order of resolution that is written in C."""
    found = _bases.get(kind)
    if found is None:
        found = _bases[kind] = next(each for each in kind.__mro__ if not written_in_python(each))
    return found


def written_in_python(kind: type) -> bool:
    """Whether a class was made by a class statement: nothing in it is bound to it alone in C."""
    if kind is object or kind.__module__ == "builtins" and getattr(builtins, kind.__name__, None) is kind:
        return False
    for name, value in vars(kind).items():
        if isinstance(value, _FROM_C) and value.__objclass__ is kind and name not in ("__dict__", "__weakref__"):
            return False
    return "__module__" in vars(kind) and "__doc__" in vars(kind) and not _has_own_new(kind)


_FROM_C = types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType


def _has_own_new(kind: type) -> bool:
    new = vars(kind).get("__new__")
    return isinstance(new, types.BuiltinFunctionType) and new.__self__ is kind
