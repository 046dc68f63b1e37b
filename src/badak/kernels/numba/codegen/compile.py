"""How functions are compiled, with which flags, and kept on disk."""

# mypy: disable-error-code="attr-defined,call-arg"

import hashlib
import logging
import sys
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types
from numba.extending import overload as overload

from badak.core.portable import PORTABLE
from badak.core.signals import uninterrupted
from badak.kernels.numba.codegen import cpu as cpu  # before anything is compiled: it may limit what for
from badak.kernels.numba.codegen.bfloat16 import number_of
from badak.kernels.numba.codegen.cache import choose_folder, shelf_of, sources_of
from badak.kernels.numba.codegen.internals import Cache, with_cache
from badak.kernels.numba.codegen.parts import parts_without_code

_KINDS = {"i": types.int64, "b": types.int8, "?": types.boolean, "h": types.uint16, "f": None}  # None: a number of the kernel

if logging.getLogger("numba").level == logging.NOTSET:  # a program that logs at DEBUG would get every bytecode of every kernel
    logging.getLogger("numba").setLevel(logging.WARNING)

JIT = not numba.config.DISABLE_JIT
_VERSION = f"{numba.__version__} {llvm.llvm_version_info} {sys.version_info[:2]}"
FOLDER = choose_folder(_VERSION) if JIT else None  # of the disk cache; None: compiled again every time
_SHELF = FOLDER and shelf_of(FOLDER, _VERSION)

# Neither nnan nor ninf: masks are -inf, and a NaN must come out as a NaN.
FLAGS = set() if PORTABLE else {"nsz", "arcp", "contract", "afn", "reassoc"}
OPTIONS = {"nogil": True, "error_model": "numpy"}
# Of functions that compiled code alone calls: Python and C have no way to them.
WITHIN = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function):
    """Compile a function that kernels call, and Python must not: it has no entry for it."""
    return numba.njit(fastmath=FLAGS, **WITHIN)(function)


def inlined(function):
    """As `kernel`, into the place where it is called."""
    return numba.njit(fastmath=FLAGS, forceinline=True, **WITHIN)(function)


def exact(function):
    """Compile a function that kernels call, every operation rounded on its own, into the place where it is called."""
    return numba.njit(fastmath=False, forceinline=True, **WITHIN)(function)


def _name_of(function, signature, target):
    """The file that keeps a function, compiled for arguments of these types."""
    code = function.__code__
    known = (_VERSION, sources_of(code.co_filename), code.co_firstlineno, code.co_code, str(signature), target, PORTABLE)
    return f"{code.co_name}-{hashlib.sha256(repr(known).encode()).hexdigest()[:24]}.kernel"


def kept(compilable, function):
    """`compilable`, made of `function`, which from now on looks for what it compiles on disk first."""
    if FOLDER is not None and Path(function.__code__.co_filename).is_file():
        return with_cache(compilable, Cache(_SHELF, partial(_name_of, function)))
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
