"""How far one distribution is from another."""

from collections.abc import Callable
from math import inf
from typing import Any

from badak.autograd import grad
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, expect_function, tr
from badak.distributions.bernoulli import Bernoulli
from badak.distributions.categorical import Categorical
from badak.distributions.continuous import Laplace, Normal, Uniform
from badak.distributions.discrete import Geometric, OneHotCategorical, Poisson
from badak.distributions.distribution import Distribution
from badak.distributions.exp_family import ExponentialFamily
from badak.distributions.kl_pairs import PAIRS as OF_TWO_FAMILIES
from badak.distributions.kl_pairs import no_formula
from badak.distributions.mixed import LowRankMultivariateNormal
from badak.distributions.multivariate import Independent, MultivariateNormal, _batch_mahalanobis
from badak.distributions.positive import Beta, Dirichlet, Exponential, Gamma
from badak.distributions.transformed import HalfNormal, TransformedDistribution
from badak.distributions.transforms import summed
from badak.nn.functional import softplus
from badak.tensor import Tensor, digamma, lgamma, linalg, where


def register_kl(type_p: type, type_q: type) -> Callable[[Callable], Callable]:
    """Decorator: a function (p, q) is the divergence of distributions of these classes, or of those derived from them."""
    for each in (type_p, type_q):
        if not isinstance(each, type):
            raise ArgumentTypeError(tr("Expected a distribution class but got {}", each), "@register_kl(Normal, Normal)")

    def register(function: Callable) -> Callable:
        expect_function("register_kl", function)
        PAIRS[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q) = E_p[log p - log q], in nats."""
    fitting = [pair for pair in PAIRS if isinstance(p, pair[0]) and isinstance(q, pair[1])]
    if fitting:
        nearest = min(fitting, key=lambda pair: type(p).__mro__.index(pair[0]) + type(q).__mro__.index(pair[1]))
        return PAIRS[nearest](p, q)
    raise no_formula(p, q)


def _categorical(p: Categorical, q: Categorical) -> Tensor:
    t = p.probs * (p.logits - q.logits)
    t = where((q.probs == 0).expand(t.shape), t.new_full((), inf), t)
    t = where((p.probs == 0).expand(t.shape), t.new_full((), 0.0), t)
    return t.sum(-1)


def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    one = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    one = where(q.probs == 0, one.new_full((), inf), one)
    one = where(p.probs == 0, one.new_full((), 0.0), one)
    zero = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zero = where(q.probs == 1, zero.new_full((), inf), zero)
    zero = where(p.probs == 1, zero.new_full((), 0.0), zero)
    return one + zero


def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _uniform(p: Uniform, q: Uniform) -> Tensor:
    y = ((q.high - q.low) / (p.high - p.low)).log()
    return where((q.low > p.low) | (q.high < p.high), y.new_full((), inf), y)


def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    t = (a - b) * (digamma(a) - digamma(total).unsqueeze(-1))
    return lgamma(total) - lgamma(b.sum(-1)) - (lgamma(a) - lgamma(b)).sum(-1) + t.sum(-1)


def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._both, q._both)


def _laplace(p: Laplace, q: Laplace) -> Tensor:
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + far / q.scale + ratio * (-far / p.scale).exp() - 1


def _multivariate(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ArgumentError("KL-divergence between two Multivariate Normals with different event shapes cannot be computed", None)
    logs = q._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1) - p._unbroadcasted_scale_tril.diagonal(
        0, -2, -1
    ).log().sum(-1)
    turned = linalg.solve_triangular(q._unbroadcasted_scale_tril, p._unbroadcasted_scale_tril, upper=False)
    apart = _batch_mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return logs + 0.5 * (turned.pow(2).sum((-2, -1)) + apart - p.event_shape[0])


def _full(p: LowRankMultivariateNormal) -> MultivariateNormal:
    """The same with its whole covariance: n^3 steps, where PyTorch takes n k^2."""
    return MultivariateNormal(p.loc, covariance_matrix=p.covariance_matrix, validate_args=False)


def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The Bregman divergence of the log normalizer between the natural parameters."""
    if type(p) is not type(q):
        raise no_formula(p, q)
    given = [x.detach().requires_grad_() for x in p._natural_params]
    norm = p._log_normalizer(*given)
    slopes = grad(norm.sum(), given, create_graph=True)
    y = q._log_normalizer(*q._natural_params) - norm
    for a, b, slope in zip(given, q._natural_params, slopes):
        y = y - summed((b - a) * slope, len(q.event_shape))
    return y


def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotSupportedError("kl_divergence: two Independent of another number of dims", "the same reinterpreted_batch_ndims")
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


def _of_bases(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """A transform that both share changes nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise no_formula(p, q)
    return kl_divergence(p.base_dist, q.base_dist)


PAIRS: dict[tuple[type, type], Any] = {
    (Categorical, Categorical): _categorical,
    (OneHotCategorical, OneHotCategorical): lambda p, q: _categorical(p._categorical, q._categorical),
    (Bernoulli, Bernoulli): _bernoulli,
    (Normal, Normal): _normal,
    (Uniform, Uniform): _uniform,
    (Exponential, Exponential): _exponential,
    (Gamma, Gamma): _gamma,
    (Dirichlet, Dirichlet): _dirichlet,
    (Beta, Beta): _beta,
    (Laplace, Laplace): _laplace,
    (Poisson, Poisson): lambda p, q: p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate),
    (Geometric, Geometric): lambda p, q: -p.entropy() - (-q.probs).log1p() / p.probs - q.logits,
    (MultivariateNormal, MultivariateNormal): _multivariate,
    (Independent, Independent): _independent,
    (TransformedDistribution, TransformedDistribution): _of_bases,
    (HalfNormal, HalfNormal): lambda p, q: _normal(p.base_dist, q.base_dist),
    (LowRankMultivariateNormal, LowRankMultivariateNormal): lambda p, q: _multivariate(_full(p), _full(q)),
    (LowRankMultivariateNormal, MultivariateNormal): lambda p, q: _multivariate(_full(p), q),
    (MultivariateNormal, LowRankMultivariateNormal): lambda p, q: _multivariate(p, _full(q)),
    (ExponentialFamily, ExponentialFamily): _exponential_family,
    **OF_TWO_FAMILIES,
}
events.for_all(globals(), "PAIRS")
