"""Mixtures, normal vectors of low rank, and choices made soft so that gradients reach their probabilities."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.distributions import constraints
from badak.distributions.bernoulli import Bernoulli
from badak.distributions.categorical import Categorical
from badak.distributions.discrete import Classes
from badak.distributions.distribution import Distribution, broadcast_all, clamp_probs
from badak.distributions.transformed import TransformedDistribution
from badak.distributions.transforms import ExpTransform, SigmoidTransform
from badak.tensor import Size, Tensor, linalg, rand, randn, tensor


class MixtureSameFamily(Distribution):
    """One of the distributions along the last batch dim, as a Categorical chooses.   log_prob = logsumexp(log w + log_prob)."""

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        mixture, component = mixture_distribution, component_distribution
        if not isinstance(mixture, Categorical):
            raise ArgumentError("The Mixture distribution needs to be an instance of Categorical", "Categorical(logits=...)")
        k = component.batch_shape[-1] if component.batch_shape else None
        if k != mixture.logits.shape[-1]:
            cause = tr("`mixture_distribution component` ({}) does not equal `component_distribution.batch_shape[-1]` ({})",
                       mixture.logits.shape[-1], k)  # fmt: skip
            raise ArgumentError(cause, "as many weights as components")
        self.mixture_distribution, self.component_distribution = mixture, component
        super().__init__(component.batch_shape[:-1], component.event_shape, validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        return self.component_distribution.support

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        k = self.component_distribution.batch_shape[-1]
        made.component_distribution = self.component_distribution.expand((*batch_shape, k))
        made.mixture_distribution = self.mixture_distribution.expand(tuple(batch_shape))
        return made

    def _weights(self) -> Tensor:
        w = self.mixture_distribution.probs
        return w.reshape(*w.shape, *(1,) * len(self.event_shape))

    _axis = property(lambda self: -1 - len(self.event_shape))
    mean = property(lambda self: (self._weights() * self.component_distribution.mean).sum(self._axis))

    @property
    def variance(self) -> Tensor:
        """The mean of the variances, and the variance of the means."""
        w, means = self._weights(), self.component_distribution.mean
        spread = means - self.mean.unsqueeze(self._axis)
        return (w * self.component_distribution.variance).sum(self._axis) + (w * spread.pow(2)).sum(self._axis)

    def cdf(self, value: Tensor) -> Tensor:
        found = self.component_distribution.cdf(value.unsqueeze(self._axis))
        return (found * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        each = self.component_distribution.log_prob(value.unsqueeze(self._axis))
        return (each + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws of all components, of which one is kept."""
        chosen = self.mixture_distribution.sample(sample_shape)
        drawn = self.component_distribution.sample(sample_shape)
        at = chosen.reshape(*chosen.shape, 1, *(1,) * len(self.event_shape))
        place = len(sample_shape) + len(self.batch_shape)
        at = at.expand(*chosen.shape, 1, *self.event_shape)
        return drawn.gather(place, at).squeeze(place)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


