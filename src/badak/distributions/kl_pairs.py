"""KL(p || q) = -H(p) - E_p[log q] of distributions of two families: what log q(x) needs of p is a few expectations.

log q is a sum of x, x^2, ln x, ln(1 - x), exp((m - x) / s) and |x - m|, each with a factor; it is -inf where q has no values.
"""

import math
from collections.abc import Callable
from math import inf
from typing import Any

from badak.core.errors import NotSupportedError, tr
from badak.distributions.bernoulli import Bernoulli
from badak.distributions.continuous import Cauchy, Laplace, Normal, Uniform
from badak.distributions.discrete import Binomial, Poisson
from badak.distributions.positive import Beta, Exponential, Gamma
from badak.distributions.ratios import ContinuousBernoulli
from badak.distributions.transformed import EULER, Gumbel, Pareto
from badak.tensor import Tensor, broadcast_shapes, digamma, erf, lgamma, where, xlogy

_BY_DRAWS = tr("the mean of p.log_prob(x) - q.log_prob(x) over x = p.sample((n,))")


def no_formula(p: Any, q: Any) -> NotSupportedError:
    """What is raised where two families have no formula."""
    return NotSupportedError(tr("kl_divergence: no formula for {} and {}", type(p).__name__, type(q).__name__), _BY_DRAWS)


def _of_uniform(p: Uniform, reverse: bool = False) -> Tensor:
    """E ln x, or E ln(1 - x)."""
    a, b = (1 - p.high, 1 - p.low) if reverse else (p.low, p.high)
    return (xlogy(b, b) - xlogy(a, a)) / (b - a) - 1


LOG_X: dict[type, Callable[[Any], Tensor]] = {
    Beta: lambda p: digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -p.rate.log() - EULER,
    Gamma: lambda p: digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: _of_uniform,
}
DECAY: dict[type, Callable[[Any, Tensor, Tensor], Tensor]] = {  # E exp((m - x) / s), whose factors alone can be inf and 0
    Exponential: lambda p, m, s: (m / s - (1 / (p.rate * s)).log1p()).exp(),
    Gamma: lambda p, m, s: (m / s - p.concentration * (1 / (p.rate * s)).log1p()).exp(),
    Gumbel: lambda p, m, s: (lgamma(1 + p.scale / s) + (m - p.loc) / s).exp(),
    Normal: lambda p, m, s: (0.5 * (p.scale / s).pow(2) + (m - p.loc) / s).exp(),
    Uniform: lambda p, m, s: s * (((m - p.low) / s).exp() - ((m - p.high) / s).exp()) / (p.high - p.low),
}


def _known(table: dict[type, Callable], p: Any) -> Callable:
    """The expectation for the family of p, which may be of a class derived from it."""
    return next(table[kind] for kind in type(p).__mro__ if kind in table)


def _or_infinite(y: Tensor, outside: Tensor) -> Tensor:
    return where(outside, y.new_full((), inf), y)


def _infinite(p: Any, q: Any) -> Tensor:
    """p has values outside of all that q has."""
    return p.mean.new_full(broadcast_shapes(p.batch_shape, q.batch_shape), inf)


def _exponential(p: Any, q: Exponential) -> Tensor:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


def _gamma(p: Any, q: Gamma) -> Tensor:
    a, b = q.concentration, q.rate
    return -p.entropy() + lgamma(a) - a * b.log() - (a - 1) * _known(LOG_X, p)(p) + b * p.mean


def _normal(p: Any, q: Normal) -> Tensor:
    far = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + 0.5 * math.log(2 * math.pi) + q.scale.log() + far / (2 * q.scale.pow(2))


def _gumbel(p: Any, q: Gumbel) -> Tensor:
    s = q.scale
    return -p.entropy() + s.log() + (p.mean - q.loc) / s + _known(DECAY, p)(p, q.loc, s)


