"""The only folder that names Numba and LLVM: what the kernels are compiled with.

compile, parts, cache   how functions are compiled, and where they are kept on disk
instructions        how an instruction of LLVM becomes a function that kernels call
drivers, linking    what runs a kernel; what compiled code calls by a name
floats, arrays      instructions that Numba lacks
internals           the one file that names private parts of Numba
atomics, registers  of threads, and of vector registers
"""

import os as _os
import sys as _sys
import warnings as _warnings

# ruff: noqa: E402  (Numba reads a file .numba_config.yaml of the current folder, which would decide what is compiled, or break it)
_there = "yaml" not in _sys.modules and _os.path.exists(".numba_config.yaml")
with _warnings.catch_warnings():
    if _there:
        _sys.modules["yaml"] = None  # type: ignore[assignment]
        _warnings.filterwarnings("ignore", message="A Numba config file is found")
    from badak.kernels.numba.codegen import internals as internals
if _there:
    del _sys.modules["yaml"]
