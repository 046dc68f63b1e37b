"""What Python's objects hold, and which of them are more than that."""

import array
import functools
import gc
import operator
import re
import sys
import types
import weakref
from collections import OrderedDict, deque, namedtuple
from contextvars import ContextVar
from typing import Any, Generic

import numpy as np

from badak.autograd.node import Node, Version
from badak.compiler.code import facts
from badak.compiler.frames import is_program, within
from badak.compiler.places import Place, dict_of, is_consumed
from badak.compiler.pure import written_in_python
from badak.compiler.snapshot import NUMBERS, ByKind, is_number
from badak.core import events
from badak.core.public_api.homes import home
from badak.tensor.attributes import is_a

_ENDS = (
    *NUMBERS, type(Ellipsis), type(NotImplemented), types.CodeType, np.number, np.bool_, np.character, np.datetime64, np.ufunc,
    range, Node, Version, types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
    types.MethodDescriptorType, types.ClassMethodDescriptorType, type(vars(namedtuple("_", "x"))["x"]),
)  # fmt: skip
# whether things of this kind never change, and lead nowhere
is_end = ByKind(lambda kind: issubclass(kind, _ENDS) and is_number[kind] == issubclass(kind, NUMBERS))
# types in C that only hold others: what they hold is all that there is to them
HOLDERS: Any = (
    types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType, functools.partial, types.MappingProxyType, property,
    staticmethod, classmethod, types.GenericAlias, super, type({}.keys()), type({}.values()), type({}.items()), tuple, frozenset,
    functools._lru_cache_wrapper, operator.attrgetter, operator.itemgetter, operator.methodcaller, BaseException,
    type(functools.cmp_to_key(int)), types.UnionType, slice,
)  # fmt: skip
_SCANNER: type = type(re.compile("").scanner(""))  # type: ignore[attr-defined]  # what finditer goes by
_IMMUTABLE_IN_C = "datetime decimal re _struct zoneinfo _ast _sre fractions uuid badak torch numpy ml_dtypes numba".split()
NOTHING_ELSE = frozenset({
    list, dict, set, deque, OrderedDict, *HOLDERS, weakref.ref, ContextVar, types.CellType, np.ndarray, np.void, bytearray,
    array.array, types.FrameType,
})  # fmt: skip
PLAIN_IN_C = (object, Generic, dict, list, set, frozenset, tuple, deque, int, float, complex, str, bytes, bytearray, BaseException)
_SHAPES = "shape size dtype ndim numel dim stride storage_offset element_size itemsize nbytes data_ptr is_contiguous T mT __len__"
# attributes of a tensor that no operation tells of: what of its state they come from
TOLD = {"requires_grad": "_requires_grad", "is_leaf": "_requires_grad", **dict.fromkeys(_SHAPES.split(), "_array")}
MODULE_PARTS = "_parameters", "_buffers", "_modules"
# tables of a module that are looked into: of what others hold it tells, and nobody is known to write them past it
MODULE_TABLES = frozenset((*MODULE_PARTS, "_forward_hooks", "_forward_pre_hooks", "_non_persistent_buffers_set"))
SAYS = (
    types.FunctionType,
    type,
    BaseException,
    types.TracebackType,
)  # whose attributes that stand in no dict can be set
MADE_ANEW = frozenset({"__dict__", "__weakref__", "__annotations__"})
KEPT_AS = {"__annotations__": "__annotations_cache__"}  # where classes have, from Python 3.14 on, what was read of them
OF_FUNCTIONS = frozenset({"__name__", "__qualname__", "__doc__", "__module__"})
OF_CLASSES = frozenset({"__name__", "__qualname__", "__doc__", "__bases__", "__abstractmethods__"})


def _reads_unseen(kind: type) -> bool:
    found = [home(each) for each in kind.__mro__ if written_in_python(each)]
    tells = any(vars(sys.modules.get(module, object)).get("events") is events for module in found)
    return not tells and not all(map(is_program, found))


