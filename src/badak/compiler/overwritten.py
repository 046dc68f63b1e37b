"""A backward that writes a gradient over what its forward has saved, while a step is recorded: both are never there together.

For the trial of its kernels, what it has written over is made again by the kernels that made it.
"""

from typing import Any

import numpy as np

from badak import kernels
from badak.compiler.entries import each_array
from badak.compiler.native import scratch_of
from badak.compiler.provenance import Place, arrays_in
from badak.compiler.snapshot import digest
from badak.core.errors import GraphError, tr
from badak.core.memory import holder_of

_MUCH = 1 << 20  # bytes that are worth it


class Overwritten:
    """The backward that one recording lets write over something at the moment."""

    def __init__(self, origins):
        self._origins = origins
        self._saved: Any = None  # of its node, which lets go of it before
        self._maker: Any = None  # the entry that has made what is written over

    def lets(self, node, entries) -> bool:
        """Whether this backward may: only kernels made what it writes over, from what is still there."""
        array = getattr(node.saved, node.op.overwrites, None)
        self._maker = None
        if isinstance(array, np.ndarray) and array.nbytes >= _MUCH:
            self._maker = self._maker_of(holder_of(array), entries)
        self._saved = node.saved if self._maker is not None else None
        return self._maker is not None

    def saved_of(self, node) -> Any:
        """What this node has saved, of which it may have let go, and which is not kept any longer."""
        saved, self._saved = self._saved, None
        return node.saved if saved is None else saved

    def _maker_of(self, owner, entries):
        memory = self._origins.piece(owner)
        makers = [each for each in entries if any(place.memory is memory for place in _places(each, "WX"))]
        if memory is None or len(makers) != 1 or any(holder_of(x) is owner for each in entries for x in each.touched()):
            return None
        made = {place.memory for place in _places(makers[0], "WX")}
        there = all(place.memory in made or place.memory.owner() is not None for place in _places(makers[0], "RV"))
        return makers[0] if there else None

    def has(self, op, saved, gradient) -> bool:
        """Whether a backward has written its gradient over what it was let."""
        array = getattr(saved, op.overwrites, None) if self._maker is not None and op.overwrites else None
        return array is not None and gradient is not None and holder_of(gradient) is holder_of(array)

    def tried(self, calls, read, gradient) -> list | None:
        """The calls, if they alone have made the gradient; else None."""
        owner = holder_of(gradient)
        if not calls or scratch_of(calls, read, self._origins, {id(owner)}) is None:
            return None
        before = digest(gradient)
        self._make_again(owner)
        for kernel, tasks, work, arguments in calls:
            kernel(tasks, work, *arguments)
        kernels.active().call_log.log = []
        if digest(gradient) != before:
            cause = tr("compile: an operation made other values from the same arrays when it was done twice")
            raise GraphError(cause, "badak.compile(..., disable=True) runs it as it is; report this, it should not happen")
        return calls

    def _make_again(self, owner) -> None:
        fresh: dict = {}

        def array(x):
            if not isinstance(x, Place):
                return x
            there = x.memory.owner()
            if there is None:
                there = fresh.setdefault(x.memory, np.empty(x.memory.size, np.uint8))
            return x.on(there.reshape(-1, order="A").view(np.uint8))

        for kernel, tasks, work, arguments in self._maker.calls:
            kernel(tasks, work, *[each_array(x, array) for x in arguments])
        self._maker = None


def _places(entry, words: str) -> list:
    """The places that the calls of an entry read, or write."""
    pairs = [pair for kernel, *_, arguments in entry.calls or () for pair in zip(kernel.signature, arguments)]
    return [place for word, x in pairs if word[0] in words for place in arrays_in([x], Place)]
