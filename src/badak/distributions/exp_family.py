"""Families of which only some parameters change: log_prob = <t(x), theta> - F(theta) + k(x)."""

from badak.autograd import grad
from badak.core.errors import undefined
from badak.distributions.distribution import Distribution
from badak.tensor import Tensor


class ExponentialFamily(Distribution):
    """A derived class defines _natural_params (theta) and _log_normalizer (F), of which the entropy follows."""

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise undefined(self, "def _natural_params(self)")

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise undefined(self, "def _log_normalizer(self, *natural_params)")

    @property
    def _mean_carrier_measure(self) -> float | Tensor:
        raise undefined(self, "def _mean_carrier_measure(self)")

    def entropy(self) -> Tensor:
        """F(theta) - <theta, F'(theta)> - E k(x), by the gradient of F."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        total = self._log_normalizer(*params)
        gradients = grad(total.sum(), params, create_graph=True)
        found = total - self._mean_carrier_measure
        for theta, g in zip(params, gradients):
            found = found - (theta * g).reshape((*self._batch_shape, -1)).sum(-1)
        return found