# whether functions that nobody watches read what objects of a class hold: those of badak that do not tell of it, and NumPy's
is_read_unseen = ByKind(_reads_unseen)


def leads_nowhere(f: types.FunctionType) -> bool:
    return not is_program(f.__module__ or "") and f.__closure__ is None and not f.__dict__


def functions_of(value: Any) -> list:
    """The functions in an entry of a class."""
    if is_a(value, staticmethod | classmethod):
        value = value.__func__
    if is_a(value, property):
        return [f for f in (value.fget, value.fset, value.fdel) if is_a(f, types.FunctionType)]
    value = getattr(value, "func", value) if type(value).__name__ == "cached_property" else value
    return [value] if is_a(value, types.FunctionType) else []


def _asked_late(kind: type) -> list[tuple[dict, str]]:
    found: list[tuple[dict, str]] = []
    for f in [f for value in vars(kind).values() for f in functions_of(value)] if not is_program(home(kind)) else ():
        for chain in facts(f.__code__).chains:
            module = f.__globals__.get(chain.root) if chain.kind == "global" and chain.names else None
            if is_a(module, types.ModuleType):
                found += (f.__globals__, chain.root), (vars(module), chain.names[0])
    return found


# (namespace, name) of what layers of badak ask of modules, as of `functional.relu`: a program may put something else there
asked_late = ByKind(_asked_late)


def is_immutable(kind: type) -> bool:
    return str(kind.__module__).split(".")[0] in _IMMUTABLE_IN_C and kind is not _SCANNER


def names_in(thing: Any) -> list[str]:
    """All attributes of an object; of one of badak's around a function, as a compiled one is, that function alone."""
    own = dict_of(thing)
    if "__wrapped__" in own and is_read_unseen[type(thing)]:
        return ["__wrapped__"]
    return [*map(str, own), *slots_of(type(thing))]


def slots_of(kind: type) -> list[str]:
    return [name for each in kind.__mro__ for name, value in vars(each).items() if is_a(value, types.MemberDescriptorType)]


def parts_of(thing: Any, where: str, place: Place | None) -> list:
    """(where, part) of all that a container holds; what its class may make of that runs no code here."""
    if is_a(thing, dict):
        items = list(dict.items(thing))
        found = [(f"{where}[{key!r}]" if type(key) in (int, str) else where, part) for key, part in items]
        return found + [(where, key) for key, _ in items if not is_number[type(key)]]
    for kind in (list, tuple, deque, set, frozenset):
        if is_a(thing, kind):
            return [(f"{where}[{i}]", part) for i, part in enumerate(kind.__iter__(thing))]
    if is_a(thing, np.void):
        return [(where, part) for part in thing.item()] if thing.dtype.hasobject else []
    if is_a(thing, np.dtype):
        return [(f"{where}.metadata", thing.metadata)]
    if is_a(thing, types.MethodType):
        return [(where, thing.__self__), (where, thing.__func__)]
    if is_a(thing, types.BuiltinFunctionType | types.MethodWrapperType):
        return [(where, thing.__self__)] if not is_a(thing.__self__, types.ModuleType) else []
    if is_a(thing, types.CellType | ContextVar):
        return [(where, part) for part in (place.now() if place else ())]
    if is_a(thing, np.ndarray):
        return [(where, part) for part in thing.ravel().tolist()] if thing.dtype.hasobject else []
    if is_a(thing, types.GeneratorType):
        return []
    if is_a(thing, HOLDERS) or is_consumed(type(thing)):
        parts = within(thing) if is_consumed(type(thing)) else gc.get_referents(thing)
        return [(where, part) for part in parts if part is not type(thing)]
    return []


def is_module(thing: Any) -> bool:
    """Whether it is a module that was begun: others may have a `_modules`, too."""
    return hasattr(type(thing), "_bookkeeping") and dict_of(thing).keys() >= {*MODULE_PARTS}
