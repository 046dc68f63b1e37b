"""How far one distribution is from another."""

from math import inf
from typing import Any

from badak.distributions.bernoulli import Bernoulli
from badak.distributions.categorical import Categorical
from badak.distributions.continuous import Normal, Uniform
from badak.distributions.distribution import Distribution
from badak.errors import MissingError
from badak.nn.functional import softplus
from badak.tensor import Tensor, where


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q) = E_p[log p - log q], in nats; for two distributions of one kind."""
    if type(p) is type(q) and type(p) in PAIRS:
        return PAIRS[type(p)](p, q)
    raise MissingError(
        f"kl_divergence: no formula for {type(p).__name__} and {type(q).__name__}",
        "the mean of p.log_prob(x) - q.log_prob(x) over x = p.sample((n,))",
    )


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


PAIRS: dict[type, Any] = {Categorical: _categorical, Bernoulli: _bernoulli, Normal: _normal, Uniform: _uniform}
