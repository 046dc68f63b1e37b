"""Functions of random numbers that can be reversed, with the logarithm of how much they stretch.

y = transform(x)      x = transform.inv(y)      transform.log_abs_det_jacobian(x, y) = ln |dy/dx|
"""

import math
from collections.abc import Callable
from typing import Any

from badak.core.errors import NotSupportedError
from badak.distributions import constraints
from badak.distributions.constraints import Constraint
from badak.nn.functional import softplus
from badak.tensor import Tensor, finfo, full_like


class Transform:
    """The base. event_dim: how many dims one value has, over which its log_abs_det_jacobian is summed."""

    bijective = True
    sign: Any = 1  # of the slope
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size  # accepted; nothing is kept

    @property
    def event_dim(self) -> int:
        return self.domain.event_dim

    @property
    def inv(self) -> "Transform":
        """The transform back."""
        return _Inverse(self)

    def __call__(self, x: Tensor) -> Tensor:
        raise NotSupportedError(f"{type(self).__name__} defines no __call__", "def __call__(self, x)")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotSupportedError(f"{type(self).__name__} cannot be reversed", None)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        raise NotSupportedError(f"{type(self).__name__} has no log_abs_det_jacobian", None)

    def forward_shape(self, shape):
        """The shape that y has for an x of this one."""
        return shape

    def inverse_shape(self, shape):
        """The shape that x has for a y of this one."""
        return shape

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _Inverse(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._of = transform

    inv = property(lambda self: self._of)
    bijective = property(lambda self: self._of.bijective)
    sign = property(lambda self: self._of.sign)
    domain = property(lambda self: self._of.codomain)
    codomain = property(lambda self: self._of.domain)

    def __call__(self, x):
        return self._of._inverse(x)

    def _inverse(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"


def _elementwise(
    name: str, there: Callable, back: Callable, slope: Callable, codomain: Constraint, doc: str, domain=constraints.real
):
    """The class of a transform of every number by itself."""
    methods = {
        "__call__": lambda self, x: there(x),
        "_inverse": lambda self, y: back(y),
        "log_abs_det_jacobian": lambda self, x, y: slope(x, y),
    }
    return type(name, (Transform,), {"__doc__": doc, "__module__": __name__, "domain": domain, "codomain": codomain, **methods})


def _clipped_sigmoid(x: Tensor) -> Tensor:
    limits = finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def _logit(y: Tensor) -> Tensor:
    limits = finfo(y.dtype)
    y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
    return y.log() - (-y).log1p()


ExpTransform: Any = _elementwise(
    "ExpTransform", lambda x: x.exp(), lambda y: y.log(), lambda x, y: x, constraints.positive, "y = exp(x)."
)
SigmoidTransform: Any = _elementwise(
    "SigmoidTransform",
    _clipped_sigmoid,
    _logit,
    lambda x, y: -softplus(-x) - softplus(x),
    constraints.unit_interval,
    "y = sigmoid(x).",
)
SoftplusTransform: Any = _elementwise(
    "SoftplusTransform",
    softplus,
    lambda y: (-y).expm1().neg().log() + y,
    lambda x, y: -softplus(-x),
    constraints.positive,
    "y = ln(1 + exp(x)).",
)
TanhTransform: Any = _elementwise(
    "TanhTransform",
    lambda x: x.tanh(),
    lambda y: y.atanh(),
    lambda x, y: 2.0 * (math.log(2.0) - x - softplus(-2.0 * x)),
    constraints.interval(-1.0, 1.0),
    "y = tanh(x).",
)


class AbsTransform(Transform):
    """y = |x|, whose reverse gives y itself."""

    bijective, codomain = False, constraints.positive

    def __call__(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class PowerTransform(Transform):
    """y = x^exponent, x > 0."""

    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent
        self.sign = exponent.sign() if isinstance(exponent, Tensor) else math.copysign(1, exponent)

    def __call__(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class AffineTransform(Transform):
    """y = loc + scale x."""

    def __init__(self, loc, scale, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        self.sign = scale.sign() if isinstance(scale, Tensor) else math.copysign(1, scale)

    event_dim = property(lambda self: self._event_dim)
    domain = codomain = property(
        lambda self: constraints.real if not self._event_dim else constraints.independent(constraints.real, self._event_dim)
    )

    def __call__(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        made = scale.abs().log().expand(x.shape) if isinstance(scale, Tensor) else full_like(x, math.log(abs(scale)))
        return made.flatten(made.dim() - self._event_dim).sum(-1) if self._event_dim else made


class SoftmaxTransform(Transform):
    """y = softmax(x); the reverse gives ln y. Not one to one, so without log_abs_det_jacobian."""

    bijective, domain, codomain = False, constraints.real_vector, constraints.simplex

    def __call__(self, x):
        return x.softmax(-1)

    def _inverse(self, y):
        return y.log()


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)

    domain = property(lambda self: self.parts[0].domain if self.parts else constraints.real)
    codomain = property(lambda self: self.parts[-1].codomain if self.parts else constraints.real)
    bijective = property(lambda self: all(part.bijective for part in self.parts))
    event_dim = property(lambda self: max((part.event_dim for part in self.parts), default=0))

    @property
    def sign(self):
        return math.prod((part.sign for part in self.parts), start=1)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y):
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total: Any = 0.0
        for part in self.parts:
            after = part(x)
            total = total + summed(part.log_abs_det_jacobian(x, after), self.event_dim - part.event_dim)
            x = after
        return total if self.parts else full_like(x, 0.0)


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last dims are taken as one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims

    bijective = property(lambda self: self.base_transform.bijective)
    sign = property(lambda self: self.base_transform.sign)
    domain = property(lambda self: constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims))
    codomain = property(lambda self: constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims))

    def __call__(self, x):
        return self.base_transform(x)

    def _inverse(self, y):
        return self.base_transform._inverse(y)

    def log_abs_det_jacobian(self, x, y):
        return summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)


def summed(x: Tensor, dims: int) -> Tensor:
    """x summed over its last `dims` dims."""
    return x.flatten(x.dim() - dims).sum(-1) if dims > 0 else x
