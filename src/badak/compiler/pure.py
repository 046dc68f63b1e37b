"""Which functions written in C read nothing but their arguments.

Of a call into C nobody can see what it reads. It is known by name that it reads and changes nothing but what it is given
(`_PURE`); of all others a replay would not know what they answer, or leave out what they do.
"""

import array
import builtins
import contextvars
import datetime
import decimal
import re
import struct
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from badak.tensor import Tensor

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
# what is kept elsewhere, and how much an iterator has left
_COUNTS = frozenset({"getweakrefcount", "getweakrefs", "length_hint"})
# methods of these read and change their object alone, which is compared
_OBJECTS: Any = (
    int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset, deque, OrderedDict, defaultdict, range, slice,
    array.array, type, property, classmethod, staticmethod, types.FunctionType, types.MethodType, types.CodeType, types.ModuleType,
    types.GeneratorType, types.SimpleNamespace, types.MappingProxyType, types.CellType, types.GenericAlias, re.Pattern, re.Match,
    decimal.Decimal, struct.Struct, weakref.ref, BaseException, np.ndarray, np.generic, np.dtype, np.ufunc, contextvars.ContextVar,
    type({}.keys()),
    type({}.values()), type({}.items()), types.BuiltinFunctionType, object,
)  # fmt: skip
_MOVES = frozenset({"__next__", "__iter__"})  # of an iterator, of which it is seen where it has come to
_DATES = (datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo)
_CLOCKS = frozenset({"now", "today", "utcnow"})


def impure(function) -> str:
    """The name of a function in C that may read or change more than its arguments; "" for one that does not."""
    owner = getattr(function, "__self__", None)
    name = function.__name__
    if isinstance(owner, types.ModuleType) or owner is None:
        module = function.__module__ or getattr(owner, "__name__", "")
        first = module.split(".")[0]
        if module in _PURE and name not in _COUNTS or name in _PURE_OF.get(module, ()) or first in ("numpy", "ml_dtypes"):
            return ""
        return f"{module}.{name}" if module and module != "builtins" else name
    kind = owner if isinstance(owner, type) else type(owner)
    if issubclass(kind, _DATES) and name not in _CLOCKS:
        return ""
    if name == "__subclasses__":
        return "__subclasses__"
    base = defined_in_c(kind)
    if base in _OBJECTS or (base.__name__.endswith("iterator") and name in _MOVES) or issubclass(kind, Tensor):
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


_FROM_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.GetSetDescriptorType, types.ClassMethodDescriptorType)


def _has_own_new(kind: type) -> bool:
    new = vars(kind).get("__new__")
    return isinstance(new, types.BuiltinFunctionType) and new.__self__ is kind
