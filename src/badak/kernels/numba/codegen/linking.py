"""Functions that compiled code calls by a name, as C code would: those of C libraries, and our own.

A name and not an address, so that what calls them can be kept on disk.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import ctypes
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
from numba import types

from badak.core.signals import uninterrupted
from badak.kernels.half import value_dtype
from badak.kernels.numba.codegen.cache import parts_of
from badak.kernels.numba.codegen.compile import OPTIONS, kept, type_of
from badak.kernels.numba.codegen.internals import c_function
from badak.kernels.numba.codegen.parts import parts_without_code

callbacks: dict = {}  # name: (function, words, dtype) of C functions, compiled before the first kernel of their dtype is
_linked: dict = {}


def compile_callback(name, function, words, dtype=np.float64):
    """Compile a function that kernels reach under `name`, as C code would."""
    kinds = [type_of(word, np.dtype(dtype)) for word in words.split()]
    compiled = kept(c_function(function, types.void(*kinds), OPTIONS), function)
    with uninterrupted(), parts_without_code(function.__qualname__):
        compiled.compile()
    llvm.add_symbol(name, compiled.address)
    return compiled  # the caller keeps it alive


def link_callbacks(dtype, path):
    """Compile the functions of `callbacks` that kernels of this dtype in the file `path` can call."""
    for name, (function, words, wanted) in callbacks.items():
        fits = wanted in (dtype, value_dtype(dtype)) and Path(function.__code__.co_filename) in parts_of(path)
        if fits and name not in _linked:
            _linked[name] = compile_callback(name, function, words, wanted)


def link(name, address):
    """Let compiled code find the C function at `address` under `name`."""
    llvm.add_symbol(name, ctypes.cast(address, ctypes.c_void_p).value)


def extern(name, words):
    """The linked function `name` as compiled code calls it; i int32, l int64, f float32, d float64, p pointer."""
    kinds = {"i": types.int32, "l": types.int64, "f": types.float32, "d": types.float64, "p": types.voidptr}
    return types.ExternalFunction(name, types.void(*(kinds[word] for word in words)))
