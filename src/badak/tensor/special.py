"""torch.special: error functions, gamma functions and their kin, element by element, with gradients.

An integer input gives the default float dtype. Computed in float64 and rounded to the dtype of the input.
"""

import math
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, tr
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.kernels.reference import special as kernels
from badak.ops import special as ops
from badak.ops._check import expect_floats
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.arithmetic import tensors
from badak.tensor.convert import cast
from badak.tensor.elementwise import log_softmax, round, softmax, where
from badak.tensor.pointwise import SPECIAL, erfc, erfcx, erfinv, lgamma, real
from badak.tensor.promote import into
from badak.tensor.reduce import logsumexp
from badak.tensor.tensor import Tensor

__all__ = [
    "digamma", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "polygamma", "psi",
    "round", "softmax", "zeta",
]  # fmt: skip
__all__.extend(SPECIAL)


def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """d/dx ln Gamma(x): NaN at -1, -2, ..., infinite at 0.   dx = dy polygamma(1, x)."""
    return polygamma(0, input, out=out)


psi = digamma


def polygamma(n: Any, input: Any = None, *, out: Any = None) -> Tensor:
    """The n-th derivative of digamma.   dx = dy polygamma(n + 1, x).   x.polygamma(n) is the method."""
    n, x = (input, n) if isinstance(n, Tensor) and not (isinstance(input, Tensor) and n.dim() == 0) else (n, input)
    if isinstance(n, Tensor) and n._array.dtype.kind in "iu":
        n = n.item()
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ArgumentError(tr("polygamma(n, x) does not support negative n; got n={}", _shown(n)), "an integer, polygamma(1, x)")
    return into(out, _by_kernel(ops.Polygamma, real("polygamma", x), n=n))


def _shown(n) -> str:
    return repr(n) if isinstance(n, int | float) else f"a {type(n).__name__}"


def logit(input: Tensor, eps: float | None = None, *, out: Tensor | None = None) -> Tensor:
    """ln(x / (1 - x)), the inverse of sigmoid; eps keeps x in [eps, 1 - eps].   dx = dy / (x (1 - x)), 0 where it was kept."""
    return into(out, _by_kernel(ops.Logit, real("logit", input), eps=eps))


def mvlgamma(input: Tensor, p: int, *, out: Tensor | None = None) -> Tensor:
    """ln of the multivariate gamma function: p (p - 1) / 4 ln pi + sum over i < p of lgamma(x - i / 2)."""
    if p < 1:
        raise ArgumentError(tr("p has to be greater than or equal to 1; got {}", p), "p=1")
    expect_floats("mvlgamma", input, also="iu")
    x = real("mvlgamma", input)
    parts = x.unsqueeze(-1) - Tensor._of(np.arange(p) / 2).to(x.dtype)
    return into(out, lgamma(parts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi))


multigammaln = mvlgamma


def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The normal distribution function: erfc(-x / sqrt 2) / 2."""
    return into(out, erfc(real("ndtr", input) * -math.sqrt(0.5)) * 0.5)


def ndtri(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The normal quantile: x with ndtr(x) = p."""
    return into(out, erfinv(real("ndtri", input) * 2 - 1) * math.sqrt(2))


def log_ndtr(input: Any, *, out: Any = None) -> Tensor:
    """ln ndtr(x): far below 0 -x^2 / 2 + ln(erfcx(-x / sqrt 2) / 2), exact however small ndtr(x) is."""
    x = real("log_ndtr", input)
    low, high = where(x < -1, x, -1.0), where(x < -1, -1.0, x)
    far = (erfcx(low * -math.sqrt(0.5)) * 0.5).log() - low * low * 0.5
    return into(out, where(x < -1, far, (erfc(high * math.sqrt(0.5)) * -0.5).log1p()))


@events.pure(elementwise=True)
def zeta(input: Tensor | float, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """Hurwitz' zeta function, the sum over k >= 0 of (other + k)^-input; without gradient."""
    a, b = tensors("zeta", input, other)
    a, b = real("zeta", a), real("zeta", b)
    return into(out, Tensor._of(kernels.zeta(a._array, b._array)))


def _by_kernel(op, x: Tensor, **attributes) -> Tensor:
    """16-bit floats go through float32, as in `float_function`."""
    if x._array.dtype.itemsize == 2:
        return cast(apply(op, cast(x, dtypes.float32), **attributes), x.dtype)
    return apply(op, x, **attributes)


globals().update(SPECIAL)
__getattr__, __dir__ = _door("badak.special")
_guard_names(globals(), "badak.special")
