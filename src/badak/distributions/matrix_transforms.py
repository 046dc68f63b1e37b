"""Transforms that make simplexes, triangular and positive definite matrices, other shapes, or one thing per part."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, tr, undefined
from badak.distributions import constraints
from badak.distributions.elementwise_transforms import clipped_sigmoid
from badak.distributions.transform import Plain, Transform, summed, tril_matrix_to_vec, vec_to_tril_matrix
from badak.nn.functional import logsigmoid, pad, softplus
from badak.tensor import Size, Tensor, concat, eye, finfo, stack


class SoftmaxTransform(Plain):
    """y = softmax(x); the reverse gives ln y. Not one to one, so without log_abs_det_jacobian."""

    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x):
        e = (x - x.max(-1, True)[0]).exp()
        return e / e.sum(-1, True)

    def _inverse(self, y):
        return y.log()

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return _at_least(shape, 1)

    inverse_shape = forward_shape


class StickBreakingTransform(Plain):
    """n numbers -> n + 1 that sum to 1: each takes a part of what the ones before have left."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True

    def _call(self, x):
        z = clipped_sigmoid(x - _left(x, x.shape[-1] + 1).log())
        return pad(z, [0, 1], value=1) * pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        y = y[..., :-1]
        rest = (1 - y.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return y.log() - rest.log() + _left(y, y.shape[-1] + 1).log()

    def log_abs_det_jacobian(self, x: Any, y: Tensor) -> Tensor:
        x = x - _left(x, x.shape[-1] + 1).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return Size((*_at_least(shape, 1)[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Sequence[int]) -> tuple:
        return Size((*_at_least(shape, 1)[:-1], shape[-1] - 1))


def _left(x: Tensor, n: int) -> Tensor:
    """n - 1, n - 2, ..."""
    return n - x.new_ones(x.shape[-1]).cumsum(-1)


class LowerCholeskyTransform(Plain):
    """Square matrices -> lower triangular ones with a positive diagonal: its exp, and what is below it."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky

    def _call(self, x):
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Plain):
    """Square matrices -> L L', L of LowerCholeskyTransform."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite

    def _call(self, x):
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(y.cholesky())


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers -> the Cholesky factor of an n x n correlation matrix: row by row, tanh and broken sticks."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        eps = finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.tanh().clamp(min=-1 + eps, max=1 - eps), diag=-1)
        rest = (1 - r**2).sqrt().cumprod(-1)
        return (r + eye(r.shape[-1], dtype=r.dtype)) * pad(rest[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        rest = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(rest, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Any = None) -> Tensor:
        rest = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        sticks = 0.5 * rest.log().sum(-1)
        return sticks - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        n = round((0.25 + 2 * _at_least(shape, 1)[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ArgumentError("Input is not a flattened lower-diagonal number", "n (n - 1) / 2 numbers")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Sequence[int]) -> tuple:
        if _at_least(shape, 2)[-2] != shape[-1]:
            raise ArgumentError("Input is not square", "a matrix (..., n, n)")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class ReshapeTransform(Transform):
    """The last dims in another shape."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ArgumentError("in_shape, out_shape have different numbers of elements", "the same number of elements")
        super().__init__(cache_size=cache_size)

    domain = property(lambda self: constraints.independent(constraints.real, len(self.in_shape)))  # type: ignore[assignment]
    codomain = property(lambda self: constraints.independent(constraints.real, len(self.out_shape)))  # type: ignore[assignment]

    def with_cache(self, cache_size: int = 1) -> "ReshapeTransform":
        return self if self._cache_size == cache_size else ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x):
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y):
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Sequence[int]) -> tuple:
        return _exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Sequence[int]) -> tuple:
        return _exchanged(shape, self.out_shape, self.in_shape)


def _exchanged(shape, before: Size, after: Size) -> Size:
    cut = len(_at_least(shape, len(before))) - len(before)
    if Size(shape[cut:]) != before:
        raise ArgumentError(tr("Shape mismatch: expected {} but got {}", tuple(shape[cut:]), tuple(before)), None)
    return Size(shape[:cut]) + after


def _at_least(shape, dims: int):
    if len(shape) < dims:
        raise ArgumentError("Too few dimensions on input", tr("at least {}", dims))
    return shape


class _Parts(Transform):
    """A transform for each part of a tensor along a dim."""

    def __init__(self, tseq, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = [t.with_cache(cache_size) for t in tseq], dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))  # type: ignore[assignment]

    def _split(self, x: Tensor) -> list[Tensor]:
        raise undefined(self, "def _split(self, x)")

    def _joined(self, parts: list[Tensor], dim: int) -> Tensor:
        raise undefined(self, "def _joined(self, parts, dim)")

    def _call(self, x):
        return self._joined([t(part) for t, part in zip(self.transforms, self._split(x))], self.dim)

    def _inverse(self, y):
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._split(y))], self.dim)


class CatTransform(_Parts):
    """A transform for each part, of these lengths, along a dim."""

    def __init__(self, tseq: list, dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))  # type: ignore[assignment]
    length = property(lambda self: sum(self.lengths))

    def with_cache(self, cache_size: int = 1) -> "CatTransform":
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _split(self, x):
        return list(x.split(self.lengths, self.dim))

    def _joined(self, parts, dim):
        return concat(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        found = []
        for t, a, b in zip(self.transforms, self._split(x), self._split(y)):
            found.append(summed(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return concat(found, dim) if dim < 0 else sum(found)

    domain = property(  # type: ignore[assignment]
        lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)
    )
    codomain = property(  # type: ignore[assignment]
        lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)
    )


class StackTransform(_Parts):
    """A transform for each slice along a dim."""

    def with_cache(self, cache_size: int = 1) -> "StackTransform":
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _split(self, x):
        return list(x.unbind(self.dim))

    def _joined(self, parts, dim):
        return stack(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._split(x), self._split(y))
        return stack([t.log_abs_det_jacobian(a, b) for t, a, b in pairs], self.dim)

    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))  # type: ignore[assignment]
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))  # type: ignore[assignment]


class CumulativeDistributionTransform(Transform):
    """y = cdf(x) of a distribution."""

    bijective, sign = True, +1
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)  # type: ignore[assignment]

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution, cache_size)

    def _call(self, x):
        return self.distribution.cdf(x)

    def _inverse(self, y):
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
