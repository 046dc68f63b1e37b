"""The one file that names Numba: how a kernel is compiled, cached on disk and spread over threads.

A kernel is a function of one task: `@parallel("W2 R2 f") def scale(task, y, x, a)` handles block number `task` and writes
only that block. Calling `scale(tasks, work, y, x, a)` runs task 0 .. tasks - 1 on as many threads as the work deserves.
The blocks are cut by the shape alone and every thread runs the same machine code, so the bits of the result do not depend
on the number of threads; the threads draw task numbers from one counter, so uneven tasks and busy cores balance.

The string is the signature, one word per argument after `task`. It makes each kernel compile once per dtype:

    R2  read, C-contiguous, 2 axes      W2  written       V4  read, any strides, 4 axes       X4  written, any strides
    f   number of the kernel's dtype    i   int64         ?   bool           Ri1, R?2, ...    arrays of int64, of bool

Why not prange: one Numba parallel loop costs 1 to 2.5 s to compile against 0.2 s, and 4 us a call on one thread against 0.7.
"""
import atexit
import os
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np

if "BADAK_NUM_THREADS" in os.environ and "numba" not in sys.modules:
    os.environ["NUMBA_NUM_THREADS"] = os.environ["BADAK_NUM_THREADS"]

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils, event
from numba.extending import intrinsic, overload
from numba.np.ufunc import parallel as _numba_threads

__all__ = ["JIT", "cache_folder", "extern", "fma", "get_num_threads", "is_float32", "kernel", "largest", "overload", "parallel",
           "parallel_exact", "pow2", "rint", "set_num_threads", "threading_layer", "unit_stride", "warmup"]

JIT = not numba.config.DISABLE_JIT

# Neither nnan nor ninf: masks are -inf, and a NaN must come out as a NaN.
_FLAGS = {"nsz", "arcp", "contract", "afn", "reassoc"}
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": _FLAGS}

# Work (roughly nanoseconds of one core) below which a second thread costs more than it saves: waking one takes 2 to 10 us.
_GRAIN = 20_000


# ---------------------------------------------------------------- threads

def _choose_layer():
    """The threading layer, chosen rather than inherited: workqueue aborts when two Python threads call it at once."""
    asked = os.environ.get("NUMBA_THREADING_LAYER")
    if asked:
        return asked
    # GNU OpenMP's threads spin for milliseconds when they wait; with a busy core that takes the time from the thread they
    # wait for (a small GPT's step on two busy cores: 1400 ms, with this 250 ms). Read when its library is loaded, below.
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    for layer, module in (("omp", "omppool"), ("tbb", "tbbpool")):
        try:
            __import__(f"numba.np.ufunc.{module}")
            return layer
        except ImportError:
            continue
    return "workqueue"


def _default_threads():
    wanted = os.environ.get("BADAK_NUM_THREADS") or os.environ.get("OMP_NUM_THREADS", "")
    limit = numba.config.NUMBA_NUM_THREADS
    return min(int(wanted), limit) if wanted.isdigit() and int(wanted) > 0 else limit


class _Team:
    """How many threads there are, and whether starting them is allowed (in a forked child it is not)."""

    def __init__(self):
        self.size = _default_threads()
        self.layer = None
        self.lock = None

    def launch(self):
        """Start the threads and give compiled code their entry point; the first kernel does this."""
        if self.layer is None:
            numba.config.THREADING_LAYER = _choose_layer()
            _numba_threads._launch_threads()
            self.layer = numba.threading_layer()
            if self.layer == "workqueue":
                self.lock = threading.Lock()

    def forked(self):
        self.size = 1
        self.lock = threading.Lock() if self.lock else None


_team = _Team()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_team.forked)


def get_num_threads():
    """Threads that a kernel with enough work runs on."""
    return _team.size


def set_num_threads(count):
    """Let kernels use `count` threads, 1 .. NUMBA_NUM_THREADS (by default the cores). Bits of results do not change."""
    limit = numba.config.NUMBA_NUM_THREADS
    if not 1 <= count <= limit:
        raise ValueError(f"set_num_threads: expected 1 <= count <= {limit}; got count={count}\n"
                         "fix: set BADAK_NUM_THREADS before the first import of badak to allow more")
    _team.size = count


# ---------------------------------------------------------------- the disk cache

