"""What a write into a view does to the history of the memory below it."""

from typing import Any

import numpy as np

from badak.core.memory import opened
from badak.kernels.memory_format import copied
from badak.ops._broadcast import zeros
from badak.ops.op import Op, Saved


class WriteView(Op):
    """base with the part that `steps` lead to replaced by value.

    y = base, y[steps] = value         dbase = dy, dbase[steps] = 0        dvalue = dy[steps]
    """

    data_movement = True
    batching = None

    @staticmethod
    def forward(save: Saved, base: np.ndarray, value: np.ndarray, steps: tuple) -> np.ndarray:
        save.base, save.steps = base, steps
        y = copied(base)  # the strides of the base, so that the same views of it exist
        _see(y, steps)[...] = value
        return y

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        dbase = np.empty_like(saved.base)
        dbase[...] = dy
        part = _see(dbase, saved.steps)
        dvalue = part.copy()
        part[...] = 0
        return dbase, dvalue

    @staticmethod
    def double_backward(saved: Any, dy: Any) -> tuple:
        part = dy
        for op, attributes, slot in saved.steps:
            part = op.of(part, **attributes)
            part = part[slot] if type(part) is tuple else part
        return WriteView.of(dy, zeros(part.shape, dy), steps=saved.steps), part


class Replaced(Op):
    """y = value, which stands in the place of x, or was drawn by the numbers in the xs;   dvalue = dy, dx = 0.

    They have a part in the graph all the same: their gradient is 0 and not absent.
    """

    data_movement = True
    batching = None

    @staticmethod
    def forward(save: Saved, value: np.ndarray, *xs: Any) -> np.ndarray:
        save.like = [(x.shape, x.dtype) for x in xs]
        return copied(value)

    @staticmethod
    def backward(saved: Any, dy: np.ndarray) -> tuple:
        return dy.copy(), *(np.zeros(*like) for like in saved.like)


def _see(array: np.ndarray, steps: tuple) -> np.ndarray:
    for op, attributes, slot in steps:
        made = op.forward(Saved((False,)), array, **attributes)
        array = made[slot] if type(made) is tuple else made
    return opened(array)
