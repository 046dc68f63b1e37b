"""Distributions of real numbers."""

import math

from badak.autograd import no_grad
from badak.distributions.distribution import LOG_SQRT_2PI, Distribution, batch_of, broadcast_all
from badak.tensor import Size, Tensor, erf, normal, rand, randn


class Normal(Distribution):
    """x = loc + scale z, z standard normal.   log_prob = -(x - loc)^2 / (2 scale^2) - log scale - log sqrt(2 pi)."""

    has_rsample = True
    arg_constraints = {"loc": ("Real()", lambda x: x == x), "scale": ("GreaterThan(lower_bound=0.0)", lambda s: s > 0)}

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, loc, scale), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2)

    def sample(self, sample_shape=Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=Size()) -> Tensor:  # noqa: B008
        """loc + z scale: gradients reach both."""
        z = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + z * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - LOG_SQRT_2PI

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value) = (1 + erf((value - loc) / (scale sqrt 2))) / 2."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def expand(self, batch_shape, _instance=None) -> "Normal":
        """The same with a larger batch shape."""
        return Normal(self.loc.expand(batch_shape), self.scale.expand(batch_shape), validate_args=False)


class Uniform(Distribution):
    """x = low + (high - low) u, u uniform on [0, 1).   log_prob = -log(high - low) inside, -inf outside."""

    has_rsample = True

    def __init__(self, low, high, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, low, high), validate_args=validate_args)
        if self._validate_args:
            self._check(self.high, "GreaterThan(lower_bound=low)", lambda high: self.low < high, "parameter high")

    arg_constraints = {"low": ("Real()", lambda x: x == x), "high": ("Real()", lambda x: x == x)}

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape=Size()) -> Tensor:  # noqa: B008
        """low + u (high - low): gradients reach both."""
        u = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        inside = (self.low <= value).to(self.low.dtype) * (self.high > value).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value)."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()

    def expand(self, batch_shape, _instance=None) -> "Uniform":
        """The same with a larger batch shape."""
        return Uniform(self.low.expand(batch_shape), self.high.expand(batch_shape), validate_args=False)

    def _support(self):
        return "Interval(low, high)", lambda x: (x >= self.low) & (x <= self.high)
