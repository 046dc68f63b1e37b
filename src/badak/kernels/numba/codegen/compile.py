"""How functions are compiled, with which flags, and kept on disk."""

# mypy: disable-error-code="attr-defined,call-arg"

import hashlib
import pickle
import sys
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types
from numba.core import caching, compiler, serialize
from numba.extending import overload

from badak.core.signals import uninterrupted
from badak.kernels.numba.codegen import cpu as cpu  # before anything is compiled: it may limit what for
from badak.kernels.numba.codegen.bfloat16 import number_of
from badak.kernels.numba.codegen.cache import Shelf, choose_folder, sources_of
from badak.kernels.numba.codegen.parts import parts_without_code

__all__ = ["FLAGS", "FOLDER", "JIT", "OPTIONS", "WITHIN", "compile_function", "exact", "kept", "kernel", "overload", "type_of"]

_KINDS = {"i": types.int64, "b": types.int8, "?": types.boolean, "h": types.uint16, "f": None}  # None: a number of the kernel

JIT = not numba.config.DISABLE_JIT
_VERSION = f"{numba.__version__} {llvm.llvm_version_info} {sys.version_info[:2]}"
FOLDER = choose_folder(_VERSION) if JIT else None  # of the disk cache; None: compiled anew every time

# Neither nnan nor ninf: masks are -inf, and a NaN must come out as a NaN.
FLAGS = {"nsz", "arcp", "contract", "afn", "reassoc"}
OPTIONS = {"nogil": True, "error_model": "numpy"}
# Of functions that compiled code alone calls: Python and C have no way to them.
WITHIN = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function):
    """Compile a function that kernels call, and Python must not: it has no entry for it."""
    return numba.njit(fastmath=FLAGS, **WITHIN)(function)


def exact(function):
    """Compile a function that kernels call, every operation rounded on its own, into the place where it is called."""
    return numba.njit(fastmath=False, forceinline=True, **WITHIN)(function)


class _Kept(caching.NullCache):
    """What Numba asks for a compiled function before it compiles, and gives it to afterwards: a file for each signature.

    Numba's own cache believes its files: a damaged one ends every program that meets it, and so does a full disk.
    """

    shelf = FOLDER and Shelf(FOLDER)

    def __init__(self, function):
        self.function = function

    def _name(self, signature, codegen):
        code = self.function.__code__
        known = (_VERSION, sources_of(code.co_filename), code.co_firstlineno, code.co_code, str(signature), codegen.magic_tuple())
        return f"{code.co_name}-{hashlib.sha256(repr(known).encode()).hexdigest()[:24]}.kernel"

    def load_overload(self, signature, context):
        context.refresh()
        name = self._name(signature, context.codegen())
        data = self.shelf.get(name)
        try:
            return data and compiler.CompileResult._rebuild(context, *pickle.loads(data))
        except Exception as error:  # whatever a Numba with other insides makes of it
            self.shelf.refuse(name, f"{type(error).__name__}")
            return None

    def save_overload(self, signature, compiled):
        if not compiled.library.has_dynamic_globals:
            name = self._name(signature, compiled.codegen)
            self.shelf.put(name, serialize.dumps(compiled._reduce()))


def kept(compilable, function):
    """`compilable`, made of `function`, which from now on looks for what it compiles on disk first."""
    if FOLDER is not None and Path(function.__code__.co_filename).is_file():
        compilable._cache = _Kept(function)
    return compilable


def compile_function(function, words, **options):
    """Compile a function of numbers ("i", "f", ...) that returns nothing, or load it from disk. options: of Numba, besides ours."""
    compiled = kept(numba.njit(**OPTIONS | options)(function), function)
    with uninterrupted(), parts_without_code(function.__qualname__):  # Ctrl-C within leaves Numba's tables half filled
        compiled.compile(types.void(*(type_of(word, np.dtype(np.float64)) for word in words.split())))
    compiled.disable_compile()
    return compiled


def type_of(word, dtype):
    """The Numba type that a word of a signature stands for in a kernel of this dtype (see `threadpool/parallel.py`)."""
    number, stored = number_of(dtype)
    if word in _KINDS:
        return _KINDS[word] or number
    element = _KINDS.get(word[1:-1], stored) or number
    return types.Array(element, int(word[-1]), "A" if word[0] in "VX" else "C", readonly=word[0] in "RV")
