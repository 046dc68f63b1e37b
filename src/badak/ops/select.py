"""Choosing, element by element: bounds, the larger of two, one or the other by a mask."""

import numpy as np

from badak.graph import Op
from badak.kernels.order import row_major
from badak.ops._broadcast import elementwise, quiet, unbroadcast


class Clamp(Op):
    """y = min(max(x, lo), hi) for numbers lo, hi (None: no bound);   dx = dy [lo <= x <= hi]."""

    fresh = True

    @staticmethod
    @elementwise
    def forward(save, x, lo, hi):
        save.x, save.lo, save.hi = x, lo, hi
        y = x if lo is None else np.maximum(x, lo)
        return y if hi is None else np.minimum(y, hi)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, lo, hi = saved.x, saved.lo, saved.hi
        inside = x >= lo if lo is not None else x <= hi
        if lo is not None and hi is not None:
            inside &= x <= hi
        return dy * inside


class ClampBetween(Op):
    """y = min(max(x, lo), hi) for arrays lo, hi (None: no bound).

    dx = dy [lo <= x <= hi];   dlo = dy [x < lo < hi];   dhi = dy [x > hi or hi < lo].
    """

    name = "clamp"
    fresh = True

    @staticmethod
    @elementwise
    def forward(save, x, lo, hi):
        save.x, save.lo, save.hi = x, lo, hi
        y = x if lo is None else np.maximum(x, lo)
        return y if hi is None else np.minimum(y, hi)

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, lo, hi = saved.x, saved.lo, saved.hi
        nx, nlo, nhi = saved.needs
        below = False if lo is None else x < lo
        above = False if hi is None else x > hi
        crossed = False if lo is None or hi is None else hi < lo
        dx = unbroadcast(dy * np.logical_not(below | above), x.shape) if nx else None
        dlo = unbroadcast(dy * (below & np.logical_not(crossed)), lo.shape) if nlo else None
        return dx, dlo, unbroadcast(dy * (above | crossed), hi.shape) if nhi else None


class Maximum(Op):
    """y = max(a, b);   dy goes to the larger one, and half of it to each where they are equal."""

    fresh = True

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.maximum(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _to_the_chosen(saved, dy, saved.a < saved.b, saved.a > saved.b)


class Minimum(Op):
    """y = min(a, b);   dy goes to the smaller one, and half of it to each where they are equal."""

    fresh = True

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.minimum(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _to_the_chosen(saved, dy, saved.a > saved.b, saved.a < saved.b)


def _to_the_chosen(saved, dy, b_wins, a_wins):
    a, b = saved.a, saved.b
    na, nb = saved.needs
    zero = dy.dtype.type(0)
    g = np.where(a == b, dy * 0.5, dy)
    da = unbroadcast(np.where(b_wins, zero, g), a.shape) if na else None
    return da, unbroadcast(np.where(a_wins, zero, g), b.shape) if nb else None


class Where(Op):
    """y = a where keep, else b;   da = dy where keep, else 0;   db = 0 where keep, else dy."""

    moves = True
    fresh = True

    @staticmethod
    @elementwise
    def forward(save, keep, a, b):
        save.keep, save.shapes = keep, (a.shape, b.shape)
        return np.where(keep, a, b)

    @staticmethod
    def backward(saved, dy):
        keep, (sa, sb) = saved.keep, saved.shapes
        _, na, nb = saved.needs
        zero = dy.dtype.type(0)
        da = unbroadcast(np.where(keep, dy, zero), sa) if na else None
        return None, da, unbroadcast(np.where(keep, zero, dy), sb) if nb else None


class MaskedFill(Op):
    """y = c where mask, else x;   dx = 0 where mask, else dy."""

    moves = True
    fresh = True

    @staticmethod
    def forward(save, x, mask, c):
        save.mask, save.shape = mask, x.shape
        return row_major(np.where(mask, x.dtype.type(c), x))

    @staticmethod
    def backward(saved, dy):
        return unbroadcast(np.where(saved.mask, dy.dtype.type(0), dy), saved.shape), None
