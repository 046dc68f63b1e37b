"""Sums of three: x + c a b, x + c a / b, and the way from a to b."""

import numpy as np

from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops._complex import analytic
from badak.ops.op import Op


class Addcmul(Op):
    """y = x + c a b;   dx = dy, da = c dy b, db = c dy a."""

    owns_grads = False
    light_for = (0,)

    @staticmethod
    @elementwise
    def forward(save, x, a, b, c):
        save.shape, save.a, save.b, save.c = x.shape, a, b, c
        return x + a * b * c if c != 1 else x + a * b

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        a, b, c = saved.a, saved.b, saved.c
        nx, na, nb = saved.needs
        return (
            unbroadcast(dy, saved.shape) if nx else None,
            unbroadcast(dy * b * c, a.shape) if na else None,
            unbroadcast(dy * a * c, b.shape) if nb else None,
        )


class Addcdiv(Op):
    """y = x + c a / b;   dx = dy, da = c dy / b, db = -c dy a / b^2."""

    owns_grads = False

    @staticmethod
    @elementwise
    def forward(save, x, a, b, c):
        save.shape, save.a, save.b, save.c = x.shape, a, b, c
        return x + a / b * c if c != 1 else x + a / b

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        a, b, c = saved.a, saved.b, saved.c
        nx, na, nb = saved.needs
        g = dy / b * c
        return (
            unbroadcast(dy, saved.shape) if nx else None,
            unbroadcast(g, a.shape) if na else None,
            unbroadcast(-g * (a / b), b.shape) if nb else None,
        )


class LerpBy(Op):
    """y = a + c (b - a);   da = (1 - c) dy, db = c dy.

    Computed from the nearer end, as b - (1 - c) (b - a) for c >= 1/2, so that c = 1 gives exactly b.
    """

    saves_no_tensors = True

    @staticmethod
    @elementwise
    def forward(save, a, b, c):
        save.shapes, save.c = (a.shape, b.shape), c
        return a + c * (b - a) if abs(c) < 0.5 else b - (b - a) * (1 - c)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        (na, nb), (sa, sb), c = saved.needs, saved.shapes, saved.c
        return unbroadcast(dy * (1 - c), sa) if na else None, unbroadcast(dy * c, sb) if nb else None


class Lerp(Op):
    """y = a + w (b - a);   da = (1 - w) dy, db = w dy, dw = (b - a) dy."""

    @staticmethod
    @elementwise
    def forward(save, a, b, w):
        save.a, save.b, save.w = a, b, w
        return np.where(np.abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w))

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        a, b, w = saved.a, saved.b, saved.w
        na, nb, nw = saved.needs
        return (
            unbroadcast(dy * (1 - w), a.shape) if na else None,
            unbroadcast(dy * w, b.shape) if nb else None,
            unbroadcast(dy * (b - a), w.shape) if nw else None,
        )
