"""Where the arrays of many parameters are, so that one kernel call updates all of them."""

from operator import is_

import numpy as np

from badak.kernels.numba._blocks import block, blocks_of
from badak.kernels.numba.codegen.arrays import Numbers, held
from badak.kernels.numba.codegen.compile import kernel

FIRST, SIZE, GRAD, PARAM = range(4)  # columns of a table; after PARAM comes what is remembered of the parameter
READ = 0x0001 | 0x0100  # NumPy's flags of an array that compiled code may read as one axis: C-contiguous, aligned
WRITE = READ | 0x0400  # ... and writeable


class Table:
    """The arrays of P parameters, for kernels whose tasks are blocks of any of them.

    columns: lists of P arrays: the parameters, then what is remembered of each. Its rows keep them alive (`codegen/arrays.py`).

        rows (P, 3 + columns) int64     a parameter's first task, its size, the `id`s of its gradient (0: not now) and of its arrays
        owner (tasks,) int64            the row whose block a task is

    A row with arrays of another dtype than the first parameter's, with gaps or read-only has no tasks. Nor has any row where
    parameters share memory: two tasks might write to one number.
    """

    def __init__(self, columns):
        params = columns[0]
        self.columns = [tuple(column) for column in columns]
        self.dtype, self.sizes = params[0].dtype, [param.size for param in params]
        self.shapes = [param.shape for param in params]
        self.size = sum(self.sizes)
        self.fits = [_apart(params)] * len(params)
        for column in columns:
            self.fits = self._fitting(column, WRITE)
        tasks = np.array([blocks_of(size) if fits else 0 for size, fits in zip(self.sizes, self.fits)], np.int64)
        self.owner = np.repeat(np.arange(len(params), dtype=np.int64), tasks)
        self.numbers = Numbers((len(params), PARAM + len(columns)))
        self.rows = self.numbers.rows
        self.rows[:, FIRST] = np.cumsum(tasks) - tasks
        self.rows[:, SIZE] = self.sizes
        for at, column in enumerate(self.columns, PARAM):
            self.numbers.put(at, column)

    def holds(self, columns):
        """Whether the table was made of these very arrays."""
        return len(columns[0]) == len(self.sizes) and all(
            all(map(is_, mine, theirs)) for mine, theirs in zip(self.columns, columns)
        )

    def take(self, grads):
        """Point the rows at the gradients of this step, until `release`; gives the rows that have to be left out."""
        fits = self._fitting(grads, READ)
        if all(fits):
            self.numbers.put(GRAD, grads)
            return []
        self.numbers.put(GRAD, grads, [id(grad) if fit else 0 for grad, fit in zip(grads, fits)])
        return [row for row, fit in enumerate(fits) if not fit]

    def release(self):
        """Let go of the gradients: the program may free them now."""
        self.numbers.clear(GRAD)

    def _fitting(self, arrays, flags):
        """For every row: whether it fitted so far and compiled code may take its array, of the parameter's shape, as one axis."""
        dtype = self.dtype
        return [
            fit and x.dtype == dtype and x.shape == shape and x.flags.num & flags == flags
            for fit, x, shape in zip(self.fits, arrays, self.shapes)
        ]


def table_of(memo, columns):
    """The table in `memo`, made again where the arrays are others than before."""
    table = memo.get("table")
    if table is None or len(table.columns) != len(columns) or not table.holds(columns):
        table = memo["table"] = Table(columns)
    return table


@kernel
def part(task, rows, row, column, like):
    """The block of `task` of the array in (row, column), as a view of the dtype of `like`."""
    return block(task - rows[row, FIRST], held(rows[row, column], rows[row, SIZE], like))


def _apart(params):
    """Whether no two parameters share memory."""
    if all(x.base is None for x in params):  # asking for an address takes 0.6 us
        return len(set(map(id, params))) == len(params)
    spans = sorted((x.__array_interface__["data"][0], x.nbytes) for x in params if x.size)
    return all(start + size <= after for (start, size), (after, _) in zip(spans, spans[1:]))