def _sources_stamp():
    """Changes when any file of the fast set does: Numba itself only watches the file that a kernel stands in."""
    stamp = zlib.crc32(numba.__version__.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        stamp = zlib.crc32(path.read_bytes(), stamp)
    return f"{stamp:08x}"


def _cache_folder():
    """NUMBA_CACHE_DIR where set, else the package's own folder where writable, else the user's cache folder."""
    asked = os.environ.get("NUMBA_CACHE_DIR")
    if asked:
        return Path(asked)
    stamp = _sources_stamp()
    own = Path(__file__).parent / "__pycache__"
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache")
    for folder in (own / f"jit-{stamp}", home / "badak" / f"jit-{stamp}"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            _drop_stale(folder)
            return folder
    return None


def _drop_stale(folder):
    """Remove caches of older sources that nothing has touched for a week."""
    for other in folder.parent.glob("jit-*"):
        if other != folder and time.time() - other.stat().st_mtime > 7 * 86400:
            for path in sorted(other.rglob("*"), reverse=True):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
            other.rmdir()


_folder = _cache_folder() if JIT else None


def _cached_njit(function):
    """njit with the cache in our folder; the setting is restored for the caller's own Numba code."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_folder)
    try:
        return numba.njit(cache=_folder is not None, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


# ---------------------------------------------------------------- what is said about compiling

class _Report(event.Listener):
    """Says once on stderr that kernels are being compiled, and at the end how long it took. Silent when all are cached."""

    def __init__(self):
        self.count = 0
        self.seconds = 0.0
        self.planned = "the kernels in use"
        self.compiling = False

    def on_start(self, happening):
        """Numba begins to compile something that was not on disk."""
        if self.count == 0 and not self.compiling:
            kept = f"cached in {_folder}" if _folder else "not cached: no folder is writable, set NUMBA_CACHE_DIR"
            _say(f"compiling {self.planned} once for this CPU ({kept}; BADAK_KERNELS=plain to skip)")
            atexit.register(self.total)
        self.compiling = True

    def on_end(self, happening):
        """Functions inside a kernel end here too; `add` counts the kernel."""

    def add(self, seconds):
        """A kernel is ready after `seconds`, compiled or loaded."""
        self.count += self.compiling
        self.seconds += seconds if self.compiling else 0
        self.compiling = False

    def total(self):
        """Say how many were compiled, and forget them."""
        if self.count:
            _say(f"compiled {self.count} kernels in {self.seconds:.1f} s")
        self.count, self.seconds = 0, 0.0
        atexit.unregister(self.total)


def _say(line):
    sys.stderr.write(f"badak: {line}\n")
    sys.stderr.flush()


_report = _Report()


# ---------------------------------------------------------------- kernels

def kernel(function):
    """Compile a function that other kernels call."""
    return numba.njit(**_OPTIONS)(function)


def parallel(words):
    """Compile a function of one task; see the top of this file."""
    return lambda function: Parallel(function, words.split(), _FLAGS)


def parallel_exact(words):
    """As `parallel`, every operation rounded on its own: for updates that are to round as PyTorch's do."""
    return lambda function: Parallel(function, words.split(), False)


def _type_of(word, dtype):
    """The Numba type that a word of a signature stands for."""
    element = types.boolean if "?" in word else types.int64 if "i" in word else dtype
    if word in ("f", "i", "?"):
        return element
    layout = "A" if word[0] in "VX" else "C"
    return types.Array(element, int(word[-1]), layout, readonly=word[0] in "RV")


class Parallel:
    """A kernel: calling it with (tasks, work, *arguments) runs the function for every task."""

    everyone = []                           # all kernels, for `warmup`

    def __init__(self, function, words, flags):
        self.function = function
        self.words = words
        self.__doc__ = function.__doc__
        self.compiled = {}
        self._flags = flags
        Parallel.everyone.append(self)

    def __call__(self, tasks, work, *arguments):
        """`work`: roughly the nanoseconds that one core needs; the dtype is that of the first argument."""
        if not JIT:
            for task in range(tasks):
                self.function(task, *arguments)
            return
        dtype = arguments[0].dtype
        run = self.compiled.get(dtype) or self.compile(dtype)
        threads = 1 if work < _GRAIN or tasks < 2 else min(tasks, _team.size)
        if _team.lock is None or threads == 1:
            run(tasks, threads, *arguments)
        else:
            with _team.lock:
                run(tasks, threads, *arguments)

    def compile(self, dtype):
        """Compile for float32 or float64, or load from the disk cache."""
        _team.launch()
        element = numba.from_dtype(dtype)
        body = numba.njit(**{**_OPTIONS, "fastmath": self._flags})(self.function)
        driver = _cached_njit(self._driver(body))
        start = time.perf_counter()
        with event.install_listener("numba:compile", _report):
            driver.compile(types.void(types.int64, types.int64, *(_type_of(word, element) for word in self.words)))
        _report.add(time.perf_counter() - start)
        driver.disable_compile()
        self.compiled[dtype] = driver
        return driver

    def _driver(self, body):
        """def name_driver(tasks, threads, a0, a1, ...): run body(task, a0, a1, ...) for every task."""
        names = ", ".join(f"a{i}" for i in range(len(self.words)))
        name = f"{self.function.__name__}_driver"
        source = f"def {name}(tasks, threads, {names}): _run(body, ({names},), tasks, threads)"
        scope = {"_run": _run, "body": body, "__name__": self.function.__module__}
        exec(compile(source, self.function.__code__.co_filename, "exec"), scope)
        return scope[name]


@intrinsic
def _run(typingctx, body, arguments, tasks, threads):
    """Call body(task, *arguments) for task in range(tasks), spread over threads.

    The arguments and a task counter go into one record on the stack. A function `worker(record)` takes task numbers from
    the counter until none is left. One thread calls it directly; more call it through the threading layer's parallel_for,
    whose interface is that of a NumPy gufunc loop: (function, args, dims, steps, data, inner dims, arrays, threads).
    """
    argument_types = (types.int64, *arguments.types)
    body.dispatcher.compile(argument_types)
    compiled = body.dispatcher.overloads[argument_types]

    def codegen(context, builder, signature, values):
        context.active_code_library.add_linking_library(compiled.library)
        record_type = ir.LiteralStructType([ir.IntType(64), values[2].type, values[1].type])     # counter, tasks, arguments
        record = cgutils.alloca_once(builder, record_type)
        for i, value in enumerate((ir.Constant(ir.IntType(64), 0), values[2], values[1])):
            builder.store(value, cgutils.gep_inbounds(builder, record, 0, i))
        worker = _build_worker(context, builder.module, compiled, argument_types, record_type)
        _build_launch(builder, worker, record, values[3])
        return context.get_dummy_value()

    return types.void(body, arguments, tasks, threads), codegen


def _build_worker(context, module, compiled, argument_types, record_type):
    """The LLVM function worker(args, dims, steps, record) that runs tasks until the counter passes their number."""
    address = ir.IntType(8).as_pointer()
    worker = ir.Function(module, ir.FunctionType(ir.VoidType(), [address] * 4), module.get_unique_name("worker"))
    worker.linkage = "internal"
    worker.attributes.add("noinline")                # one machine code for one thread and for many
    builder = ir.IRBuilder(worker.append_basic_block("entry"))
    record = builder.bitcast(worker.args[3], record_type.as_pointer())
    counter, limit, packed = (cgutils.gep_inbounds(builder, record, 0, i) for i in range(3))
    limit, packed = builder.load(limit), builder.load(packed)
    loop, run, done = (worker.append_basic_block(name) for name in ("loop", "run", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    task = builder.atomic_rmw("add", counter, ir.Constant(ir.IntType(64), 1), "monotonic")
    builder.cbranch(builder.icmp_signed("<", task, limit), run, done)
    builder.position_at_end(run)
    values = [task, *cgutils.unpack_tuple(builder, packed, len(argument_types) - 1)]
    context.call_internal_no_propagate(builder, compiled.fndesc, compiled.signature, values)
    builder.branch(loop)
    builder.position_at_end(done)
    builder.ret_void()
    return worker


def _build_launch(builder, worker, record, threads):
    """worker(record) on this thread, or on `threads` threads by the symbol that Numba registers for its layer."""
    size, address = ir.IntType(64), ir.IntType(8).as_pointer()
    nothing, data = ir.Constant(address, None), builder.bitcast(record, address)
    with builder.if_else(builder.icmp_signed("<", threads, ir.Constant(size, 2))) as (alone, together):
        with alone:
            builder.call(worker, [nothing, nothing, nothing, data])
        with together:
            slots = cgutils.alloca_once(builder, address)
            dims, steps = cgutils.alloca_once(builder, size), cgutils.alloca_once(builder, size)
            builder.store(data, slots)
            builder.store(threads, dims)
            builder.store(ir.Constant(size, 0), steps)
            kind = ir.FunctionType(ir.VoidType(), [address] * 5 + [size] * 3)
            launch = cgutils.get_or_insert_function(builder.module, kind, "numba_parallel_for")
            pointers = [builder.bitcast(value, address) for value in (worker, slots, dims, steps)]
            builder.call(launch, [*pointers, data, ir.Constant(size, 0), ir.Constant(size, 1), threads])


# ---------------------------------------------------------------- what Numba lacks: a few instructions
# Each is a Python function (what it means, and what runs without JIT) with a compiled body of one or two instructions.
# They carry no fast-math flags, so range reductions built of them are not re-associated away.

def fma(a, b, c):
    """a b + c, rounded once where the CPU can (and in every lane and remainder loop alike)."""
    return a * b + c


def rint(x):
    """The nearest whole number, as a float."""
    return np.rint(x)


def largest(a, b):
    """The larger of two floats, NaN if one is. (A plain comparison would keep a loop over a row from vectorising.)"""
    return np.maximum(a, b)


def pow2(n):
    """2^n for a whole-valued float32 n in [-126, 127]; 0 for n = -127."""
    return np.float32(0) if n == -127 else np.float32(2.0) ** n


def unit_stride(row):
    """The same 1-D array, typed as contiguous so that loops over it vectorise. Its stride must be one element."""
    return row


def is_float32(kind):
    """Whether an argument of an `overload` (a Numba type there) is float32."""
    return kind == types.float32


def _llvm_call(builder, name, values):
    kind = ir.FunctionType(values[0].type, [value.type for value in values])
    width = "f32" if values[0].type == ir.FloatType() else "f64"
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
        biased = builder.add(builder.fptosi(values[0], bits), ir.Constant(bits, 127))
        return builder.bitcast(builder.shl(biased, ir.Constant(bits, 23)), ir.FloatType())
    return n(n), codegen


@intrinsic
def _unit_stride(typingctx, row):
    def codegen(context, builder, signature, values):
        context.nrt.incref(builder, row, values[0])
        return values[0]
    return row.copy(layout="C")(row), codegen


@overload(fma)
def _(a, b, c):
    return lambda a, b, c: _fma(a, b, c)


@overload(rint)
def _(x):
    return lambda x: _rint(x)


@overload(largest)
def _(a, b):
    return lambda a, b: _largest(a, b)


@overload(pow2)
def _(n):
    return lambda n: _pow2(n)


@overload(unit_stride)
def _(row):
    return lambda row: _unit_stride(row)


def extern(name, address, words):
    """A C function at `address` as compiled code calls it; words: "i" int32, "f" float32, "d" float64, "p" pointer."""
    kinds = {"i": types.int32, "f": types.float32, "d": types.float64, "p": types.voidptr}
    llvm.add_symbol(name, address)          # a named symbol, not a constant address: the compiled code can be cached
    return types.ExternalFunction(name, types.void(*(kinds[word] for word in words)))


# ---------------------------------------------------------------- ahead of time

def warmup(report=None):
    """Compile every kernel for float32 and float64 (or load it from the disk cache); the seconds it took.

    report(done, total, name) is called after each one.
    """
    if not JIT:
        return 0.0
    start = time.perf_counter()
    wanted = [(one, np.dtype(dtype)) for dtype in (np.float32, np.float64) for one in Parallel.everyone]
    missing = [(one, dtype) for one, dtype in wanted if dtype not in one.compiled]
    _report.planned = f"{len(missing)} kernels"
    for done, (one, dtype) in enumerate(missing, 1):
        one.compile(dtype)
        if report:
            report(done, len(missing), one.function.__name__)
    _report.total()
    return time.perf_counter() - start


def cache_folder():
    """Where compiled kernels are kept; None where no folder is writable."""
    return _folder


def threading_layer():
    """omp, tbb or workqueue; starts the threads if no kernel has yet."""
    if not JIT:
        return "none"
    _team.launch()
    return _team.layer
