"""Calls of kernels that are kept and played again on the same arrays, without Python in between.

A kept call is the record that a kernel's driver makes of its arguments (see `_jit.py`), with counters of its own. `play`
goes through many of them: for each one it sets the counters back and gives the record to the team.
"""

import numpy as np

from badak.kernels.fast._jit import KEPT, atomic_load, atomic_store, call, compile_function, extern
from badak.kernels.fast._team import team

_share = extern("badak_share", "llll")
_LINE = 64  # bytes of a line of cache


def _play(first, count, team):
    """Run the `count` calls whose addresses stand at `first`, one after the other."""
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


class Tape:
    """A list of (kernel, tasks, work, arguments), ready to be played: tape.play().

    The arguments are kept alive. It is made for the number of threads that the team has at that time.
    """

    compiled = None  # `_play`, once it was asked for

    def __init__(self, calls):
        self.calls = calls
        sizes = [_bytes_of(kernel.words) for kernel, *_ in calls]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.memory = np.zeros(int(starts[-1]) + _LINE, np.uint8)
        begin = -(-self.memory.ctypes.data // _LINE) * _LINE
        self.addresses = begin + starts[:-1]
        for address, (kernel, tasks, work, arguments) in zip(self.addresses.tolist(), calls):
            kernel.keep(address, tasks, work, arguments)
        self.place = self.addresses.ctypes.data, len(calls), team.start()
        if Tape.compiled is None:
            Tape.compiled = compile_function(_play, "i i i")

    def play(self):
        """Run all calls."""
        Tape.compiled(*self.place)


def _bytes_of(words):
    """Enough for the kept call of a kernel with this signature, in whole lines of cache."""
    values = sum(5 + 2 * int(word[-1]) if word[-1].isdigit() else 1 for word in words)
    size = KEPT + 64 * team.size + 8 * (3 + values)
    return -(-size // _LINE) * _LINE + _LINE
