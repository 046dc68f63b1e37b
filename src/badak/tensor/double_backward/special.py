"""The slope of the incomplete gamma functions by their first argument, which the kernel computes and no operation does."""

import numpy as np

from badak.ops import bessel, special
from badak.tensor.double_backward.array import NotRecordable, Recorded, run
from badak.tensor.double_backward.formulas import of, summed

MOST = 100_000  # terms of a series


@of(bessel.GammaInc)
def gammainc(saved, dy):
    """dy dP/dx and dy dP/da, with P(a, x) = sum over k >= 0 of t_k, t_k = x^(a+k) exp(-x) / Gamma(a + k + 1).

    dP/da = sum of t_k (ln x - digamma(a + k + 1)), 0 at x = 0.
    """
    a, x = saved.a, saved.b
    da = dx = None
    if saved.needs[1]:
        dx = summed(dy * bessel.density(a, x), x.shape)
    if saved.needs[0]:
        da = summed(dy * np.where(x == 0, 0, _slope(a, bessel.without_zero(x))), a.shape)
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
