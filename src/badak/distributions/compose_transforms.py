"""Transforms of transforms: one after the other, and with some dims taken as one value."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.distributions import constraints
from badak.distributions.constraints import Constraint
from badak.distributions.transform import Transform, summed
from badak.tensor import Tensor, zeros_like


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def domain(self) -> Constraint:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        dims = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
        return _with_dims(self.parts[0].domain, dims)

    @property
    def codomain(self) -> Constraint:  # type: ignore[override]
        if not self.parts:
            return constraints.real
        dims = self.parts[0].domain.event_dim
        for part in self.parts:
            dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
        return _with_dims(self.parts[-1].codomain, dims)

    bijective = property(lambda self: all(part.bijective for part in self.parts))  # type: ignore[assignment]
    sign = property(lambda self: math.prod((part.sign for part in self.parts), start=1))

    def _inverted(self) -> Transform:
        back = ComposeTransform([part.inv for part in reversed(self.parts)])
        back._inv = lambda: self
        return back

    def with_cache(self, cache_size: int = 1) -> "ComposeTransform":
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    _call, _inverse = __call__, _inv_call

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        if not self.parts:
            return zeros_like(x)
        total, dims = 0.0, self.domain.event_dim
        for part in self.parts:
            after = y if part is self.parts[-1] else part(x)
            total = total + summed(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            x = after
        return total

    def forward_shape(self, shape: Sequence[int]) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _with_dims(constraint: Constraint, dims: int) -> Constraint:
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last dims are taken as one value."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform.with_cache(cache_size), reinterpreted_batch_ndims

    bijective = property(lambda self: self.base_transform.bijective)  # type: ignore[assignment]
    sign = property(lambda self: self.base_transform.sign)
    domain = property(  # type: ignore[assignment]
        lambda self: constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)
    )
    codomain = property(  # type: ignore[assignment]
        lambda self: constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)
    )

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    def _call(self, x):
        _enough(x, self.domain)
        return self.base_transform(x)

    def _inverse(self, y):
        _enough(y, self.codomain)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return summed(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


def _enough(x: Tensor, constraint: Constraint) -> None:
    if x.dim() < constraint.event_dim:
        raise ArgumentError("Too few dimensions on input", tr("at least {}", constraint.event_dim))
