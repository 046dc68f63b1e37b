"""Distributions of integers."""

import math
from collections.abc import Sequence
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.distributions.bernoulli import _Trials
from badak.distributions.categorical import Categorical
from badak.distributions.constraints import (
    dependent_property,
    greater_than_eq,
    half_open_interval,
    integer_interval,
    multinomial,
    nonnegative,
    nonnegative_integer,
    one_hot,
    real,
    real_vector,
    simplex,
    unit_interval,
)
from badak.distributions.distribution import Distribution, batch_of, broadcast_all
from badak.distributions.positive import Gamma
from badak.nn.functional import logsigmoid
from badak.tensor import Size, Tensor, empty, eye, finfo, lgamma, xlogy, zeros
from badak.tensor.random_ops import binomial, poisson


class Poisson(Distribution):
    """log_prob = x ln rate - rate - ln x!."""

    arg_constraints = {"rate": nonnegative}
    support = nonnegative_integer

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    mean = variance = property(lambda self: self.rate)
    mode = property(lambda self: self.rate.floor())

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)


class Geometric(_Trials):
    """How many failures come before the first success.   log_prob = x ln(1 - p) + ln p."""

    arg_constraints = {"probs": unit_interval, "logits": real}
    support = nonnegative_integer

    def __init__(
        self, probs: Tensor | float | None = None, logits: Tensor | float | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            cause = tr(
                "Expected parameter probs (Tensor of shape {}) of distribution Geometric to be positive", tuple(self.probs.shape)
            )
            raise ArgumentError(cause, "probs > 0")

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: self.probs * 0)
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        with no_grad():
            u = empty(self._extended_shape(sample_shape), dtype=self.probs.dtype).uniform_(finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, p = broadcast_all(value, self.probs)
        p = p.masked_fill((p == 1) & (value == 0), 0)
        return value * (-p).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        q = 1 - self.probs
        return -(xlogy(q, q) + xlogy(self.probs, self.probs)) / self.probs


class Binomial(_Trials):
    """How many of total_count trials succeed.   log_prob = ln (n over x) + x logits - n ln(1 + exp(logits))."""

    has_enumerate_support = True
    arg_constraints = {"total_count": nonnegative_integer, "probs": unit_interval, "logits": real}

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(Size(self._param.shape), validate_args=validate_args)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return integer_interval(0, self.total_count)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n, x = self.total_count, self.logits
        ways = lgamma(n + 1) - lgamma(value + 1) - lgamma(n - value + 1)
        above = (x.clamp(min=0) + x - x.clamp(max=0)) / 2  # max(x, 0), with slope 1/2 at 0
        return value * x + ways - n * (above + (-x.abs()).exp().log1p())

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 .. total_count, along the first dim; of one total_count for all."""
        n = int(self.total_count.max())
        if not bool((self.total_count == n).all()):
            raise NotSupportedError("Inhomogeneous total count not supported by `enumerate_support`.", "one total_count for all")
        values = (zeros(n + 1, dtype=self._param.dtype) + 1).cumsum(0) - 1
        values = values.view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        log_p = self.log_prob(self.enumerate_support())
        return -(log_p.exp() * log_p).sum(0)


class NegativeBinomial(_Trials):
    """How many successes come before total_count failures.   log_prob = n ln(1 - p) + x ln p + ln Gamma(n + x) / (x! Gamma(n))."""

    arg_constraints = {"total_count": greater_than_eq(0), "probs": half_open_interval(0.0, 1.0), "logits": real}
    support = nonnegative_integer

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(Size(self._param.shape), validate_args=validate_args)

    mean = property(lambda self: self.total_count * self.logits.exp())
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / (-self.logits).sigmoid())

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Poisson numbers whose rates are gamma numbers."""
        with no_grad():
            return poisson(Gamma(self.total_count, (-self.logits).exp(), validate_args=False).sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n, x = self.total_count, self.logits
        odds = n * logsigmoid(-x) + value * logsigmoid(x)
        ways = (lgamma(n + value) - lgamma(1.0 + value) - lgamma(n)).masked_fill(n + value == 0.0, 0.0)
        return odds + ways


class Classes(Distribution):
    """What is drawn by a Categorical."""

    arg_constraints = {"probs": simplex, "logits": real_vector}
    _categorical: Categorical

    logits = property(lambda self: self._categorical.logits)
    probs = property(lambda self: self._categorical.probs)
    param_shape = property(lambda self: self._categorical.param_shape)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made._categorical = self._categorical.expand(batch_shape)
        return made


class OneHotCategorical(Classes):
    """Categorical, whose draws are vectors with a 1 at the class."""

    has_enumerate_support = True
    support = one_hot

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args)

    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    @property
    def mode(self) -> Tensor:
        probs = self._categorical.probs
        return eye(probs.shape[-1], dtype=probs.dtype)[probs.argmax(-1)]

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Rows of the identity."""
        return eye(self.param_shape[-1], dtype=self.probs.dtype)[self._categorical.sample(sample_shape)]

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All classes, along the first dim."""
        n = self.event_shape[0]
        values = eye(n, dtype=self.probs.dtype).view(n, *(1,) * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical whose draws hand their gradient on to probs, as it is (Bengio et al. 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """A draw, plus probs minus itself."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Classes):
    """How often each class comes in total_count draws.   log_prob = ln n! - sum ln x_k! + sum x_k ln p_k."""

    def __init__(
        self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotSupportedError("inhomogeneous total_count is not supported", "total_count: one int")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self.param_shape[-1:], validate_args)

    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return multinomial(self.total_count)

    def _expanded(self):
        return {}

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Counts of each class."""
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = zeros(self._extended_shape(sample_shape), dtype=self.probs.dtype)
        return counts.scatter_add(-1, drawn, zeros(drawn.shape, dtype=counts.dtype) + 1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits = self.logits.masked_fill((value == 0) & (self.logits == -math.inf), 0)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """n H(p) - ln n! + sum of E ln x_k!, x_k binomial."""
        n, each = self.total_count, Binomial(self.total_count, self.probs)
        counts = each.enumerate_support(expand=False)[1:]
        expected = (each.log_prob(counts).exp() * lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - math.lgamma(n + 1) + expected
