"""How a kernel is written, called and compiled ahead.

A kernel is a function of one task: `@parallel("W1 R1 f") def scale(task, y, x, a)` handles block number `task` and writes
only that block. Calling `scale(tasks, work, y, x, a)` runs task 0 .. tasks - 1 on as many threads as the work deserves.
The blocks are cut by the shape alone and every thread runs the same machine code, so the bits of the result do not
depend on the number of threads. Each thread has a part of the task numbers and helps with the other parts when its own is
done, so uneven tasks and busy cores balance.

The string is the signature, one word per argument after `task`, so that each kernel compiles once per dtype:

    R2  read, C-contiguous, 2 axes     W2  written      V4  read, any strides, 4 axes      X4  written, any strides
    Ei1 the kernel sets its number to 1 where it met an id out of range
    f   number of the kernel's dtype   i   int64        ?   bool           Ri1, R?2, ...   arrays of int64, of bool
    Rb2, Wb1, ...   arrays of int8

In a kernel of bfloat16 (see `codegen/bfloat16.py`) numbers are float32, and so are the elements of Rf1, Wf2, ...: statistics,
weights, what is summed later. Rh2, Wh2, ... are arrays of bfloat16 in a kernel of any dtype.

Not Numba's own prange: one such loop costs 1 to 2.5 s to compile against 0.3, and 4 us a call on one thread against 1.
"""

import atexit
import os
import threading
import time
from contextlib import nullcontext
from typing import ClassVar

import numpy as np

from badak.core.i18n import say, tr
from badak.kernels.half import BFLOAT16
from badak.kernels.numba.codegen.bfloat16 import STORED
from badak.kernels.numba.codegen.cache import to_stderr
from badak.kernels.numba.codegen.compile import FOLDER, JIT
from badak.kernels.numba.codegen.drivers import compile_driver
from badak.kernels.numba.threadpool.background_compile import ahead, name_of
from badak.kernels.numba.threadpool.pool import team

# Work, in nanoseconds of one core, below which a second thread costs more than it saves: waking it takes 2 to 10 us.
_GRAIN = 20_000
_KEPT_GRAIN = 5_000  # of a call that is kept and played: the other threads are awake, and a call takes 0.25 us


def parallel(words):
    """Compile a function of one task; see the top of this file."""
    return lambda function: Kernel(function, words.split(), exact=False)


def parallel_exact(words, dtypes=(np.float32, np.float64)):
    """As `parallel`, every operation rounded on its own: for updates that are to round as PyTorch's do.

    dtypes: those that it is compiled ahead for.
    """
    return lambda function: Kernel(function, words.split(), True, dtypes)


class _Calls:
    """The calls of kernels that one thread makes while it keeps a log of them."""

    log: list | None = None  # of (kernel, tasks, work, arguments)
    thread = 0
    hidden = None  # makes a block that whoever watches this thread's Python does not see

    def note(self, *call):
        """Add a call to the log if its thread is the one that is watched."""
        if threading.get_ident() == self.thread:
            self.log.append(call)

    def unseen(self):
        """A block for what is Numba's affair, and slow to be watched."""
        return self.hidden() if self.hidden and threading.get_ident() == self.thread else nullcontext()


call_log = _Calls()


