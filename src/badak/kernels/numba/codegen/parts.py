"""Parts of a kernel: the functions that it calls. They are linked into it, and no machine code is made of them alone.

Numba makes a library of each function that it compiles, optimised and ready to be called from Python. Of a kernel's parts, up to
thirty, nobody but the kernel calls one: that they were optimised alone, and again in each function that calls them, and their
machine code and wrappers for Python and C, took a third of the time to compile a kernel.
"""

from contextlib import contextmanager

from numba.core import codegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from badak.kernels.numba.codegen.cpu import FEATURES

__all__ = ["parts_without_code"]

# LLVM's loops use half of a register on Intel's servers, for the sake of processors that became slower by whole ones.
_WIDTH = '"prefer-vector-width"="512"' if FEATURES.get("avx512f") else ""


class _Whole(codegen.JITCodeLibrary):
    """A function whose loops use whole registers. Not an option of the process: Numba may compile for others in it, too."""

    def add_ir_module(self, ir_module):
        for function in ir_module.functions:
            if _WIDTH and not function.is_declaration:
                set.add(function.attributes, _WIDTH)  # FunctionAttributes.add knows words alone
        super().add_ir_module(ir_module)


class _Part(_Whole):
    """A function as LLVM's intermediate code, to be linked into others and optimised there."""

    codegen = property(lambda self: _NoEnvironment(self._codegen))

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return 0


class _Body(_Part):
    """The function of one task, with all that it calls."""

    _optimize_final_module = _Whole._optimize_final_module


class _NoEnvironment:
    """What makes machine code; where none was made, there is no place for the constants of Python that it might name."""

    def __init__(self, makes):
        self._makes = makes

    def __getattr__(self, name):
        return getattr(self._makes, name)

    def set_env(self, name, environment):
        pass


@contextmanager
def parts_without_code(name, body=""):
    """Of all that is compiled in this block, make machine code of the function `name` alone, and optimise it and `body`.

    Optimised only in the driver, where its loop over tasks is around it, attention of short sequences lost a twentieth.
    """
    makes = cpu_target.target_context.codegen()
    kinds = {body: _Body, name: _Whole}
    with global_compiler_lock:  # nobody else compiles meanwhile
        makes.create_library = lambda part: kinds.get(part, _Part)(makes, part)
        try:
            yield
        finally:
            del makes.create_library
