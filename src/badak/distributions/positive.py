"""Distributions of positive numbers and of proportions."""

from collections.abc import Sequence

from badak.core.errors import ArgumentError
from badak.distributions.constraints import independent, nonnegative, positive, real, simplex, unit_interval
from badak.distributions.distribution import Distribution, batch_of, broadcast_all
from badak.tensor import Size, Tensor, as_tensor, digamma, empty, finfo, igamma, lgamma, randn, stack, where, xlogy, zeros_like
from badak.tensor.random_ops import dirichlet, gamma


class Exponential(Distribution):
    """log_prob = ln rate - rate x, x >= 0."""

    has_rsample = True
    arg_constraints = {"rate": positive}
    support = nonnegative

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: self.rate * 0)
    variance = property(lambda self: self.rate.pow(-2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach rate."""
        return empty(self._extended_shape(sample_shape), dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1 - self.rate.log()


class Gamma(Distribution):
    """log_prob = a ln b + (a - 1) ln x - b x - ln Gamma(a), a = concentration, b = rate, x > 0."""

    has_rsample = True
    arg_constraints = {"concentration": positive, "rate": positive}
    support = nonnegative

    def __init__(self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(batch_of(self.rate, concentration, rate), validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach both."""
        shape = self._extended_shape(sample_shape)
        x = gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return x.clamp(min=finfo(x.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = as_tensor(value, dtype=self.rate.dtype)
        self._check_value(value)
        a, b = self.concentration, self.rate
        return xlogy(a, b) + xlogy(a - 1, value) - b * value - lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value)."""
        self._check_value(value)
        return igamma(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + lgamma(a) + (1.0 - a) * digamma(a)


class Chi2(Gamma):
    """The sum of df squared normal numbers: Gamma(df / 2, 1 / 2)."""

    arg_constraints = {"df": positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2)

    def _expanded(self):
        return {"concentration": 0, "rate": 0}


class Dirichlet(Distribution):
    """log_prob = sum (a_k - 1) ln x_k + ln Gamma(sum a) - sum ln Gamma(a_k), on x_k >= 0 with sum 1."""

    has_rsample = True
    arg_constraints = {"concentration": independent(positive, 1)}
    support = simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ArgumentError("`concentration` parameter must be at least one-dimensional.", "concentration.unsqueeze(0)")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self) -> Tensor:
        over = (self.concentration - 1).clamp(min=0.0)
        corner = zeros_like(over)
        corner[..., 0] = 1.0  # of the corners, which are all as far up, the first
        return where((self.concentration < 1).all(-1, True), corner, over / over.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Gamma numbers over their sum: gradients reach concentration."""
        return dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        a = self.concentration
        return xlogy(a - 1.0, value).sum(-1) + lgamma(a.sum(-1)) - lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a = self.concentration
        k, total = a.size(-1), a.sum(-1)
        return lgamma(a).sum(-1) - lgamma(total) - (k - total) * digamma(total) - ((a - 1.0) * digamma(a)).sum(-1)


class Beta(Distribution):
    """log_prob = (a - 1) ln x + (b - 1) ln(1 - x) - ln B(a, b), a = concentration1, b = concentration0."""

    has_rsample = True
    arg_constraints = {"concentration1": positive, "concentration0": positive}
    support = unit_interval

    def __init__(self, concentration1: Tensor | float, concentration0: Tensor | float, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(batch_of(self.concentration1, concentration1, concentration0), validate_args=validate_args)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"  # PyTorch keeps both in a Dirichlet, and shows neither

    _both = property(lambda self: Dirichlet(stack([self.concentration1, self.concentration0], -1), validate_args=False))
    mean = property(lambda self: self.concentration1 / (self.concentration1 + self.concentration0))
    mode = property(lambda self: self._both.mode[..., 0])

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draws: gradients reach both."""
        return self._both.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._both.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._both.entropy()


class StudentT(Distribution):
    """x = loc + scale z / sqrt(c / df), z normal, c of Chi2(df).   log_prob = -(df + 1) / 2 ln(1 + y^2 / df) - ln Z.

    y = (x - loc) / scale.
    """

    has_rsample = True
    arg_constraints = {"df": positive, "loc": real, "scale": positive}
    support = real

    def __init__(
        self, df: Tensor | float, loc: Tensor | float = 0.0, scale: Tensor | float = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    mode = property(lambda self: self.loc)
    mean = property(lambda self: self.loc.masked_fill(self.df <= 1, float("nan")))

    @property
    def variance(self) -> Tensor:
        v = self.scale.pow(2) * self.df / (self.df - 2)
        return v.masked_fill(self.df <= 2, float("inf")).masked_fill(self.df <= 1, float("nan"))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws: gradients reach all three."""
        shape = self._extended_shape(sample_shape)
        z = randn(shape, dtype=self.df.dtype)
        c = (gamma((0.5 * self.df).expand(shape)) / 0.5).clamp(min=finfo(z.dtype).tiny)
        return self.loc + self.scale * (z * (c / self.df).rsqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5723649429247001 + lgamma(0.5 * self.df) - lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * (y**2.0 / self.df).log1p() - z

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        log_beta = lgamma(half) + 0.5723649429247001 - lgamma(0.5 * (self.df + 1))
        return (
            self.scale.log() + 0.5 * (self.df + 1) * (digamma(0.5 * (self.df + 1)) - digamma(half)) + 0.5 * self.df.log() + log_beta
        )
