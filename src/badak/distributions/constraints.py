"""What values may be: constraint.check(x) says it for each event of x, as booleans. Names and texts are PyTorch's."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError
from badak.tensor import Tensor, bool_


class Constraint:
    """A set of values. event_dim: how many dims one value has; is_discrete: whether its values lie apart."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the set, of value's shape without its last event_dim dims."""
        raise NotSupportedError(f"{type(self).__name__} defines no check", "def check(self, value)")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A constraint that depends on the parameters of its distribution."""

    def __init__(self, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value: Tensor) -> Tensor:
        raise ArgumentError("Cannot determine validity of dependent constraint", "the `support` of a distribution that was made")


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value):
        return value == value


class _Numbers(Constraint):
    """Numbers between bounds."""

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)
        shown = {name: f"a tensor of shape {tuple(x.shape)}" if getattr(x, "ndim", 0) else f"{x}" for name, x in bounds.items()}
        self._shown = ", ".join(f"{name}={text}" for name, text in shown.items())

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}({self._shown})"


class _GreaterThan(_Numbers):
    def __init__(self, lower_bound) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value):
        return value > self.lower_bound


class _GreaterThanEq(_GreaterThan):
    def check(self, value):
        return value >= self.lower_bound


class _LessThan(_Numbers):
    def __init__(self, upper_bound) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Numbers):
    def __init__(self, lower_bound, upper_bound) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value):
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value):
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerGreaterThan(_GreaterThan):
    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Multinomial(Constraint):
    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound) -> None:
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Square(Constraint):
    event_dim = 2

    def check(self, value):
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value):
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value):
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _Symmetric(_Square):
    def check(self, value):
        return super().check(value) & value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value):
        return super().check(value) & _smallest(value, 0.0)


class _PositiveDefinite(_Symmetric):
    def check(self, value):
        return super().check(value) & _has_cholesky(value)


def _smallest(value: Tensor, least: float) -> Tensor:
    eigenvalues = np.linalg.eigvalsh(value.detach()._array)
    return Tensor._of(np.asarray((eigenvalues >= least).all(-1)))


def _has_cholesky(value: Tensor) -> Tensor:
    """Whether each matrix has a Cholesky factor: all leading eigenvalues above 0, as the factorisation itself finds out."""
    matrices = value.detach()._array
    found = np.zeros(matrices.shape[:-2], bool)
    for at in np.ndindex(found.shape):
        try:
            np.linalg.cholesky(matrices[at])
            found[at] = True
        except np.linalg.LinAlgError:
            continue
    return Tensor._of(found)


class _Independent(Constraint):
    """The last dims of a value taken together: all of it must lie in the base set."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete, self.event_dim = (
            base_constraint.is_discrete,
            base_constraint.event_dim + reinterpreted_batch_ndims,
        )

    def check(self, value):
        found = self.base_constraint.check(value)
        return found.flatten(found.dim() - self.reinterpreted_batch_ndims).all(-1) if self.reinterpreted_batch_ndims else found

    def __repr__(self) -> str:
        return f"Independent({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on the parameters of its distribution."""
    return isinstance(constraint, _Dependent)


dependent = _Dependent()
boolean, real, simplex, one_hot = _Boolean(), _Real(), _Simplex(), _OneHot()
real_vector = _Independent(real, 1)
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial, independent = _Multinomial, _Independent
square, symmetric, lower_triangular, lower_cholesky = _Square(), _Symmetric(), _LowerTriangular(), _LowerCholesky()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
