"""Backwards of error functions, gamma functions and Bessel functions: each asks for another function of the same kinds."""

import numpy as np

from badak.ops import bessel, special
from badak.tensor.double_backward.array import NotRecordable, Recorded, run
from badak.tensor.double_backward.formulas import of, summed

MOST = 100_000  # terms of a series


@of(special.Lgamma)
def lgamma(saved, dy):
    return dy * run(special.Polygamma, saved.x, n=0)


@of(special.Polygamma)
def polygamma(saved, dy):
    return dy * run(special.Polygamma, saved.x, n=saved.n + 1)


@of(bessel.I0)
def i0(saved, dy):
    return dy * run(bessel.I1, saved.x)


@of(bessel.I0e)
def i0e(saved, dy):
    return dy * (run(bessel.I1e, saved.x) - np.sign(saved.x) * saved.y)


@of(bessel.I1)
def i1(saved, dy):
    x = saved.x
    return dy * np.where(x == 0, 0.5, run(bessel.I0, x) - saved.y / _without_zero(x))


@of(bessel.I1e)
def i1e(saved, dy):
    x = saved.x
    slope = run(bessel.I0e, x) - saved.y * (np.sign(x) + 1 / _without_zero(x))
    return dy * np.where(x == 0, 0.5, slope)


@of(bessel.GammaInc)
def gammainc(saved, dy):
    """dy dP/dx and dy dP/da, with P(a, x) = sum over k >= 0 of t_k, t_k = x^(a+k) exp(-x) / Gamma(a + k + 1).

    dP/da = sum of t_k (ln x - digamma(a + k + 1)), 0 at x = 0.
    """
    a, x = saved.a, saved.x
    da = dx = None
    if saved.needs[1]:
        p = np.exp((a - 1) * np.log(x) - x - run(special.Lgamma, a))
        dx = summed(dy * p, x.shape)
    if saved.needs[0]:
        da = summed(dy * np.where(x == 0, 0, _slope(a, _without_zero(x))), a.shape)
    return da, dx


@of(bessel.GammaIncC)
def gammaincc(saved, dy):
    return gammainc(saved, -dy)


def _slope(a: Recorded, x: Recorded) -> Recorded:
    """dP/da in float64: the terms side by side along a last axis, as many as count: they fall fast from k = x on."""
    most = max(1.0, np.max(x.values, initial=0, where=np.isfinite(x.values)))
    count = int(most + 12 * np.sqrt(most) + 40)
    if count > MOST:
        raise NotRecordable(f"a series of {count} terms")
    b, x = a.astype(np.float64)[..., None] + np.arange(1, count + 1), x.astype(np.float64)[..., None]
    log = np.log(x)
    terms = np.exp((b - 1) * log - x - run(special.Lgamma, b))
    return (terms * (log - run(special.Polygamma, b, n=0))).sum(axis=-1).astype(a.dtype)


def _without_zero(x):
    """x, 1 where it is 0, so that what stands there has slopes that are numbers."""
    return np.where(x == 0, 1, x)
