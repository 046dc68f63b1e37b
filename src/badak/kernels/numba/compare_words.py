"""Words of memory, compared by their addresses."""

import numpy as np

from badak.kernels.numba.codegen.atomics import atomic_load, atomic_store
from badak.kernels.numba.codegen.compile import compile_function


def _compare(rows, count, answer):
    """Leave at `answer` how many of `count` rows (address, word) come before the first whose word stands there no more."""
    for i in range(count):
        if atomic_load(atomic_load(rows + 16 * i)) != atomic_load(rows + 16 * i + 8):
            atomic_store(answer, i)
            return
    atomic_store(answer, count)


class WordList:
    """Addresses and the words that stand there: rows of int64. `differs()` gives the first row that has changed, or None.

    A row is looked at only where those before it are as they were: an address may be one that an earlier row holds. Nothing
    else of Python runs meanwhile. Whoever makes the list keeps alive what the first address of each chain is in.
    """

    compiled = None  # `_compare`, once it was asked for

    def __init__(self, rows):
        self.rows = np.array([*rows, (0, 0)], np.int64)
        self.count = len(self.rows) - 1
        self.answer = self.rows[-1]  # the last row is none
        self.place = self.rows.ctypes.data, self.count, self.answer.ctypes.data
        if WordList.compiled is None:
            WordList.compiled = compile_function(_compare, "i i i", nogil=False)

    def differs(self):
        """The number of the first row whose word is another one; None where there is none."""
        WordList.compiled(*self.place)
        first = self.answer.item(0)
        return None if first == self.count else first
