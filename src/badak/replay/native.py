"""Which calls of kernels can stand for an operation: those that, played again, make the same results from nothing.

Decided by trial. The results, and all else that the calls write, are overwritten with rubbish; the calls are played; every
byte must be back. What they read must be inputs, or written by calls before: then nothing that Python or NumPy did in
between was needed.
"""

import threading

import numpy as np

from badak import kernels
from badak.replay.origins import is_table, owner_of

_RUBBISH = 0xFF  # NaN as a float, -1 as an integer


class KernelLog:
    """The log of this thread's calls of compiled kernels. (The plain kernels, which are NumPy, keep none.)"""

    def __init__(self):
        self.calls = getattr(kernels.active(), "call_log", None)

    def start(self) -> None:
        """Log what comes from now on."""
        if self.calls:
            self.calls.thread, self.calls.log = threading.get_ident(), []

    def take(self) -> list:
        """The calls since the last look."""
        if not self.calls:
            return []
        taken, self.calls.log = self.calls.log or [], []
        return taken

    def stop(self) -> None:
        """Log no more."""
        if self.calls:
            self.calls.log = None


def native_calls(calls, read, written, origins) -> list | None:
    """The calls, if they alone lead from the arrays `read` to the arrays `written`; else None."""
    inputs = {id(owner_of(array)) for array in read}
    results = [array for array in written if id(owner_of(array)) not in inputs and array.size]
    ready = set(inputs)
    scratch: dict = {}
    for kernel, _, _, arguments in calls:
        arrays = [(word, x) for word, x in zip(kernel.signature, arguments) if isinstance(x, np.ndarray) and x.size]
        for word, array in arrays:
            if word[0] in "RV" and id(owner_of(array)) not in ready and not _shared(array, origins):
                return None
        for word, array in arrays:
            if word[0] in "WX":
                if id(owner_of(array)) in inputs:
                    return None
                ready.add(id(owner_of(array)))
                scratch[id(owner_of(array))] = owner_of(array)
    if not all(id(owner_of(array)) in ready for array in results):
        return None
    return calls if _same_again(calls, results, scratch.values()) else None


def read_by(calls):
    """The arrays that calls read, apart from empty ones."""
    for kernel, _, _, arguments in calls:
        for word, x in zip(kernel.signature, arguments):
            if isinstance(x, np.ndarray) and x.size and word[0] in "RV":
                yield x


def written_by(calls):
    """The arrays that calls write."""
    for kernel, _, _, arguments in calls:
        for word, x in zip(kernel.signature, arguments):
            if isinstance(x, np.ndarray) and x.size and word[0] in "WX":
                yield x


def _shared(array, origins) -> bool:
    """Whether an array was there before the step: a table that all calls of a kernel read, or a parameter."""
    return is_table(array) or origins.knows(array) and origins.of(array)[0] in ("outside", "constant")


def _same_again(calls, results, scratch) -> bool:
    """Whether playing the calls over rubbish makes the results anew."""
    memory = [_bytes(owner) for owner in scratch]
    if any(each is None for each in memory):
        return False
    before, values = [each.copy() for each in memory], [array.tobytes() for array in results]
    for each in memory:
        each[...] = _RUBBISH
    for kernel, tasks, work, arguments in calls:
        kernel(tasks, work, *arguments)
    kernels.active().call_log.log = []
    same = all(array.tobytes() == value for array, value in zip(results, values))
    for each, old in zip(memory, before):
        each[...] = old
    return same


def _bytes(array):
    """The bytes of an array as a view; None where its memory has gaps."""
    dense = array if array.flags.c_contiguous else array.T
    return dense.reshape(-1).view(np.uint8) if isinstance(array, np.ndarray) and dense.flags.c_contiguous else None


def player(entries):
    """A function that plays the calls of these entries.

    Where a kernel meets an id out of range nothing more is played, and its entry is done by Python, which raises.
    """
    owners = [each for each in entries for _ in each.kept_calls()]
    play = kernels.active().CallList([call for each in entries for call in each.kept_calls()]).play

    def play_to_the_end():
        stopped = play()
        if stopped is not None:
            owners[stopped].redo()
            raise AssertionError(f"{type(owners[stopped]).__name__}: a kernel met an error that Python does not")

    return play_to_the_end
