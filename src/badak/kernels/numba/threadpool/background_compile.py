"""Processes that compile, on other cores, kernels that a program is going to call: the first step comes in half the time.

They are started when a kernel has to be compiled and several of those that are likely to follow are not on disk. Each is a new
Python that imports the Numba kernels and nothing of the program; it compiles kernel after kernel, and the program finds them on
disk. Two lines of text go between them, over pipes:

    helper -> program    the kernel that it compiles now, after the last one was put on disk
    program -> helper    a kernel that the program compiles itself, to be left out

A program that wants what a helper is at waits for it. Whatever goes wrong, it compiles for itself: helpers write nothing but the
cache, and say nothing. They end with the program: its end closes the pipe that they listen to.
"""

import atexit
import importlib
import os
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np

from badak.core.machine import cores
from badak.kernels.numba.codegen.compile import FOLDER
from badak.kernels.numba.threadpool.pool import team

_MOST = 4  # processes that compile, the program among them: 200 MiB each
_WORTH = 3  # kernels: for less, starting a process takes longer

# What a Transformer's training step calls, in float32: the longest two, then from the step's end to its beginning, so that the
# program, which begins at its beginning, meets the helpers midway. Then what answering calls, which comes after a step. With one
# helper a first step takes 9.6 s in this order, 12 to 14 s in that of the files or of length, and 16.5 s without.
LIKELY = """attention_blocks attention_backward_parts adam_exp_avg_exp_avg_sq shrink whole_norm block_norms scatter_add_columns
    add_into_lines gelu_tanh_backward_block column_sum_parts sum_parts layer_norm_backward_rows cross_entropy_backward_rows
    cross_entropy_rows gelu_tanh_block product_tiles layer_norm_rows gather_rows attention_of_one few_rows softmax_rows""".split()


def name_of(function, dtype):
    """What the processes call a kernel."""
    return f"{function.__name__}:{dtype}"


class _Helper:
    """One process, and what it is at."""

    def __init__(self, names):
        code = f"from {__name__} import serve; serve()"
        places = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "NUMBA_CACHE_DIR": str(FOLDER), "BADAK_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, *names],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=os.environ | places, text=True, bufsize=1, start_new_session=True,  # Ctrl-C is for the program
        )  # fmt: skip
        self.at, self.changed = "", threading.Condition()
        threading.Thread(target=self._listen, name="badak-compiling", daemon=True).start()

    def _listen(self):
        with self.process.stdout as lines:
            for line in lines:
                self._is_at(line.strip())
        self._is_at(None)  # it has ended

    def _is_at(self, name):
        with self.changed:
            self.at = name
            self.changed.notify_all()

    def leave(self, name):
        """Come back when it is not at this kernel, and let it not begin with it."""
        with self.changed:
            while self.at == name:
                self.changed.wait(0.1)  # not for ever: on Windows, Ctrl-C would not be heard
            gone = self.at is None
        if not gone:
            with suppress(OSError):  # it has ended meanwhile
                self.process.stdin.write(f"{name}\n")

    def end(self):
        self.process.kill()
        self.process.wait()
        with suppress(OSError):  # what was written, and nobody reads any more
            self.process.stdin.close()


class _Ahead:
    """The helpers of this process."""

    def __init__(self):
        self.helpers, self.asked = [], False
        self.planned = ()  # names of kernels that will be wanted, where that is known

    def start(self):
        """Let helpers compile what is planned, or what is likely to follow and not on disk; once in a process."""
        count = min(team.size, cores(), _MOST) - 1
        if self.asked or FOLDER is None or count < 1 or not sys.executable or getattr(sys, "frozen", False):
            return
        self.asked = True
        names = self.planned or [f"{name}:float32" for name in LIKELY if not _on_disk(name)]
        if len(names) >= _WORTH:
            atexit.register(self.end)
            try:
                for share in range(count):
                    self.helpers.append(_Helper(names[share::count]))
            except (OSError, RuntimeError):  # no more processes or threads: with fewer, or none
                pass

    def leave(self, function, dtype):
        """Before a kernel is compiled or loaded here: wait for a helper that is at it, else let none begin with it."""
        for helper in self.helpers:
            helper.leave(name_of(function, dtype))

    def end(self):
        """No helper outlives the program."""
        for helper in self.helpers:
            helper.end()
        self.helpers = []


def _on_disk(name):
    return any(FOLDER.glob(f"{name}-*.kernel"))


def _forget():
    """A forked child has no helpers: they are its parent's."""
    ahead.helpers, ahead.asked = [], True


def serve():
    """Compile the kernels that are named on the command line, the life of a helper."""
    importlib.import_module("badak.kernels.numba")  # which defines all kernels
    kernels = importlib.import_module("badak.kernels.numba.threadpool.parallel").Kernel.all
    left_out: set[str] = set()
    threading.Thread(target=_listen, args=(left_out,), daemon=True).start()
    dtypes = np.dtype(np.float32), np.dtype(np.float64)
    known = {name_of(kernel.function, dtype): (kernel, dtype) for kernel in kernels for dtype in dtypes}
    for name in sys.argv[1:]:
        if name in known and name not in left_out:
            sys.stdout.write(f"{name}\n")
            sys.stdout.flush()
            kernel, dtype = known[name]
            kernel.compile(dtype)


def _listen(left_out):
    """Note what the program compiles; end with it."""
    for line in sys.stdin:
        left_out.add(line.strip())
    os._exit(0)


ahead = _Ahead()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