class Kernel:
    """A function of one task, compiled once per dtype at its first call."""

    all: ClassVar[list] = []  # in the order of their definition, for `warmup`

    def __init__(self, function, signature, exact, dtypes=(np.float32, np.float64)):
        self.function, self.signature, self.exact, self.dtypes = function, signature, exact, dtypes
        self.__doc__ = function.__doc__
        self.compiled = {}  # by dtype
        plain = [word[-1].isdigit() and len(word) == 2 for word in signature]
        self.typed = plain.index(True)  # the argument that has the kernel's dtype
        Kernel.all.append(self)

    def __call__(self, tasks, work, *arguments):
        """Run every task; `work` is roughly the nanoseconds that one core needs."""
        if not JIT:
            _interpret(self.function, tasks, arguments)
            return
        if call_log.log is not None:
            call_log.note(self, tasks, work, arguments)
        dtype = arguments[self.typed].dtype
        run = self.compiled.get(dtype) or self.compile(dtype)
        if work < _GRAIN or tasks < 2 or team.size < 2:
            run(tasks, 1, 0, 0, *arguments)
        else:
            run(tasks, min(tasks, team.size), team.start(), 0, *arguments)

    def keep(self, address, tasks, work, arguments):
        """Leave at `address` what `CallList.play` needs to run this call later."""
        threads = 1 if work < _KEPT_GRAIN or tasks < 2 else min(tasks, team.size)
        dtype = arguments[self.typed].dtype
        run = self.compiled.get(dtype) or self.compile(dtype)
        run(tasks, threads, team.start(), address, *arguments)

    def compile(self, dtype):
        """Compile for float32, float64 or bfloat16, or load from the disk cache."""
        start = time.perf_counter()
        with call_log.unseen():
            team.start()  # links the function that shares tasks out
            ahead.leave(self.function, dtype)
            compiled = compile_driver(self.function, self.signature, dtype, self.exact, _report.begin)
        _report.end(time.perf_counter() - start)
        if dtype == BFLOAT16 or any("h" in word for word in self.signature):
            compiled = _stored(compiled)
        self.compiled[dtype] = compiled
        return compiled


def _stored(driver):
    """The driver, which takes arrays of bfloat16 as the 16 bits that they are."""

    def run(tasks, threads, team, keep, *arguments):
        given = [x.view(STORED) if type(x) is np.ndarray and x.dtype == BFLOAT16 else x for x in arguments]
        driver(tasks, threads, team, keep, *given)

    return run


def _interpret(function, tasks, arguments):
    """Run the kernel as Python. Arrays of bfloat16 are float32 meanwhile."""
    wide = [x.astype(np.float32) if getattr(x, "dtype", None) == BFLOAT16 else x for x in arguments]
    for task in range(tasks):
        function(task, *wide)
    for x, y in zip(arguments, wide):
        if x is not y and x.flags.writeable:
            x[...] = y


class _Report:
    """Says once on stderr that kernels are being compiled, and at the end how long it took. Silent when all are cached.

    Of the ranks of one machine, the first one speaks.
    """

    speaks = os.environ.get("LOCAL_RANK", "0") == "0"

    def __init__(self):
        self.count, self.seconds, self.compiling, self.planned = 0, 0.0, False, say("the kernels in use")

    def begin(self):
        """A kernel, or a function in it, was not on disk."""
        if self.count == 0 and not self.compiling:
            ahead.start()
            if self.speaks:
                kept = tr("cached in {}", FOLDER) if FOLDER else tr("not cached: no folder is writable, set NUMBA_CACHE_DIR")
                to_stderr(tr("compiling {} once for this CPU ({}; BADAK_KERNELS=reference to skip)", self.planned, kept))
                atexit.register(self.total)
        self.compiling = True

    def end(self, seconds):
        """A kernel is ready after `seconds`, compiled or loaded."""
        if self.compiling:
            self.count, self.seconds, self.compiling = self.count + 1, self.seconds + seconds, False

    def total(self):
        """Say how many were compiled, and forget them."""
        if self.count and self.speaks:
            to_stderr(tr("compiled {} kernels in {:.1f} s", self.count, self.seconds))
        self.count, self.seconds = 0, 0.0
        atexit.unregister(self.total)


_report = _Report()


def warmup(report=None):
    """Compile every kernel for float32 and float64, or load it from the disk cache; gives the seconds it took.

    report(done, total, name) is called after each one.
    """
    if not JIT:
        return 0.0
    start = time.perf_counter()
    wanted = [(kernel, np.dtype(dtype)) for dtype in (np.float32, np.float64) for kernel in Kernel.all if dtype in kernel.dtypes]
    missing = [(kernel, dtype) for kernel, dtype in wanted if dtype not in kernel.compiled]
    _report.planned = f"{len(missing)} kernels"
    ahead.planned = [name_of(kernel.function, dtype) for kernel, dtype in reversed(missing)]
    for done, (kernel, dtype) in enumerate(missing, 1):
        kernel.compile(dtype)
        if report:
            report(done, len(missing), kernel.function.__name__)
    _report.total()
    return time.perf_counter() - start
