"""The one file that names Numba's private parts: what is below `numba.core`, and attributes that begin with an underscore.

They may be others in any release. So the requirement in pyproject.toml has an upper bound, and
tests/kernels/test_numba_versions.py runs kernels with the oldest Numba and the newest that it allows.
"""

# mypy: disable-error-code="attr-defined,call-arg"
# ruff: noqa: E402  (the version is looked at first)

import hashlib
import pickle
import sys
from contextlib import contextmanager
from importlib import import_module

import numba

numba.config._config_fname = ""  # no file of the current folder decides what is compiled (see `__init__.py`)
if tuple(map(int, numba.__version__.split(".")[:2])) < (0, 63):  # before, libraries kept no list of what is to be loaded with them
    raise ImportError(f"Numba {numba.__version__} is too old, 0.63 or newer is needed")

from numba.core import caching, ccallback, codegen, compiler, serialize
from numba.core import cgutils as cgutils
from numba.core import event as event
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel import PrimitiveModel as PrimitiveModel
from numba.core.datamodel import register_default as register_default
from numba.core.imputils import lower_cast as lower_cast
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature
from numba.core.typeconv import Conversion as Conversion
from numba.core.typing.arraydecl import ArrayAttribute as ArrayAttribute
from numba.core.typing.arraydecl import get_array_index_type as get_array_index_type
from numba.core.typing.templates import AbstractTemplate as AbstractTemplate
from numba.core.typing.templates import infer_getattr as infer_getattr
from numba.core.typing.templates import infer_global as infer_global
from numba.core.typing.templates import signature as signature
from numba.np import linalg


def _without_scipy():
    """Load what Numba knows of NumPy's functions without SciPy's linear algebra, a sixth of a second that no kernel needs.

    Numba only notes here whether SciPy is there; when a program compiles a product, it loads it.
    """
    if "scipy" in sys.modules:  # Numba imports its outermost part, where it is
        load, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = load


_without_scipy()


def target():
    """The CPU that is compiled for: (architecture, its name, all its features)."""
    return cpu_target.target_context.codegen().magic_tuple()


def c_function(function, signature, options):
    """A function that C code calls, to be compiled."""
    return ccallback.CFunc(function, normalize_signature(signature), locals={}, options=options)


# ------------------------------------------------------------------ on disk


class Cache(caching.NullCache):
    """What Numba asks for a compiled function before it compiles, and gives it to afterwards: a file for each signature.

    name_of(signature, target) names the file, shelf keeps it. Of processes that want the same at once, such as the ranks of a
    machine, one compiles it and the others wait for the file. Numba's own cache believes its files: a damaged one ends every
    program that meets it, and so does a full disk.
    """

    def __init__(self, shelf, name_of):
        self.shelf, self.name_of = shelf, name_of

    def load_overload(self, signature, context):
        rtsys.initialize(context)  # what a kernel calls; what Numba knows of Python, 0.2 s, it loads by itself where it compiles
        name = self.name_of(signature, context.codegen().magic_tuple())
        data = self.shelf.get_or_make(name)
        try:
            return data and compiler.CompileResult._rebuild(context, *pickle.loads(data))
        except Exception as error:  # whatever a Numba with other insides makes of it
            self.shelf.refuse(name, f"{type(error).__name__}")
            return None

    def save_overload(self, signature, compiled):
        name = self.name_of(signature, compiled.codegen.magic_tuple())
        if not compiled.library.has_dynamic_globals:
            self.shelf.put(name, serialize.dumps(compiled._reduce()))
        self.shelf.made(name)


def with_cache(compilable, cache):
    """`compilable`, which looks there for what it compiles."""
    compilable._cache = cache
    return compilable


# ------------------------------------------------------------------ parts of a kernel


class _Whole(codegen.JITCodeLibrary):
    """A function whose loops use whole registers. Not an option of the process: Numba may compile for others in it, too."""

    attribute = ""  # of each of its functions, for LLVM

    def add_ir_module(self, ir_module):
        for function in ir_module.functions:
            if self.attribute and not function.is_declaration:
                set.add(function.attributes, self.attribute)  # FunctionAttributes.add knows words alone
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
def parts_without_code(name, body, attribute):
    """Of all that is compiled in this block, make machine code of the function `name` alone, and optimise it and `body`.

    Optimised only in the driver, where its loop over tasks is around it, attention of short sequences lost a twentieth.
    """
    _Whole.attribute, makes = attribute, cpu_target.target_context.codegen()
    kinds = {body: _Body, name: _Whole}
    with global_compiler_lock:  # nobody else compiles meanwhile
        makes.create_library = lambda part: kinds.get(part, _Part)(makes, part)
        try:
            yield
        finally:
            del makes.create_library


class Copy:
    """A compiled function as a library for linking, in which it and all that it calls have names of its driver alone.

    Without them, a process that has compiled a kernel would run the functions as they were compiled by themselves, and one
    that has loaded it from disk those in the driver, which are optimised once more: sums in another order, other bits.
    """

    def __init__(self, compiled):
        self.compiled, self.library = compiled, compiled.library
        self._reload_init = self.library._reload_init

    @staticmethod
    def named(name, compiled):
        """The name in the driver of a function that `compiled` calls, or of itself."""
        return f"{name}.{hashlib.sha256(compiled.fndesc.mangled_name.encode()).hexdigest()[:16]}"

    def _ensure_finalized(self):
        self.library._ensure_finalized()

    def _get_module_for_linking(self):
        module = self.library._get_module_for_linking().clone()
        for function in module.functions:
            if not function.is_declaration:
                function.name = self.named(function.name, self.compiled)
        return module
