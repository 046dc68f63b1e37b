"""The only folder that names Numba and LLVM: what the kernels are compiled with.

compile, parts, cache   how functions are compiled, and where they are kept on disk
drivers, linking    what runs a kernel; what compiled code calls by a name
floats, arrays      instructions that Numba lacks
atomics, registers  of threads, and of vector registers
"""

from numba import __version__ as _installed

if tuple(map(int, _installed.split(".")[:2])) < (0, 63):  # before, libraries kept no list of what is to be loaded with them
    raise ImportError(f"Numba {_installed} is too old, 0.63 or newer is needed")