class LowRankMultivariateNormal(Distribution):
    """x = loc + W z + sqrt(D) e: covariance W W' + diag(D), W (n, k).   log_prob by the k x k matrix I + W' D^-1 W alone.

    |x|^2 / covariance = |x / sqrt(D)|^2 - |L^-1 W' D^-1 x|^2, L L' = I + W' D^-1 W (Woodbury).
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.", "loc.unsqueeze(0)")
        n = loc.shape[-1]
        if cov_factor.dim() < 2 or cov_factor.shape[-2] != n:
            cause = tr("cov_factor must be a batch of matrices with shape {} x m", n)
            raise ArgumentError(cause, "cov_factor (..., n, m) with loc (..., n)")
        if cov_diag.shape[-1:] != (n,):
            raise ArgumentError(tr("cov_diag must be a batch of vectors with shape {}", n), "cov_diag (..., n) with loc (..., n)")
        from_all = [loc.unsqueeze(-1), cov_factor[..., :1], cov_diag.unsqueeze(-1)]
        batch = broadcast_all(*from_all)[0].shape[:-2]
        self.loc, self.cov_diag = loc.expand(*batch, n), cov_diag.expand(*batch, n)
        self.cov_factor = cov_factor.expand(*batch, *cov_factor.shape[-2:])
        super().__init__(batch, (n,), validate_args)

    def _small(self) -> Tensor:
        """L."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = scaled @ self.cov_factor
        one = tensor([[float(i == j) for j in range(inner.shape[-1])] for i in range(inner.shape[-1])], dtype=inner.dtype)
        return linalg.cholesky(inner + one)

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self.cov_factor.pow(2).sum(-1) + self.cov_diag)
    covariance_matrix = property(lambda self: self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed())
    precision_matrix = property(lambda self: linalg.inv(self.covariance_matrix))
    scale_tril = property(lambda self: linalg.cholesky(self.covariance_matrix))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """loc + W z + sqrt(D) e: gradients reach all three."""
        shape = self._extended_shape(sample_shape)
        z = randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype)
        e = randn(shape, dtype=self.loc.dtype)
        return self.loc + (self.cov_factor @ z.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * e

    def _log_det(self, small: Tensor) -> Tensor:
        return 2 * small.diagonal(0, -2, -1).log().sum(-1) + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        small, away = self._small(), value - self.loc
        seen = (self.cov_factor.mT / self.cov_diag.unsqueeze(-2)) @ away.unsqueeze(-1)
        less = linalg.solve_triangular(small, seen, upper=False).squeeze(-1).pow(2).sum(-1)
        size = (away.pow(2) / self.cov_diag).sum(-1) - less
        return -0.5 * (self.event_shape[0] * math.log(2 * math.pi) + self._log_det(small) + size)

    def entropy(self) -> Tensor:
        n = self.event_shape[0]
        return 0.5 * (n * (1.0 + math.log(2 * math.pi)) + self._log_det(self._small()))


class LogitRelaxedBernoulli(Distribution):
    """The logit of a coin made soft: (logits + logistic noise) / temperature.

    Source: Maddison, Mnih and Teh 2017, "The Concrete distribution".
    """

    has_rsample = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature, self._coin = temperature, Bernoulli(probs, logits, validate_args)
        super().__init__(self._coin.batch_shape, validate_args=validate_args)

    logits = property(lambda self: self._coin.logits)
    probs = property(lambda self: self._coin.probs)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made._coin = self._coin.expand(batch_shape)
        return made

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """(ln u - ln(1 - u) + ln p - ln(1 - p)) / temperature."""
        shape = self._extended_shape(sample_shape)
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(rand(shape, dtype=p.dtype))
        return (u.log() - (-u).log1p() + p.log() - (-p).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        away = self.logits - value * self.temperature
        return _log(self.temperature) + away - 2 * away.exp().log1p()


def _log(temperature):
    return temperature.log() if isinstance(temperature, Tensor) else math.log(temperature)


class RelaxedBernoulli(TransformedDistribution):
    """A coin made soft, between 0 and 1: the sigmoid of LogitRelaxedBernoulli."""

    has_rsample = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


class ExpRelaxedCategorical(Classes):
    """The logarithm of a choice made soft: log_softmax((logits + Gumbel noise) / temperature). Source: Maddison et al. 2017."""

    has_rsample = True
    support = constraints.real_vector

    def __init__(
        self, temperature: Tensor, probs: Any = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self.temperature, self._categorical = temperature, Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """log_softmax((logits - ln(-ln u)) / temperature)."""
        u = clamp_probs(rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        return ((self.logits - (-u.log()).log()) / self.temperature).log_softmax(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        k = self.event_shape[0]
        score = (self.logits.log_softmax(-1) - value * self.temperature).log_softmax(-1).sum(-1)
        return score + math.lgamma(k) + (k - 1) * _log(self.temperature)


class RelaxedOneHotCategorical(TransformedDistribution):
    """A choice made soft, a vector that sums to 1: exp of ExpRelaxedCategorical."""

    has_rsample = True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Tensor, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits), ExpTransform(), validate_args)

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)
