"""The only folder that names Numba and LLVM: what the kernels are compiled with.

compile, parts, cache   how functions are compiled, and where they are kept on disk
drivers, linking    what runs a kernel; what compiled code calls by a name
floats, arrays      instructions that Numba lacks
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
    from numba import __version__ as _installed
    from numba.core import config as _config
_config._config_fname = ""  # type: ignore[attr-defined]
if _there:
    del _sys.modules["yaml"]

if tuple(map(int, _installed.split(".")[:2])) < (0, 63):  # before, libraries kept no list of what is to be loaded with them
    raise ImportError(f"Numba {_installed} is too old, 0.63 or newer is needed")
