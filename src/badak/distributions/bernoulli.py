"""0 or 1."""

import math
from collections.abc import Sequence

from badak.distributions.constraints import boolean, real, unit_interval
from badak.distributions.distribution import (
    Distribution,
    batch_of,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    one_of,
    probs_to_logits,
)
from badak.nn.functional import binary_cross_entropy_with_logits
from badak.tensor import Size, Tensor, arange, bernoulli, where


class _Trials(Distribution):
    """What depends on the probability of one success, given as probs or logits."""

    def _take(self, probs, logits, *others) -> list[Tensor]:
        """Keep what was given, and return the others of its shape."""
        one_of(probs, logits)
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        self._param, *rest = broadcast_all(given, *others)
        self.__dict__[name], self._given = self._param, (name,)
        self._shape = batch_of(self._param, given, *others)
        return [x.to(self._param.dtype) for x in rest]

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits, is_binary=True)

    def _expanded(self):
        return {"probs": 0, "logits": 0, "_param": 0, "total_count": 0}


class Bernoulli(_Trials):
    """P(1) = probs = sigmoid(logits); draws are floats 0 and 1.   log_prob(x) = x log p + (1 - x) log(1 - p)."""

    has_enumerate_support = True
    support = boolean
    arg_constraints = {"probs": unit_interval, "logits": real}

    def __init__(
        self, probs: Tensor | float | None = None, logits: Tensor | float | None = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        super().__init__(self._shape, validate_args=validate_args)

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Zeros and ones."""
        return bernoulli(self.probs.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 and 1, (2, *batch_shape)."""
        values = arange(2, dtype=self._param.dtype).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    @property
    def mode(self) -> Tensor:
        """The likelier of the two, NaN where they are level."""
        return where(self.probs == 0.5, self.probs.new_full((), math.nan), (self.probs >= 0.5).to(self.probs.dtype))