def _uniform(p: Any, q: Uniform) -> Tensor:
    """Of p on 0..1."""
    return _or_infinite(-p.entropy() + (q.high - q.low).log(), (q.low > 0) | (q.high < 1))


def _continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._log_norm()


def _uniform_pareto(p: Uniform, q: Pareto) -> Tensor:
    inside = p.low >= q.scale
    seen = Uniform(where(inside, p.low, q.scale), where(inside, p.high, q.scale + 1), validate_args=False)
    y = -seen.entropy() - q.alpha.log() - q.alpha * q.scale.log() + (q.alpha + 1) * _of_uniform(seen)
    return _or_infinite(y, inside.logical_not())


def _uniform_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    y = -p.entropy() + lgamma(a) + lgamma(b) - lgamma(a + b) - (a - 1) * _of_uniform(p) - (b - 1) * _of_uniform(p, True)
    return _or_infinite(y, (p.low < 0) | (p.high > 1))


def _normal_laplace(p: Normal, q: Laplace) -> Tensor:
    off = (p.loc - q.loc) / p.scale
    apart = p.scale * (math.sqrt(2 / math.pi) * (-0.5 * off.pow(2)).exp() + off * erf(math.sqrt(0.5) * off))
    return -p.entropy() + (2 * q.scale).log() + apart / q.scale


def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise NotSupportedError("KL between Binomials where q.total_count > p.total_count is not implemented", _BY_DRAWS)
    y = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return _or_infinite(y, p.total_count > q.total_count)


def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


def _pareto(p: Pareto, q: Pareto) -> Tensor:
    y = q.alpha * (p.scale / q.scale).log() - (q.alpha / p.alpha).log() + q.alpha / p.alpha - 1
    return _or_infinite(y, p.scale < q.scale)


def _above_0(formula: Callable[[Any, Any], Tensor]) -> Callable[[Uniform, Any], Tensor]:
    return lambda p, q: _or_infinite(formula(p, q), p.low < 0)


PAIRS: dict[tuple[type, type], Any] = {
    **{(kind, Exponential): _exponential for kind in (Beta, ContinuousBernoulli, Gamma, Pareto)},
    **{(kind, Gamma): _gamma for kind in (Beta, Exponential, Pareto)},
    **{(kind, Normal): _normal for kind in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform)},
    **{(kind, Gumbel): _gumbel for kind in (Exponential, Gamma, Gumbel, Normal, Uniform)},
    **{(kind, Uniform): _uniform for kind in (Beta, ContinuousBernoulli)},
    **{(kind, ContinuousBernoulli): _continuous_bernoulli for kind in (Beta, ContinuousBernoulli)},
    **{(kind, Pareto): _infinite for kind in (Beta, ContinuousBernoulli)},
    **{(kind, to): _infinite for kind in (Exponential, Gamma) for to in (Beta, ContinuousBernoulli, Pareto, Uniform)},
    **{(Pareto, to): _infinite for to in (Beta, ContinuousBernoulli, Uniform)},
    **{(Poisson, to): _infinite for to in (Bernoulli, Binomial)},
    **{
        (kind, to): _infinite
        for kind in (Gumbel, Laplace, Normal)
        for to in (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
    },
    (Uniform, Exponential): _above_0(_exponential),
    (Uniform, Gamma): _above_0(_gamma),
    (Uniform, ContinuousBernoulli): lambda p, q: _or_infinite(_continuous_bernoulli(p, q), (p.low < 0) | (p.high > 1)),
    (Uniform, Pareto): _uniform_pareto,
    (Uniform, Beta): _uniform_beta,
    (Normal, Laplace): _normal_laplace,
    (Bernoulli, Poisson): lambda p, q: -p.entropy() - p.probs * q.rate.log() + q.rate,
    (Binomial, Binomial): _binomial,
    (Cauchy, Cauchy): _cauchy,
    (Pareto, Pareto): _pareto,
}
