"""torch.special: error functions, gamma functions and their kin, element by element, with gradients.

An integer input gives the default float dtype. Computed in float64 and rounded to the dtype of the input.
"""

import math

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, DTypeError
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.kernels.reference import special as kernels
from badak.ops import bessel
from badak.ops import special as ops
from badak.tensor import dtypes
from badak.tensor.apply import apply
from badak.tensor.arithmetic import tensors
from badak.tensor.convert import cast
from badak.tensor.elementwise import (
    erf,
    exp2,
    expm1,
    float_function,
    log1p,
    log_softmax,
    round,
    sigmoid,
    softmax,
    where,
)
from badak.tensor.promote import binary, floating, into
from badak.tensor.reduce import logsumexp
from badak.tensor.tensor import Tensor

__all__ = [
    "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gammainc", "gammaincc", "gammaln",
    "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "log_softmax", "logit", "logsumexp", "multigammaln", "ndtr",
    "ndtri", "polygamma", "psi", "round", "sinc", "softmax", "xlog1py", "xlogy", "zeta",
]  # fmt: skip

erfc = float_function("erfc", ops.Erfc)
erfinv = float_function("erfinv", ops.Erfinv)
lgamma = gammaln = float_function("lgamma", ops.Lgamma)
i0 = float_function("i0", bessel.I0)
i0e = float_function("i0e", bessel.I0e)
i1 = float_function("i1", bessel.I1)
i1e = float_function("i1e", bessel.I1e)
erfcx = float_function("erfcx", bessel.Erfcx)
sinc = float_function("sinc", ops.Sinc)
expit = sigmoid


def digamma(input, *, out=None) -> Tensor:
    """d/dx ln Gamma(x): NaN at -1, -2, ..., infinite at 0.   dx = dy polygamma(1, x)."""
    return polygamma(0, input, out=out)


psi = digamma


def polygamma(n: int, input=None, *, out=None) -> Tensor:
    """The n-th derivative of digamma.   dx = dy polygamma(n + 1, x).   x.polygamma(n) is the method."""
    n, x = (input, n) if isinstance(n, Tensor) else (n, input)
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ArgumentError(f"polygamma(n, x) does not support negative n; got n={_shown(n)}", "a whole number, polygamma(1, x)")
    return into(out, _by_kernel(ops.Polygamma, _real("polygamma", x), n=n))


def _shown(n) -> str:
    return repr(n) if isinstance(n, int | float) else f"a {type(n).__name__}"


def logit(input, eps=None, *, out=None) -> Tensor:
    """ln(x / (1 - x)), the inverse of sigmoid; eps keeps x in [eps, 1 - eps].   dx = dy / (x (1 - x)), 0 where it was kept."""
    return into(out, _by_kernel(ops.Logit, _real("logit", input), eps=eps))


def gammainc(input, other, *, out=None) -> Tensor:
    """P(a, x), the regularised lower incomplete gamma function of a = input and x = other.   dx = dy x^(a-1) exp(-x) / Gamma(a).

    Parity: `input` has its gradient here, which PyTorch refuses.
    """
    return into(out, _of_two("igamma", bessel.GammaInc, input, other))


def gammaincc(input, other, *, out=None) -> Tensor:
    """Q(a, x) = 1 - P(a, x), the upper one; see gammainc."""
    return into(out, _of_two("igammac", bessel.GammaIncC, input, other))


igamma, igammac = gammainc, gammaincc


def xlogy(input, other, *, out=None) -> Tensor:
    """input ln other, 0 where input is 0, NaN where other is."""
    return into(out, _of_two("xlogy", ops.Xlogy, input, other))


def xlog1py(input, other, *, out=None) -> Tensor:
    """input ln(1 + other), 0 where input is 0, NaN where other is."""
    return into(out, _of_two("xlog1py", ops.Xlog1py, input, other))


def mvlgamma(input, p: int) -> Tensor:
    """ln of the multivariate gamma function: p (p - 1) / 4 ln pi + sum over i < p of lgamma(x - i / 2)."""
    if p < 1:
        raise ArgumentError(f"p has to be greater than or equal to 1; got {p}", "p=1")
    x = _real("mvlgamma", input)
    parts = x.unsqueeze(-1) - Tensor._of(np.arange(p) / 2).to(x.dtype)
    return lgamma(parts).sum(-1) + p * (p - 1) / 4 * math.log(math.pi)


multigammaln = mvlgamma


def entr(input, *, out=None) -> Tensor:
    """-x ln x: 0 at 0, -inf below."""
    x = _real("entr", input)
    return into(out, where(x < 0, x.new_full((), -math.inf), -xlogy(x, x)))


def ndtr(input, *, out=None) -> Tensor:
    """The normal distribution function: erfc(-x / sqrt 2) / 2."""
    return into(out, erfc(_real("ndtr", input) * -math.sqrt(0.5)) * 0.5)


def ndtri(input, *, out=None) -> Tensor:
    """The normal quantile: x with ndtr(x) = p."""
    return into(out, erfinv(_real("ndtri", input) * 2 - 1) * math.sqrt(2))


def log_ndtr(input, *, out=None) -> Tensor:
    """ln ndtr(x): far below 0 -x^2 / 2 + ln(erfcx(-x / sqrt 2) / 2), exact however small ndtr(x) is."""
    x = _real("log_ndtr", input)
    low, high = where(x < -1, x, -1.0), where(x < -1, -1.0, x)
    far = (erfcx(low * -math.sqrt(0.5)) * 0.5).log() - low * low * 0.5
    return into(out, where(x < -1, far, (erfc(high * math.sqrt(0.5)) * -0.5).log1p()))


@events.pure
def zeta(input, other, *, out=None) -> Tensor:
    """Hurwitz' zeta function, the sum over k >= 0 of (other + k)^-input; without gradient."""
    a, b = tensors("zeta", input, other)
    a, b = _real("zeta", a), _real("zeta", b)
    return into(out, Tensor._of(kernels.zeta(a._array, b._array)))


def _real(name: str, x) -> Tensor:
    x = floating(x, name)
    if x.is_complex():
        raise DTypeError(f"{name}: expected real numbers; got {x.dtype}", "x.real")
    return x


def _by_kernel(op, x: Tensor, **attributes) -> Tensor:
    """16-bit floats go through float32, as in `float_function`."""
    if x._array.dtype.itemsize == 2:
        return cast(apply(op, cast(x, dtypes.float32), **attributes), x.dtype)
    return apply(op, x, **attributes)


def _of_two(name: str, op, input, other) -> Tensor:
    a, b = tensors(name, input, other)
    return binary(op, _real(name, a), _real(name, b))


__getattr__ = _door("badak.special")
_guard_names(globals(), __name__)
