"""Distributions of vectors: normal ones, and several independent numbers taken as one."""

import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, NotSupportedError, ShapeError, tr
from badak.distributions import constraints
from badak.distributions.distribution import Distribution, lazy_property
from badak.distributions.transforms import summed
from badak.tensor import Size, Tensor, broadcast_shapes, eye, linalg, randn


class MultivariateNormal(Distribution):
    """x = loc + L z, z standard normal, L L' the covariance.   log_prob = -(n ln(2 pi) + |L^-1 (x - loc)|^2) / 2 - sum ln L_kk.

    One of covariance_matrix, precision_matrix (its inverse) and scale_tril (L) is given.
    """

    has_rsample = True
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ArgumentError("loc must be at least one-dimensional.", "loc.unsqueeze(0)")
        ways = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: value for name, value in ways.items() if value is not None}
        if len(given) != 1:
            cause = tr("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
            raise ArgumentError(cause, "covariance_matrix=S")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ArgumentError(tr("{} must be at least two-dimensional, with optional leading batch dimensions", name), None)
        if matrix.shape[-2:] != (loc.shape[-1],) * 2:
            cause = tr("{} of shape {} does not fit loc of shape {}", name, tuple(matrix.shape), tuple(loc.shape))
            raise ShapeError(cause, "(..., n, n) and (..., n)")
        batch = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name], self._given = matrix.expand((*batch, *matrix.shape[-2:])), (name,)
        self.loc = loc.expand((*batch, loc.shape[-1]))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        if name == "precision_matrix":
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        else:
            self._unbroadcasted_scale_tril = linalg.cholesky(matrix) if name == "covariance_matrix" else matrix

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        return (self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(
            (*self._batch_shape, *self._event_shape, *self._event_shape)
        )

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return linalg.inv(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT).expand(
            (*self._batch_shape, *self._event_shape, *self._event_shape)
        )

    mean = mode = property(lambda self: self.loc)
    variance = property(lambda self: self._unbroadcasted_scale_tril.pow(2).sum(-1).expand((*self._batch_shape, *self._event_shape)))

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """loc + L z: gradients reach both."""
        z = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, z)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        n = self._event_shape[0]
        size = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (n * math.log(2 * math.pi) + size) - self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self) -> Tensor:
        half = self._unbroadcasted_scale_tril.diagonal(0, -2, -1).log().sum(-1)
        found = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + half
        return found.expand(self._batch_shape)


def _batch_mahalanobis(tril: Tensor, x: Tensor) -> Tensor:
    """|L^-1 x|^2 for each x (..., n) and L (..., n, n)."""
    return linalg.solve_triangular(tril, x.unsqueeze(-1), upper=False).squeeze(-1).pow(2).sum(-1)


def _batch_mv(matrix: Tensor, x: Tensor) -> Tensor:
    """matrix @ x for each x (..., n) and matrix (..., n, n)."""
    return (matrix @ x.unsqueeze(-1)).squeeze(-1)


def _precision_to_scale_tril(precision: Tensor) -> Tensor:
    """L, lower, of L L^T = precision^-1 (..., n, n).

    With both axes turned round, precision = C C^T; turned back, its factor is U, upper, with U U^T = precision, and L = U^-T.
    """
    upper = linalg.cholesky(precision.flip((-2, -1))).flip((-2, -1))
    one = eye(precision.shape[-1], dtype=precision.dtype)
    return linalg.solve_triangular(upper.mT, one.expand(precision.shape), upper=False)


class Independent(Distribution):
    """The last batch dims of a distribution as dims of one event: log_prob is summed over them."""

    arg_constraints: dict = {}

    def __init__(self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None) -> None:
        n = reinterpreted_batch_ndims
        if n > len(base_distribution.batch_shape):
            cause = tr("Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual {} vs {}", n,
                       len(base_distribution.batch_shape))  # fmt: skip
            raise ArgumentError(cause, f"reinterpreted_batch_ndims={len(base_distribution.batch_shape)}")
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - n
        super().__init__(Size(shape[:cut]), Size(shape[cut:]), validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    mean = property(lambda self: self.base_dist.mean)
    mode = property(lambda self: self.base_dist.mode)
    variance = property(lambda self: self.base_dist.variance)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made.base_dist = self.base_dist.expand((*batch_shape, *self.event_shape[: self.reinterpreted_batch_ndims]))
        return made

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws of the base."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of the base, where no dim of its batch is taken."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotSupportedError("Enumeration over cartesian product is not implemented", "enumerate_support() of the base")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"
