"""Calls of kernels that are kept and played again on the same arrays, without Python in between.

A kept call is the record that a kernel's driver makes of its arguments (see `codegen/drivers.py`), with counters of its own.
`play` goes through many of them: for each one it sets the counters back and gives the record to the team. It stops after a
call that has met an id out of range, as the program would.
"""

import numpy as np

from badak.kernels.numba.codegen.atomics import atomic_load, atomic_store, call
from badak.kernels.numba.codegen.compile import compile_function
from badak.kernels.numba.codegen.drivers import KEPT
from badak.kernels.numba.codegen.linking import extern
from badak.kernels.numba.threadpool.pool import team

_share = extern("badak_share", "llll")
_LINE = 64  # bytes of a line of cache


def _play(first, count, team, errors):
    """Run the `count` calls whose addresses stand at `first`, one after the other.

    errors: where the error numbers of the calls stand, after one for all, which becomes the number of the call that has set
    its own, from 1; nothing is run after that one.
    """
    for i in range(count):
        at = atomic_load(first + 8 * i)
        worker, tasks, threads = atomic_load(at), atomic_load(at + 8), atomic_load(at + 16)
        for thread in range(threads):
            atomic_store(at + KEPT + 64 * thread, thread * tasks // threads)
        record = at + KEPT + 64 * threads
        if threads < 2:
            call(worker, record, 0)
        else:
            _share(worker, record, threads, team)
        if atomic_load(errors + 8 * (i + 1)) != 0:
            atomic_store(errors, i + 1)
            return


class CallList:
    """A list of (kernel, tasks, work, arguments), ready to be played: play() runs all, or as far as the first error.

    The arguments are kept alive, and so are the arrays that a table among them names (`codegen/arrays.py`). It is made for the
    number of threads that the team has at that time. Each call gets an error number of its own in the place of the argument
    that its kernel has for it ("E" in its signature). Two threads must not play one list at once: it has one set of counters.
    """

    compiled = None  # `_play`, once it was asked for

    def __init__(self, calls):
        self.errors = np.zeros(1 + len(calls), np.int64)
        self.calls = calls = [
            (kernel, tasks, work, self._with_error(kernel, arguments, number))
            for number, (kernel, tasks, work, arguments) in enumerate(calls, 1)
        ]
        sizes = [_bytes_of(kernel.signature) for kernel, *_ in calls]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.memory = np.zeros(int(starts[-1]) + _LINE, np.uint8)
        begin = -(-self.memory.ctypes.data // _LINE) * _LINE
        self.addresses = begin + starts[:-1]
        for address, (kernel, tasks, work, arguments) in zip(self.addresses.tolist(), calls):
            kernel.keep(address, tasks, work, arguments)
        self.place = self.addresses.ctypes.data, len(calls), team.start(), self.errors.ctypes.data
        if CallList.compiled is None:
            CallList.compiled = compile_function(_play, "i i i i")

    def play(self):
        """Run the calls; the place of the one that met an error, None where none did."""
        CallList.compiled(*self.place)
        stopped = self.errors[0]
        if not stopped:
            return None
        self.errors[:] = 0
        return int(stopped) - 1

    def _with_error(self, kernel, arguments, number):
        """The arguments with this call's error number in their place for it, if there is one."""
        for at, word in enumerate(kernel.signature):
            if word[0] == "E":
                return (*arguments[:at], self.errors[number : number + 1], *arguments[at + 1 :])
        return arguments


def _bytes_of(signature):
    """Enough for the kept call of a kernel with this signature, in whole lines of cache."""
    values = sum(5 + 2 * int(word[-1]) if word[-1].isdigit() else 1 for word in signature)
    size = KEPT + 64 * team.size + 8 * (3 + values)
    return -(-size // _LINE) * _LINE + _LINE
