"""Functions of mathematics beyond the exponentials: error and gamma functions, entropies, choices that know NaN and signs."""

import numpy as np

from badak.kernels.reference import special
from badak.ops._broadcast import elementwise, quiet, unbroadcast
from badak.ops._complex import analytic
from badak.ops.op import Op

TWO_OVER_ROOT_PI, HALF_ROOT_PI = 1.1283791670955126, 0.886226925452758


class Erfc(Op):
    """y = 1 - erf(x), exact where it is small;   dx = -2/sqrt(pi) exp(-x^2) dy."""

    @staticmethod
    def forward(save, x):
        save.x = x
        return special.erfc(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * (np.exp(-np.square(saved.x)) * -TWO_OVER_ROOT_PI)


class Erfinv(Op):
    """y with erf(y) = x;   dx = sqrt(pi)/2 exp(y^2) dy."""

    @staticmethod
    def forward(save, x):
        save.y = y = special.erfinv(x)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * (np.exp(np.square(saved.y)) * HALF_ROOT_PI)


class Lgamma(Op):
    """y = ln |Gamma(x)|;   dx = dy digamma(x)."""

    @staticmethod
    def forward(save, x):
        save.x = x
        return special.lgamma(x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * special.digamma(saved.x)


class Polygamma(Op):
    """y = the n-th derivative of digamma, n = 0 digamma itself;   dx = dy polygamma(n + 1, x)."""

    @staticmethod
    def forward(save, x, n):
        save.x, save.n = x, n
        return special.polygamma(n, x)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return dy * special.polygamma(saved.n + 1, saved.x)


class Xlogy(Op):
    """y = a ln b, 0 where a = 0, NaN where b is;   da = dy ln b, 0 where a = 0 and b <= 0;   db = dy a / b."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.where((a == 0) & (b == b), a.dtype.type(0), a * np.log(b))

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        da = unbroadcast(dy * np.where((a == 0) & (b <= 0), a.dtype.type(0), np.log(b)), a.shape) if saved.needs[0] else None
        return da, unbroadcast(dy * (a / b), b.shape) if saved.needs[1] else None


class Xlog1py(Op):
    """y = a ln(1 + b), 0 where a = 0, NaN where b is;   da = dy ln(1 + b), 0 where a = 0 and b <= -1;   db = dy a / (1 + b)."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.where((a == 0) & (b == b), a.dtype.type(0), a * np.log1p(b))

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        da = unbroadcast(dy * np.where((a == 0) & (b <= -1), a.dtype.type(0), np.log1p(b)), a.shape) if saved.needs[0] else None
        return da, unbroadcast(dy * (a / (b + 1)), b.shape) if saved.needs[1] else None


class Logit(Op):
    """y = ln(z / (1 - z)), z = x kept in [eps, 1 - eps];   dx = dy / (x (1 - x)), 0 outside. eps None: z = x, and NaN outside."""

    @staticmethod
    @elementwise
    def forward(save, x, eps=None):
        save.x, save.eps = x, eps
        z = x if eps is None else np.clip(x, eps, 1 - eps)
        return np.log(z / (1 - z))

    @staticmethod
    @quiet
    def backward(saved, dy):
        x, eps = saved.x, saved.eps
        low, high, beyond = (0, 1, np.nan) if eps is None else (eps, 1 - eps, 0)
        return np.where((x >= low) & (x <= high), dy / (x * (1 - x)), x.dtype.type(beyond))


class Sinc(Op):
    """y = sin(pi x) / (pi x), 1 at 0;   dx = dy (cos(pi x) - y) / x, 0 at 0."""

    @staticmethod
    @elementwise
    def forward(save, x):
        z = x * np.pi
        save.x, save.y = x, np.where(x == 0, x.dtype.type(1), np.sin(z) / z)
        return save.y

    @staticmethod
    @quiet
    @analytic
    def backward(saved, dy):
        x = saved.x
        return np.where(x == 0, x.dtype.type(0), dy * ((np.cos(x * np.pi) - saved.y) / x))


class Copysign(Op):
    """y = |a| with the sign of b;   da = dy y / a, 0 at 0;   db = 0."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        save.y = y = np.copysign(a, b)
        return y

    @staticmethod
    @quiet
    def backward(saved, dy):
        a, b = saved.a, saved.b
        da = unbroadcast(np.where(a == 0, a.dtype.type(0), dy * (saved.y / a)), a.shape) if saved.needs[0] else None
        return da, np.zeros(b.shape, dy.dtype) if saved.needs[1] else None


class NextAfter(Op):
    """y = the float next to a in the direction of b;   da = dy;   db = 0."""

    name = "nextafter"

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.shapes = a.shape, b.shape
        return np.nextafter(a, b)

    @staticmethod
    def backward(saved, dy):
        a, b = saved.shapes
        return unbroadcast(dy * 1, a) if saved.needs[0] else None, np.zeros(b, dy.dtype) if saved.needs[1] else None


class Fmax(Op):
    """y = the larger of a and b, the other where one is NaN;   dy goes to the one that is taken, to a where they are equal."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.fmax(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _to_one(saved, dy, (saved.a >= saved.b) | (saved.b != saved.b))


class Fmin(Op):
    """y = the smaller of a and b, the other where one is NaN;   dy goes to the one that is taken, to a where they are equal."""

    @staticmethod
    @elementwise
    def forward(save, a, b):
        save.a, save.b = a, b
        return np.fmin(a, b)

    @staticmethod
    @quiet
    def backward(saved, dy):
        return _to_one(saved, dy, (saved.a <= saved.b) | (saved.b != saved.b))


def _to_one(saved, dy, first):
    return tuple(
        unbroadcast(dy * taken, x.shape) if need else None
        for x, taken, need in zip((saved.a, saved.b), (first, ~first), saved.needs)
    )
