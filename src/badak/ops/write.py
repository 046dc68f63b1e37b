"""What a write into a view does to the history of the memory below it."""

import numpy as np

from badak.graph import Op, Saved
from badak.kernels.order import copied


class WriteView(Op):
    """base with the part that `steps` lead to replaced by value.

    y = base, y[steps] = value         dbase = dy, dbase[steps] = 0        dvalue = dy[steps]
    """

    fresh = True

    @staticmethod
    def forward(save, base, value, steps):
        save.base, save.steps = base, steps
        y = copied(base)  # the strides of the base, so that the same views of it exist
        _see(y, steps)[...] = value
        return y

    @staticmethod
    def backward(saved, dy):
        dbase = np.empty_like(saved.base)
        dbase[...] = dy
        part = _see(dbase, saved.steps)
        dvalue = part.copy()
        part[...] = 0
        return dbase, dvalue


def _see(array, steps):
    for op, attributes, slot in steps:
        made = op.forward(Saved((False,)), array, **attributes)
        array = made[slot] if type(made) is tuple else made
    return array
