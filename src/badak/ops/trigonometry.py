"""Circular and hyperbolic functions and their inverses; angles in radians. (tanh is an activation.)"""

import numpy as np

from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops._complex import analytic, conj
from badak.ops.op import Op


class Sin(Op):
    """y = sin x;   dx = dy cos x."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.sin(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * conj(np.cos(saved.x))


class Cos(Op):
    """y = cos x;   dx = -dy sin x."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.cos(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return -dy * conj(np.sin(saved.x))


class Tan(Op):
    """y = tan x;   dx = dy (1 + y^2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.y = y = np.tan(x)
        return y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy * (1 + np.square(saved.y))


class Asin(Op):
    """y = arcsin x;   dx = dy / sqrt(1 - x^2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arcsin(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / np.sqrt(1 - np.square(saved.x))


class Acos(Op):
    """y = arccos x;   dx = -dy / sqrt(1 - x^2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arccos(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return -dy / np.sqrt(1 - np.square(saved.x))


class Atan(Op):
    """y = arctan x;   dx = dy / (1 + x^2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arctan(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / (1 + np.square(saved.x))


class Sinh(Op):
    """y = sinh x;   dx = dy cosh x."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.sinh(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy * np.cosh(saved.x)


class Cosh(Op):
    """y = cosh x;   dx = dy sinh x."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.cosh(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy * np.sinh(saved.x)


class Asinh(Op):
    """y = arsinh x;   dx = dy / sqrt(x^2 + 1)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arcsinh(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / np.sqrt(np.square(saved.x) + 1)


class Acosh(Op):
    """y = arcosh x;   dx = dy / sqrt(x^2 - 1), for complex x with the root's sign of sqrt(x - 1) sqrt(x + 1)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arccosh(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        x = saved.x
        if x.dtype.kind == "c":
            return dy / (np.sqrt(x - 1) * np.sqrt(x + 1))
        return dy / np.sqrt(np.square(x) - 1)


class Atanh(Op):
    """y = artanh x;   dx = dy / (1 - x^2)."""

    @staticmethod
    @elementwise
    def forward(save, x):
        save.x = x
        return np.arctanh(x)

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        return dy / (1 - np.square(saved.x))


class Atan2(Op):
    """y = the angle of the point (b, a), in (-pi, pi];   da = dy b / (a^2 + b^2), db = -dy a / (a^2 + b^2)."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.arctan2(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        na, nb = saved.needs
        r2 = np.square(a) + np.square(b)
        g = np.where(r2 == 0, dy.dtype.type(0), dy / r2)
        return unbroadcast(g * b, a.shape) if na else None, unbroadcast(-g * a, b.shape) if nb else None
