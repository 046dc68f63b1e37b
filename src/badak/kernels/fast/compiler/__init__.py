"""The only folder that names Numba and LLVM: what the kernels are compiled with.

compile, parts, cache   how functions are compiled, and where they are kept on disk
drivers, linking    what runs a kernel; what compiled code calls by a name
floats, arrays      instructions that Numba lacks
atomics, registers  of threads, and of vector registers
"""
