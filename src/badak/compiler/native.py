"""Which calls of kernels can stand for an operation: those that, played again, make the same results from nothing.

Decided by trial. The results, and all else that the calls write, are overwritten with rubbish; the calls are played; every
byte must be back. What they read must be inputs, or written by calls before: then nothing that Python or NumPy did in
between was needed.
"""

import threading
from collections.abc import Callable

import numpy as np

from badak import kernels
from badak.compiler.memory import as_bytes
from badak.compiler.snapshot import digest
from badak.core.errors import GraphError, tr
from badak.core.memory import holder_of, is_read_only

_RUBBISH = 0xFF  # NaN as a float, -1 as an integer
_LARGE = 1 << 16  # bytes of a result that is not copied for a trial


class KernelLog:
    """The log of this thread's calls of compiled kernels. (The reference kernels, which are NumPy, keep none.)"""

    def __init__(self):
        self.calls = getattr(kernels.active(), "call_log", None)

    def start(self, hidden: Callable | None = None) -> None:
        """Log what comes from now on. hidden: makes a block in which the step's Python is not watched."""
        if self.calls:
            self.calls.thread, self.calls.log, self.calls.hidden = threading.get_ident(), [], hidden

    def take(self) -> list:
        """The calls since the last look."""
        if not self.calls:
            return []
        taken, self.calls.log = self.calls.log or [], []
        return taken

    def stop(self) -> None:
        """Log no more."""
        if self.calls:
            self.calls.log = self.calls.hidden = None


def native_calls(calls, read, written, origins, again) -> list | None:
    """The calls, if they alone lead from the arrays `read` to the arrays `written`; else None. again(): do it by Python."""
    inputs = {id(holder_of(array)) for array in read}
    results = [array for array in written if id(holder_of(array)) not in inputs and array.size]
    scratch = scratch_of(calls, read, origins)
    if scratch is None or not all(id(holder_of(array)) in {*inputs, *scratch} for array in results):
        return None
    return calls if _same_again(calls, results, scratch.values(), again) else None


def scratch_of(calls, read, origins, over=frozenset()) -> dict | None:
    """id: owner of all memory that calls write besides `over`; None where they read more than `read`, or write there."""
    inputs = {id(holder_of(array)) for array in read}
    scratch: dict = {}
    for kernel, _, _, arguments in calls:
        arrays = [(word, x) for word, x in zip(kernel.signature, arguments) if isinstance(x, np.ndarray) and x.size]
        for word, array in arrays:
            if word[0] in "RV" and id(holder_of(array)) not in {*inputs, *scratch} and not _shared(array, origins):
                return None
        for word, array in arrays:
            if word[0] in "WX" and id(holder_of(array)) not in over:
                if id(holder_of(array)) in inputs:
                    return None
                scratch[id(holder_of(array))] = holder_of(array)
    return scratch


def read_by(calls, words="RV"):
    """The arrays that calls read, apart from empty ones."""
    for kernel, _, _, arguments in calls:
        for word, x in zip(kernel.signature, arguments):
            if isinstance(x, np.ndarray) and x.size and word[0] in words:
                yield x


def reads_only(calls, known) -> bool:
    """Whether all that the calls read is in the memory of these arrays, read-only, or written by calls before."""
    ready = {id(holder_of(array)) for array in known}
    for call in calls:
        if any(id(holder_of(array)) not in ready and not is_read_only(array) for array in read_by([call])):
            return False
        ready |= {id(holder_of(array)) for array in written_by([call])}
    return True


def written_by(calls):
    """The arrays that calls write."""
    return read_by(calls, "WX")


def _shared(array, origins) -> bool:
    """Whether an array was there before the step: a table that all calls of a kernel read, or a parameter."""
    return is_read_only(array) or origins.knows(array) and origins.of(array)[0] in ("outside", "constant")


def _same_again(calls, results, scratch, again) -> bool:
    """Whether playing the calls over rubbish makes the results again. Where it does not, they are put back.

    Large results are not copied meanwhile: the step would need more memory than it does when it runs as it is. Their digest says
    whether they are back, and the operation is done `again` where they are not.
    """
    whole = _whole(results)
    memory = [(owner, as_bytes(owner)) for owner in scratch]
    if any(each is None for _, each in memory):
        return False
    digests = [(owner, digest(owner)) for owner in scratch if id(owner) in whole]
    copies = [(each, each.copy()) for owner, each in memory if id(owner) not in whole]
    values = [(array, array.tobytes()) for array in results if id(holder_of(array)) not in whole]
    for _, each in memory:
        each[...] = _RUBBISH
    for kernel, tasks, work, arguments in calls:
        kernel(tasks, work, *arguments)
    kernels.active().call_log.log = []
    lost = any(digest(owner) != before for owner, before in digests)
    same = not lost and all(array.tobytes() == value for array, value in values)
    if lost:
        again()
        kernels.active().call_log.log = []
    for each, old in copies:
        each[...] = old
    if lost and any(digest(owner) != before for owner, before in digests):
        cause = tr("compile: an operation made other values from the same arrays when it was done twice")
        raise GraphError(cause, "badak.compile(..., disable=True) runs it as it is; report this, it should not happen")
    return same


def _whole(results) -> set[int]:
    """The ids of large owners whose memory these arrays see to the last byte, each byte once."""
    seen: dict = {}
    for array in results:
        owner = holder_of(array)
        if isinstance(owner, np.ndarray) and owner.nbytes >= _LARGE and all(array.strides):
            _, parts = seen.setdefault(id(owner), (owner, {}))
            parts[array.__array_interface__["data"][0], array.shape, array.strides] = array.nbytes
    return {key for key, (owner, parts) in seen.items() if sum(parts.values()) == owner.nbytes}


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
