"""Parts of a kernel: the functions that it calls. They are linked into it, and no machine code is made of them alone.

Numba makes a library of each function that it compiles, optimised and ready to be called from Python. Of a kernel's parts, up to
thirty, nobody but the kernel calls one: that they were optimised alone, and again in each function that calls them, and their
machine code and wrappers for Python and C, took a third of the time to compile a kernel.
"""

from badak.kernels.numba.codegen import internals
from badak.kernels.numba.codegen.cpu import FEATURES

# LLVM's loops use half of a register on Intel's servers, for the sake of CPUs that became slower by whole ones.
_WIDTH = '"prefer-vector-width"="512"' if FEATURES.get("avx512f") else ""


def parts_without_code(name, body=""):
    """Of all that is compiled in this block, make machine code of the function `name` alone, and optimise it and `body`.

    Optimised only in the driver, where its loop over tasks is around it, attention of short sequences lost a twentieth.
    """
    return internals.parts_without_code(name, body, _WIDTH)
