"""Distributions of numbers between bounds, of ratios and of excesses over a threshold."""

import math
from collections.abc import Sequence
from typing import Any

from badak.distributions import constraints
from badak.distributions.continuous import Normal, Uniform
from badak.distributions.distribution import (
    Distribution,
    batch_of,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)
from badak.distributions.positive import Gamma
from badak.distributions.transformed import EULER, TransformedDistribution
from badak.distributions.transforms import AffineTransform, PowerTransform, StickBreakingTransform
from badak.nn.functional import binary_cross_entropy_with_logits
from badak.tensor import Size, Tensor, finfo, full_like, ones_like, rand, where


class ContinuousBernoulli(Distribution):
    """Numbers in [0, 1].   log_prob = x ln p + (1 - x) ln(1 - p) + ln C(p), C(p) = 2 artanh(1 - 2p) / (1 - 2p).

    Near p = 1/2, between the two `lims`, where C is 0 / 0, its Taylor series is taken.
    """

    has_rsample = True
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: Sequence[float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        one_of(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        (param,) = broadcast_all(given)
        if probs is not None:
            if validate_args is not False and self._validate_args:
                self._check(param, constraints.unit_interval, "probs")
            param = clamp_probs(param)
        self.__dict__[name], self._given, self._param, self._lims = param, (name,), param, lims
        super().__init__(batch_of(param, given), validate_args=validate_args)

    def _expanded(self):
        return {name: 0 for name in ("probs", "logits", "_param") if name in self.__dict__}

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    param_shape = property(lambda self: Size(self._param.shape))

    def _outside(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Tensor:
        """probs, where it is not near 1/2."""
        return where(self._outside(), self.probs, self._lims[0] * ones_like(self.probs))

    def _log_norm(self) -> Tensor:
        cut = self._cut()
        below = where(cut <= 0.5, cut, cut.new_zeros(()))
        above = where(cut >= 0.5, cut, cut.new_ones(()))
        stretched = ((-cut).log1p() - cut.log()).abs().log()
        log_norm = stretched - where(cut <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        x = (self.probs - 0.5).pow(2)
        return where(self._outside(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        cut, x = self._cut(), self.probs - 0.5
        far = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        return where(self._outside(), far, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Tensor:
        cut, x = self._cut(), (self.probs - 0.5).pow(2)
        far = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        return where(self._outside(), far, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    stddev = property(lambda self: self.variance.sqrt())

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """icdf of uniform numbers: gradients reach probs."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        cut = self._cut()
        far = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = where(self._outside(), far, value)
        return where(value <= 0.0, value.new_zeros(()), where(value >= 1.0, value.new_ones(()), inside))

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut()
        far = ((-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()) / (cut.log() - (-cut).log1p())
        return where(self._outside(), far, value)

    def entropy(self) -> Tensor:
        log0, log1 = (-self.probs).log1p(), self.probs.log()
        return self.mean * (log0 - log1) - self._log_norm() - log0


class FisherSnedecor(Distribution):
    """The ratio of two Chi2 numbers, each over its df."""

    has_rsample = True
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(batch_of(self.df1, df1, df2), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made._gamma1, made._gamma2 = self._gamma1.expand(batch_shape), self._gamma2.expand(batch_shape)
        return made

    @property
    def mean(self) -> Tensor:
        df2 = self.df2.clone()
        return (df2 / (df2 - 2)).masked_fill(df2 <= 2, math.nan)

    @property
    def mode(self) -> Tensor:
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return found.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach both."""
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        return above / below.clamp(min=finfo(below.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        first = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return first + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()


class Kumaraswamy(TransformedDistribution):
    """x = (1 - u^(1 / b))^(1 / a), a = concentration1, b = concentration0, u uniform."""

    has_rsample = True
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(full_like(self.concentration0, 0), full_like(self.concentration0, 1), validate_args=validate_args)
        steps = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """E x^n = b B(1 + n / a, b)."""
        a, b = 1 + n / self.concentration1, self.concentration0
        return (a.lgamma() + b.lgamma() - (a + b).lgamma()).exp() * b

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - self.mean.pow(2))

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        found = (a.reciprocal() * (-b).log1p() - a.reciprocal() * (-a * b).log1p()).exp()
        return found.masked_fill((a < 1) | (b < 1), math.nan)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        t1, t0 = 1 - a.reciprocal(), 1 - b.reciprocal()
        return t0 + t1 * ((b + 1).digamma() + EULER) - a.log() - b.log()


class GeneralizedPareto(Distribution):
    """x = loc + scale (u^(-concentration) - 1) / concentration; concentration 0 is the exponential one."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}

    def __init__(self, loc: Tensor, scale: Tensor, concentration: Tensor, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    def _flat(self) -> Tensor:
        return self.concentration.isclose(self.concentration.new_zeros(()))

    def _safe(self) -> Tensor:
        return where(self._flat(), ones_like(self.concentration), self.concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        lower, c = self.loc, self.concentration
        upper = where(c < 0, lower - self.scale / where(c < 0, c, -ones_like(c)), full_like(c, math.inf))
        return constraints.greater_than_eq(lower) if bool((c >= 0).all()) else constraints.interval(lower, upper)

    @property
    def mean(self) -> Tensor:
        c = self.concentration
        return where(c < 1, self.loc + self.scale / (1 - c), full_like(c, math.nan))

    @property
    def variance(self) -> Tensor:
        c = self.concentration
        return where(c < 0.5, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), full_like(c, math.nan))

    mode = property(lambda self: self.loc)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """icdf of uniform numbers: gradients reach all three."""
        return self.icdf(rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        z, c = (value - self.loc) / self.scale, self._safe()
        far = -(1 + 1 / c) * (c * z).log1p()
        return where(self._flat(), -z, far) - self.scale.log()

    def log_survival_function(self, value: Tensor) -> Tensor:
        """ln P(x > value)."""
        z, c = (value - self.loc) / self.scale, self._safe()
        return where(self._flat(), -z, -(c * z).log1p() / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """ln P(x <= value)."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self.log_cdf(value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        c = self._safe()
        return where(
            self._flat(), self.loc - self.scale * (-value).log1p(), self.loc + self.scale * (-c * (-value).log1p()).expm1() / c
        )

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1


class LogisticNormal(TransformedDistribution):
    """Points of the simplex: StickBreakingTransform of normal numbers."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def _normal(self) -> Normal:
        return self.base_dist.base_dist  # type: ignore[attr-defined]

    loc = property(lambda self: self._normal.loc)
    scale = property(lambda self: self._normal.scale)
