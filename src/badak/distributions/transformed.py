"""Distributions of a function of a random number."""

import math
from collections.abc import Sequence
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.distributions import constraints
from badak.distributions.continuous import Cauchy, Normal, Uniform
from badak.distributions.distribution import Distribution, broadcast_all
from badak.distributions.multivariate import Independent
from badak.distributions.positive import Exponential, Gamma
from badak.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    Transform,
    summed,
)
from badak.tensor import Size, Tensor, finfo, full_like, ones_like

EULER = 0.5772156649015329  # Euler and Mascheroni's


class TransformedDistribution(Distribution):
    """y = transforms(x), x of base_distribution.   log_prob(y) = base.log_prob(x) - sum ln |dy/dx|."""

    arg_constraints: dict[str, Any] = {}

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None) -> None:
        if not isinstance(base_distribution, Distribution):
            got = type(base_distribution).__name__
            raise ArgumentTypeError(tr("TransformedDistribution: expected a distribution; got {}", got), "Normal(0.0, 1.0)")
        self.transforms = [transforms] if not isinstance(transforms, (list, tuple)) else list(transforms)
        if not all(isinstance(each, Transform) for each in self.transforms):
            cause = tr("transforms must be a Transform or list, but was {}", transforms)
            raise ArgumentError(cause, "a Transform, or a list of them")
        whole = ComposeTransform(self.transforms)
        inside, outside = whole.domain.event_dim, whole.codomain.event_dim
        shape, dims = base_distribution.batch_shape + base_distribution.event_shape, len(base_distribution.event_shape)
        if len(shape) < inside:
            cause = tr("base_distribution needs to have shape with size at least {}, but got {}.", inside, tuple(shape))
            raise ArgumentError(cause, "a base with more dims")
        after = whole.forward_shape(shape)
        wide = whole.inverse_shape(after)
        if Size(wide) != shape:
            base_distribution = base_distribution.expand(Size(wide[: len(wide) - dims]))
        self.base_dist = Independent(base_distribution, inside - dims) if inside > dims else base_distribution
        cut = len(after) - max(outside, dims + outside - inside)
        super().__init__(Size(after[:cut]), Size(after[cut:]), validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        shape = Size(batch_shape) + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        made.base_dist = self.base_dist.expand(Size(shape[: len(shape) - len(self.base_dist.event_shape)]))
        return made

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        with no_grad():
            return self._sent(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach the parameters of the base and the transforms."""
        return self._sent(self.base_dist.rsample(sample_shape))

    def _sent(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _sign(self) -> Any:
        return math.prod((t.sign for t in self.transforms), start=1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        total: Any = 0.0
        dims = len(self.event_shape)
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            total = total - summed(transform.log_abs_det_jacobian(x, value), dims - transform.domain.event_dim)
            value = x
        return total + summed(self.base_dist.log_prob(value), dims - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        """The base's cdf of what the transforms lead back to."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._sign() * (self.base_dist.cdf(value) - 0.5) + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return self._sent(self.base_dist.icdf(self._sign() * (value - 0.5) + 0.5))


class LogNormal(TransformedDistribution):
    """exp of a normal number."""

    has_rsample = True
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args)

    loc = property(lambda self: self.base_dist.loc)
    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp())
    mode = property(lambda self: (self.loc - self.scale.square()).exp())
    variance = property(lambda self: self.scale.pow(2).expm1() * (2 * self.loc + self.scale.pow(2)).exp())

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """The absolute value of a symmetric number."""

    has_rsample = True
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    mode = property(lambda self: self.scale * 0)
    scale = property(lambda self: self.base_dist.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        found = self.base_dist.log_prob(value) + math.log(2)
        return found.masked_fill(~(value >= 0).expand(found.shape), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """|x|, x of Normal(0, scale)."""

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))


class HalfCauchy(_Half):
    """|x|, x of Cauchy(0, scale)."""

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    mean = property(lambda self: full_like(self.scale, math.inf))
    variance = property(lambda self: self.base_dist.variance)


class Gumbel(TransformedDistribution):
    """x = loc - scale ln(-ln u).   log_prob = y - exp(y) - ln scale, y = (loc - x) / scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = finfo(self.loc.dtype)
        number = not isinstance(loc, Tensor) and not isinstance(scale, Tensor)
        low, high = (
            (limits.tiny, 1 - limits.eps) if number else (full_like(self.loc, limits.tiny), full_like(self.loc, 1 - limits.eps))
        )
        base = Uniform(low, high, validate_args=validate_args)
        back = ExpTransform().inv
        turned = AffineTransform(0, -ones_like(self.scale))
        super().__init__(base, [back, turned, back, AffineTransform(self.loc, -self.scale)], validate_args)

    mean = property(lambda self: self.loc + self.scale * EULER)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)


class Pareto(TransformedDistribution):
    """x = scale exp(e / alpha), e exponential.   log_prob = ln alpha + alpha ln scale - (alpha + 1) ln x, x >= scale."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = property(lambda self: self.scale)

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """x = scale e^(1 / concentration), e exponential."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args)

    mean = property(lambda self: self.scale * (1 + self.concentration_reciprocal).lgamma().exp())
    mode = property(lambda self: self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal())

    @property
    def variance(self) -> Tensor:
        r = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * r).lgamma().exp() - (2 * (1 + r).lgamma()).exp())

    def entropy(self) -> Tensor:
        r = self.concentration_reciprocal
        return EULER * (1 - r) + (self.scale * r).log() + 1


class InverseGamma(TransformedDistribution):
    """1 / x, x of Gamma(concentration, rate)."""

    has_rsample = True
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-ones_like(base.rate)), validate_args)

    concentration = property(lambda self: self.base_dist.concentration)
    rate = property(lambda self: self.base_dist.rate)
    mode = property(lambda self: self.rate / (self.concentration + 1))

    @property
    def mean(self) -> Tensor:
        found = self.rate / (self.concentration - 1)
        return found.masked_fill(~(self.concentration > 1), math.inf)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).masked_fill(~(a > 2), math.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
