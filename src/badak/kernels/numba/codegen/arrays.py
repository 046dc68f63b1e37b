"""Arrays by their number: how one kernel call reaches as many arrays as it likes, and who keeps them alive meanwhile.

A kernel that works on many parameters reads from a table of int64 where they are: the `id` of each array, from which `held`
makes the array. Compiled code counts no references, so one rule keeps the memory there:

    The numbers own the arrays. Only `Numbers.put` writes the `id`s of arrays into a table, and the table keeps the arrays until
    others are put into their column, or it is cleared, or nobody has the table any more.

"The table" is the array `Numbers.rows` itself: its memory belongs to an object that holds the arrays, too (its `base`). Who
has the rows has the arrays: a call that runs, a log of calls, a `CallList` that plays calls again, a view of the rows. None of
them needs to know of the rule. A copy of the rows does not have the arrays, and a copied `Numbers` is refused.

What compiled code takes for granted besides, `_tables.py` checks when it puts: dtype, size, one axis without gaps. No array in
badak gets another shape or other memory in place; a parameter that changes so has another array, which has another `id`.
"""

# mypy: disable-error-code="attr-defined,call-arg"

import ctypes

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from badak.kernels.numba.codegen.atomics import INT64, pointer_to

_HEAD = object.__basicsize__  # bytes of an object before what is its own


class _Owner:
    """The memory of a table, and for each column the arrays whose numbers stand there."""

    def __init__(self, shape):
        self.memory, self.arrays = np.zeros(shape, np.int64), [()] * shape[1]
        self.__array_interface__ = self.memory.__array_interface__  # np.asarray(owner) sees the memory, its base is the owner


class Numbers:
    """A table `rows` (R, C) of int64, zeros at first, whose columns may hold the `id`s of R arrays."""

    def __init__(self, shape):
        self._owner = _Owner(shape)
        self.rows = np.asarray(self._owner)

    def put(self, column, arrays, numbers=None):
        """Let a column hold the numbers of these arrays, and keep them; `numbers`: 0 for those that are left out."""
        old, self._owner.arrays[column] = self._owner.arrays[column], tuple(arrays)
        self.rows[:, column] = list(map(id, arrays)) if numbers is None else numbers
        del old  # not before their numbers are gone

    def clear(self, column):
        """Let a column hold no arrays."""
        self.rows[:, column] = 0
        self._owner.arrays[column] = ()

    def __reduce__(self):
        raise TypeError("Numbers: the arrays of a copy are others, and their numbers would be wrong")


def held(number, size, like):
    """The array whose `id` is `number`, as one axis: contiguous, `size` elements of the dtype of `like`.

    What an array has of its own starts with the address of its values (PyArrayObject of NumPy's C interface, which every
    extension module relies on), and an `id` is the address of the object. Asking NumPy for the address takes 0.9 us.
    """
    return ctypes.cast(int(number), ctypes.py_object).value.reshape(-1)


@intrinsic
def _values(typingctx, number, like):
    def codegen(context, builder, signature, values):
        field = pointer_to(builder, builder.add(values[0], INT64(_HEAD)))
        return builder.inttoptr(builder.load(field), context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(number, like), codegen


overload(held)(lambda number, size, like: lambda number, size, like: numba.carray(_values(number, like), (size,)))


def unit_stride(row):
    """The same 1-D array, typed as contiguous so that loops over it vectorise. Its stride must be one element."""
    return row


@intrinsic
def _unit_stride(typingctx, row):
    def codegen(context, builder, signature, values):
        context.nrt.incref(builder, row, values[0])
        return values[0]

    return row.copy(layout="C")(row), codegen


overload(unit_stride)(lambda row: lambda row: _unit_stride(row))


def lent(x):
    """The same array without its owner, so that views of it count no references, which costs more than a product of small heads.

    Compiled code frees an array after its last mention: who lends one mentions it once more in the end.
    """
    return x


@intrinsic
def _lent(typingctx, x):
    def codegen(context, builder, signature, values):
        made = values[0]
        for owner in (0, 1):  # of Numba's array: meminfo and parent
            made = builder.insert_value(made, made.type.elements[owner](None), [owner])
        return made

    return x(x), codegen


overload(lent)(lambda x: lambda x: _lent(x))
