"""The file that names Numba: how functions are compiled and kept, and the instructions that Numba lacks.

Kernels are written with `parallel` of `_parallel.py`; functions that they call, with `kernel`.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import ctypes
import hashlib
import pickle
import platform
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import caching, ccallback, cgutils, compiler, event, serialize
from numba.core.sigutils import normalize_signature
from numba.extending import intrinsic, overload

from badak.interrupt import uninterrupted
from badak.kernels.fast._cache import Shelf, choose_folder, source_stamp
from badak.kernels.update import fma, largest

__all__ = [
    "FOLDER",
    "JIT",
    "KEPT",
    "atomic_add",
    "atomic_load",
    "atomic_store",
    "call",
    "callbacks",
    "compile_callback",
    "compile_driver",
    "compile_function",
    "exact",
    "extern",
    "fma",
    "held",
    "is_float32",
    "kernel",
    "largest",
    "link",
    "minus",
    "overload",
    "pause",
    "pow2",
    "rint",
    "rounded",
    "swap_if",
    "unit_stride",
]

JIT = not numba.config.DISABLE_JIT
_VERSION = f"{numba.__version__} {llvm.llvm_version_info} {sys.version_info[:2]}"
FOLDER = choose_folder(_VERSION) if JIT else None  # of the disk cache; None: compiled anew every time

# Neither nnan nor ninf: masks are -inf, and a NaN must come out as a NaN.
_FLAGS = {"nsz", "arcp", "contract", "afn", "reassoc"}
_OPTIONS = {"nogil": True, "error_model": "numpy"}
_INT64 = ir.IntType(64)
_APART = 8  # int64s from counter to counter: each has a cache line of its own
KEPT = 64  # bytes at the head of a kept call: the worker's address, tasks, threads; then counters, then the record

# ---------------------------------------------------------------- compiling


def kernel(function):
    """Compile a function that kernels call."""
    return numba.njit(fastmath=_FLAGS, **_OPTIONS)(function)


def exact(function):
    """Compile a function that kernels call, every operation rounded on its own, into the place where it is called."""
    return numba.njit(fastmath=False, forceinline=True, **_OPTIONS)(function)


class _Kept(caching.NullCache):
    """What Numba asks for a compiled function before it compiles, and gives it to afterwards: a file for each signature.

    Numba's own cache believes its files: a damaged one ends every program that meets it, and so does a full disk.
    """

    shelf = FOLDER and Shelf(FOLDER)

    def __init__(self, function):
        self.function = function

    def _name(self, signature, codegen):
        code, where = self.function.__code__, _source_of(self.function.__code__.co_filename)
        known = (_VERSION, where, code.co_firstlineno, code.co_code, str(signature), codegen.magic_tuple())
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


def _kept(compilable, function):
    """`compilable`, made of `function`, which from now on looks for what it compiles on disk first."""
    if FOLDER is not None and Path(function.__code__.co_filename).is_file():
        compilable._cache = _Kept(function)
    return compilable


@cache
def _source_of(path):
    """What a kernel is made of: the fast set, and the file that it stands in."""
    return source_stamp(""), hashlib.sha256(Path(path).read_bytes()).hexdigest()


def compile_function(function, words):
    """Compile a function of numbers ("i", "f", ...) that returns nothing, or load it from disk."""
    compiled = _kept(numba.njit(**_OPTIONS)(function), function)
    with uninterrupted():  # Ctrl-C within leaves Numba's tables half filled
        compiled.compile(types.void(*(_type_of(word, types.float64) for word in words.split())))
    compiled.disable_compile()
    return compiled


callbacks: dict = {}  # name: (function, words, dtype) of C functions, compiled before the first kernel of their dtype is
_linked: dict = {}


def compile_callback(name, function, words, dtype=np.float64):
    """Compile a function that kernels reach under `name`, as C code would."""
    kinds = [_type_of(word, numba.from_dtype(np.dtype(dtype))) for word in words.split()]
    signature = normalize_signature(types.void(*kinds))
    compiled = _kept(ccallback.CFunc(function, signature, locals={}, options=_OPTIONS), function)
    with uninterrupted():
        compiled.compile()
    llvm.add_symbol(name, compiled.address)
    return compiled  # the caller keeps it alive


def _link_callbacks(dtype):
    for name, (function, words, wanted) in callbacks.items():
        if name not in _linked and dtype == wanted:
            _linked[name] = compile_callback(name, function, words, wanted)


def compile_driver(function, words, dtype, exact, on_compiling):
    """Compile driver(tasks, threads, team, keep, a0, a1, ...), which runs function(task, a0, a1, ...) for every task.

    Where `keep` is not 0 but an address, the driver runs nothing and leaves there what `CallList.play` needs to run it later.
    on_compiling() is called if the driver is not on disk and has to be compiled.
    """
    body = numba.njit(fastmath=False if exact else _FLAGS, **_OPTIONS)(function)
    names = ", ".join(f"a{i}" for i in range(len(words)))
    name = f"{function.__name__}_driver"
    source = f"def {name}(tasks, threads, team, keep, {names}): run_tasks(body, ({names},), tasks, threads, team, keep)"
    scope = {"run_tasks": _run_tasks, "body": body, "__name__": function.__module__}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)
    driver = _kept(numba.njit(**_OPTIONS)(scope[name]), function)
    kinds = [_type_of(word, numba.from_dtype(dtype)) for word in words]
    with uninterrupted(), event.install_listener("numba:compile", _Compiling(on_compiling)):
        _link_callbacks(dtype)
        driver.compile(types.void(types.int64, types.int64, types.int64, types.int64, *kinds))
    driver.disable_compile()  # another type of argument is our mistake, not a reason to compile again
    return driver


def _type_of(word, dtype):
    """The Numba type that a word of a signature stands for (see `_parallel.py`)."""
    element = types.boolean if "?" in word else types.int64 if "i" in word else dtype
    if word in ("f", "i", "?"):
        return element
    return types.Array(element, int(word[-1]), "A" if word[0] in "VX" else "C", readonly=word[0] in "RV")


class _Compiling(event.Listener):
    def __init__(self, tell):
        self.tell = tell

    def on_start(self, happening):
        self.tell()

    def on_end(self, happening):
        pass


@intrinsic
def _run_tasks(typingctx, body, arguments, tasks, threads, team, keep):
    """Call body(task, *arguments) for task in range(tasks), on `threads` threads of the team at the address `team`.

    The arguments and one task counter for each thread go into a record on the stack. A function worker(record, thread) does
    the tasks of that thread's part, then what is left of the others'; one thread calls it directly, more through
    `badak_share`. Where `keep` is an address, the record goes there instead, after the address of the worker.
    """
    argument_types = (types.int64, *arguments.types)
    body.dispatcher.compile(argument_types)
    compiled = body.dispatcher.overloads[argument_types]

    def codegen(context, builder, signature, values):
        context.active_code_library.add_linking_library(compiled.library)
        _, packed, tasks, threads, team, keep = values
        packed = _borrowed(builder, packed, arguments.types)
        record_type = ir.LiteralStructType([_INT64, _INT64, _INT64.as_pointer(), packed.type])
        worker = _build_worker(context, builder.module, compiled, argument_types, record_type)
        start = builder.ptrtoint(worker, _INT64)
        with builder.if_else(builder.icmp_signed("==", keep, _INT64(0))) as (now, later):
            with now:
                counters = builder.alloca(_INT64, size=builder.mul(threads, _INT64(_APART)))
                record = cgutils.alloca_once(builder, record_type)
                for i, value in enumerate((tasks, threads, counters, packed)):
                    builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
                with cgutils.for_range(builder, threads) as loop:
                    first = builder.sdiv(builder.mul(loop.index, tasks), threads)
                    builder.store(first, builder.gep(counters, [builder.mul(loop.index, _INT64(_APART))]))
                address = builder.ptrtoint(record, _INT64)
                with builder.if_else(builder.icmp_signed("<", threads, _INT64(2))) as (alone, together):
                    with alone:
                        builder.call(worker, [address, _INT64(0)])
                    with together:
                        kind = ir.FunctionType(ir.VoidType(), [_INT64] * 4)
                        share = cgutils.get_or_insert_function(builder.module, kind, "badak_share")
                        builder.call(share, [start, address, threads, team])
            with later:
                for i, value in enumerate((start, tasks, threads)):
                    builder.store(value, _pointer(builder, builder.add(keep, _INT64(8 * i))))
                counters = builder.add(keep, _INT64(KEPT))
                after = builder.add(counters, builder.mul(threads, _INT64(8 * _APART)))
                record = builder.inttoptr(after, record_type.as_pointer())
                for i, value in enumerate((tasks, threads, _pointer(builder, counters), packed)):
                    builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
        return context.get_dummy_value()

    return types.void(body, arguments, tasks, threads, team, keep), codegen


def _borrowed(builder, packed, kinds):
    """The packed arguments without the owners of their arrays, which the caller holds.

    Counting references, which threads would do on one and the same number, then does nothing; and a record may be kept.
    """
    for i, kind in enumerate(kinds):
        if isinstance(kind, types.Array):
            for owner in (0, 1):  # of Numba's array: meminfo and parent
                nobody = packed.type.elements[i].elements[owner](None)
                packed = builder.insert_value(packed, nobody, [i, owner])
    return packed


def _build_worker(context, module, compiled, argument_types, record_type):
    """The LLVM function worker(record, thread): every task of part `thread`, then of the next part that has some left.

    Neighbouring tasks stay on one thread, kernel after kernel: what it wrote is in its own cache when it reads it.
    """
    worker = ir.Function(module, ir.FunctionType(ir.VoidType(), [_INT64, _INT64]), module.get_unique_name("worker"))
    worker.linkage = "internal"
    worker.attributes.add("noinline")  # one machine code for one thread and for many
    builder = ir.IRBuilder(worker.append_basic_block("entry"))
    record = builder.inttoptr(worker.args[0], record_type.as_pointer())
    tasks, threads, counters, packed = (
        builder.load(cgutils.gep_inbounds(builder, record, 0, i)) for i in range(len(record_type.elements))
    )
    values = cgutils.unpack_tuple(builder, packed, len(argument_types) - 1)
    with cgutils.for_range(builder, threads) as parts:
        part = builder.srem(builder.add(worker.args[1], parts.index), threads)
        counter = builder.gep(counters, [builder.mul(part, _INT64(_APART))])
        end = builder.sdiv(builder.mul(builder.add(part, _INT64(1)), tasks), threads)
        take, run, done = (worker.append_basic_block(name) for name in ("take", "run", "done"))
        builder.branch(take)
        builder.position_at_end(take)
        task = builder.atomic_rmw("add", counter, _INT64(1), "monotonic")
        builder.cbranch(builder.icmp_signed("<", task, end), run, done)
        builder.position_at_end(run)
        context.call_internal_no_propagate(builder, compiled.fndesc, compiled.signature, [task, *values])
        builder.branch(take)
        builder.position_at_end(done)
    builder.ret_void()
    return worker


def link(name, address):
    """Let compiled code find the C function at `address` under `name`; a name, so that the code can be kept on disk."""
    llvm.add_symbol(name, ctypes.cast(address, ctypes.c_void_p).value)


def extern(name, words):
    """The linked function `name` as compiled code calls it; i int32, l int64, f float32, d float64, p pointer."""
    kinds = {"i": types.int32, "l": types.int64, "f": types.float32, "d": types.float64, "p": types.voidptr}
    return types.ExternalFunction(name, types.void(*(kinds[word] for word in words)))


def is_float32(kind):
    """Whether an argument of an `overload` (a Numba type there) is float32."""
    return kind == types.float32


# ---------------------------------------------------------------- instructions of floats
# Each is a Python function (its meaning, and what runs without JIT) with a compiled body of one or two instructions.
# They are compiled without fast-math flags (`rounded`; left to itself, Numba hands the caller's flags on), so that range
# reductions built of them are not re-associated away.


def rounded(meaning):
    """As `overload`: every operation of the compiled body is rounded on its own."""
    return overload(meaning, jit_options={"fastmath": False})


def minus(a, b):
    """a - b, rounded on its own: of x - top - rest the compiler would make x - (top + rest), and lose the digits of rest."""
    return a - b


def rint(x):
    """The nearest whole number, as a float."""
    return np.rint(x)


def pow2(n):
    """2^n for a whole-valued float32 n in [-126, 127]; 0 for n = -127."""
    return np.float32(0) if n == -127 else np.float32(2.0) ** n


def unit_stride(row):
    """The same 1-D array, typed as contiguous so that loops over it vectorise. Its stride must be one element."""
    return row


def _llvm_call(builder, name, values):
    width = "f32" if values[0].type == ir.FloatType() else "f64"
    kind = ir.FunctionType(values[0].type, [value.type for value in values])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.{width}"), values)


@intrinsic
def _fma(typingctx, a, b, c):
    return a(a, b, c), lambda context, builder, signature, values: _llvm_call(builder, "fma", values)


@intrinsic
def _rint(typingctx, x):
    return x(x), lambda context, builder, signature, values: _llvm_call(builder, "rint", values)


@intrinsic
def _largest(typingctx, a, b):
    return a(a, b), lambda context, builder, signature, values: _llvm_call(builder, "maximum", values)


@intrinsic
def _pow2(typingctx, n):
    def codegen(context, builder, signature, values):
        bits = ir.IntType(32)
        biased = builder.add(builder.fptosi(values[0], bits), bits(127))
        return builder.bitcast(builder.shl(biased, bits(23)), ir.FloatType())

    return n(n), codegen


@intrinsic
def _unit_stride(typingctx, row):
    def codegen(context, builder, signature, values):
        context.nrt.incref(builder, row, values[0])
        return values[0]

    return row.copy(layout="C")(row), codegen


rounded(fma)(lambda a, b, c: lambda a, b, c: _fma(a, b, c))
rounded(minus)(lambda a, b: lambda a, b: a - b)
rounded(rint)(lambda x: lambda x: _rint(x))
rounded(largest)(lambda a, b: lambda a, b: _largest(a, b))
rounded(pow2)(lambda n: lambda n: _pow2(n))
overload(unit_stride)(lambda row: lambda row: _unit_stride(row))


# ---------------------------------------------------------------- arrays by their number


_HEAD = object.__basicsize__  # bytes of an object before what is its own


def held(number, size, like):
    """The array whose `id` is `number`, as one axis: contiguous, `size` elements of the dtype of `like`. Others keep it alive.

    What an array has of its own starts with the address of its values (PyArrayObject of NumPy's C interface, which every
    extension module relies on), and an `id` is the address of the object. Asking NumPy for the address takes 0.9 us.
    """
    return ctypes.cast(int(number), ctypes.py_object).value.reshape(-1)


@intrinsic
def _values(typingctx, number, like):
    def codegen(context, builder, signature, values):
        field = _pointer(builder, builder.add(values[0], _INT64(_HEAD)))
        return builder.inttoptr(builder.load(field), context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(number, like), codegen


overload(held)(lambda number, size, like: lambda number, size, like: numba.carray(_values(number, like), (size,)))


# ---------------------------------------------------------------- instructions of threads, on int64 at an address


def _pointer(builder, address):
    return builder.inttoptr(address, _INT64.as_pointer())


@intrinsic
def atomic_load(typingctx, address):
    """The number at the address."""

    def codegen(context, builder, signature, values):
        return builder.load_atomic(_pointer(builder, values[0]), "seq_cst", 8)

    return types.int64(types.int64), codegen


@intrinsic
def atomic_store(typingctx, address, value):
    """Write the number at the address."""

    def codegen(context, builder, signature, values):
        builder.store_atomic(values[1], _pointer(builder, values[0]), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def atomic_add(typingctx, address, value):
    """Add to the number at the address."""

    def codegen(context, builder, signature, values):
        builder.atomic_rmw("add", _pointer(builder, values[0]), values[1], "seq_cst")
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def swap_if(typingctx, address, expected, value):
    """Write the number at the address if it is the expected one; whether it was."""

    def codegen(context, builder, signature, values):
        pair = builder.cmpxchg(_pointer(builder, values[0]), values[1], values[2], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


@intrinsic
def call(typingctx, function, record, thread):
    """Call the C function void f(int64, int64) at an address."""

    def codegen(context, builder, signature, values):
        kind = ir.FunctionType(ir.VoidType(), [_INT64, _INT64])
        builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@intrinsic
def pause(typingctx):
    """Tell the core that this is a waiting loop."""

    def codegen(context, builder, signature, values):
        if platform.machine().lower() in ("x86_64", "amd64"):
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen
