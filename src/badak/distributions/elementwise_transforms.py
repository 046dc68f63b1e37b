"""Transforms of every number by itself."""

import math
from collections.abc import Sequence

from badak.distributions import constraints
from badak.distributions.constraints import Constraint
from badak.distributions.transform import Plain, Transform, summed
from badak.nn.functional import softplus
from badak.tensor import Tensor, broadcast_shapes, finfo, full_like


class _Increasing(Plain):
    """A growing function of every number by itself."""

    bijective, sign = True, +1
    domain: Constraint = constraints.real


class ExpTransform(_Increasing):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Increasing):
    """y = sigmoid(x)."""

    codomain = constraints.unit_interval

    def _call(self, x):
        return clipped_sigmoid(x)

    def _inverse(self, y):
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Increasing):
    """y = ln(1 + exp(x))."""

    codomain = constraints.positive

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Increasing):
    """y = tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


def clipped_sigmoid(x: Tensor) -> Tensor:
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


class AbsTransform(Plain):
    """y = |x|, whose reverse gives y itself."""

    domain, codomain = constraints.real, constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    """y = x^exponent, x > 0."""

    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Tensor:
        return self.exponent.sign() if isinstance(self.exponent, Tensor) else int(math.copysign(1, self.exponent))

    def with_cache(self, cache_size: int = 1) -> "PowerTransform":
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _same(self.exponent, other.exponent)

    __hash__ = Transform.__hash__


def _same(a, b) -> bool:
    return bool((a == b).all()) if isinstance(a, Tensor) or isinstance(b, Tensor) else a == b


class AffineTransform(Transform):
    """y = loc + scale x."""

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)  # type: ignore[assignment]
    domain = codomain = property(  # type: ignore[assignment]
        lambda self: constraints.real if not self._event_dim else constraints.independent(constraints.real, self._event_dim)
    )

    sign = property(lambda self: self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0))

    def with_cache(self, cache_size: int = 1) -> "AffineTransform":
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self.event_dim, cache_size=cache_size)

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale = self.scale
        made = scale.abs().log() if isinstance(scale, Tensor) else full_like(x, math.log(abs(scale)))
        if self._event_dim:
            made = summed(made.expand(broadcast_shapes(made.shape, x.shape)), self._event_dim)
        return made.expand(x.shape[: x.dim() - self._event_dim])

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and _same(self.loc, other.loc) and _same(self.scale, other.scale)

    __hash__ = Transform.__hash__
