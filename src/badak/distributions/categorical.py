"""One of K classes."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.distributions.constraints import dependent_property, integer_interval, real_vector, simplex
from badak.distributions.distribution import Distribution, lazy_property, logits_to_probs, one_of, probs_to_logits
from badak.tensor import Size, Tensor, arange, broadcast_tensors, finfo, full, multinomial


class Categorical(Distribution):
    """P(k) = probs[..., k] / sum probs, or softmax(logits)[..., k]; draws are int64 class numbers.

    log_prob(k) = logits[k] - logsumexp(logits);   entropy = -sum_k p_k log p_k.
    """

    has_enumerate_support = True
    arg_constraints = {"probs": simplex, "logits": real_vector}

    def __init__(self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None) -> None:
        one_of(probs, logits)
        for name, given in (("probs", probs), ("logits", logits)):
            if given is not None and given.dim() < 1:
                raise ArgumentError(tr("`{}` parameter must be at least one-dimensional.", name), f"{name}.unsqueeze(0)")
        if probs is not None:
            self._given = ("probs",)
            self.__dict__["probs"] = self._param = probs / probs.sum(-1, keepdim=True)
        elif logits is not None:
            self._given = ("logits",)
            self.__dict__["logits"] = self._param = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = self._param.shape[-1]
        super().__init__(Size(self._param.shape[:-1]), validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        return logits_to_probs(self.logits)

    param_shape = property(lambda self: Size(self._param.shape))

    @property
    def mean(self) -> Tensor:
        """nan: class numbers have no mean."""
        return full(self._extended_shape(), math.nan, dtype=self._param.dtype)

    @property
    def variance(self) -> Tensor:
        """nan: class numbers have no variance."""
        return self.mean

    @property
    def mode(self) -> Tensor:
        """The most likely class."""
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Class numbers, drawn as `multinomial` draws them."""
        shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = multinomial(rows, shape.numel(), True).T  # (samples, batch)
        return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        value, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self._param.dtype).min)  # 0 times -inf is 0 here
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All classes, (K, *batch_shape)."""
        values = arange(self._num_events).view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    @dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return integer_interval(0, self._num_events - 1)

    def _expanded(self):
        return {"probs": 1, "logits": 1, "_param": 1}
