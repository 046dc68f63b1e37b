"""Distributions of real numbers."""

import math
from collections.abc import Sequence
from typing import Any

from badak.autograd import no_grad
from badak.distributions.constraints import dependent_property, greater_than, interval, positive, real
from badak.distributions.distribution import LOG_SQRT_2PI, Distribution, batch_of, broadcast_all
from badak.tensor import Size, Tensor, empty, erf, finfo, normal, rand, randn


class _LocScale(Distribution):
    """What is moved by loc and stretched by scale."""

    has_rsample = True
    arg_constraints = {"loc": real, "scale": positive}
    support = real

    def __init__(self, loc, scale, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, loc, scale), validate_args=validate_args)


class Normal(_LocScale):
    """x = loc + scale z, z standard normal.   log_prob = -(x - loc)^2 / (2 scale^2) - log scale - log sqrt(2 pi)."""

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """loc + z scale: gradients reach both."""
        z = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + z * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -((value - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - LOG_SQRT_2PI

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value) = (1 + erf((value - loc) / (scale sqrt 2))) / 2."""
        self._check_value(value)
        return 0.5 * (1 + erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """loc + scale sqrt(2) erfinv(2 value - 1)."""
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Uniform(Distribution):
    """x = low + (high - low) u, u uniform on [0, 1).   log_prob = -log(high - low) inside, -inf outside."""

    has_rsample = True

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, low, high), validate_args=validate_args)
        if self._validate_args:
            self._check(self.high, greater_than(self.low), "high")

    arg_constraints = {"low": real, "high": real}

    mean = property(lambda self: (self.high + self.low) / 2)
    stddev = property(lambda self: (self.high - self.low) / 12**0.5)
    variance = property(lambda self: (self.high - self.low).pow(2) / 12)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """low + u (high - low): gradients reach both."""
        u = rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + u * (self.high - self.low)

    mode = property(lambda self: self.high * math.nan)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        inside = (self.low <= value).to(self.low.dtype) * (self.high > value).to(self.low.dtype)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value)."""
        self._check_value(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()

    def icdf(self, value: Tensor) -> Tensor:
        """low + value (high - low)."""
        return self.low + value * (self.high - self.low)

    @dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return interval(self.low, self.high)


class Laplace(_LocScale):
    """x = loc - scale sign(u) ln(1 - |u|), u uniform on (-1, 1).   log_prob = -ln(2 scale) - |x - loc| / scale."""

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: 2 * self.scale.pow(2))
    stddev = property(lambda self: self.scale * 2**0.5)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach loc and scale."""
        u = empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """1/2 - sign(x - loc) (exp(-|x - loc| / scale) - 1) / 2."""
        self._check_value(value)
        return 0.5 - 0.5 * (value - self.loc).sign() * (-(value - self.loc).abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocScale):
    """x = loc + scale c, c standard Cauchy.   log_prob = -ln(pi scale) - ln(1 + ((x - loc) / scale)^2)."""

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc.new_full(self._extended_shape(), math.nan))
    variance = property(lambda self: self.loc.new_full(self._extended_shape(), math.inf))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach loc and scale."""
        return self.loc + empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_() * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return -math.log(math.pi) - self.scale.log() - ((value - self.loc) / self.scale).pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()
