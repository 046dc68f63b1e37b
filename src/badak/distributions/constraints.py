"""What values may be: constraint.check(x) says it for each event of x, as booleans. Names and texts are PyTorch's."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError, tr, undefined
from badak.tensor import Tensor, bool_, concat, finfo
from badak.tensor import stack as stacked


class Constraint:
    """A set of values. event_dim: how many dims one value has; is_discrete: whether its values lie apart."""

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each value lies in the set, of value's shape without its last event_dim dims."""
        raise undefined(self, "def check(self, value)")

    def __repr__(self) -> str:
        return type(self).__name__.lstrip("_") + "()"


class _Dependent(Constraint):
    """A constraint that depends on the parameters of its distribution. Called, it gives one of other properties."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim

    is_discrete = property(lambda self: self._known("_is_discrete"))
    event_dim = property(lambda self: self._known("_event_dim"))

    def _known(self, name: str) -> Any:
        if getattr(self, name) is NotImplemented:
            cause = tr("{} of this constraint depends on the distribution", name[1:])
            raise NotSupportedError(cause, "the `support` of one that was made")
        return getattr(self, name)

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> "_Dependent":
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ArgumentError("Cannot determine validity of dependent constraint", "the `support` of a distribution that was made")


class _DependentProperty(property, _Dependent):
    """Decorator: a property whose value is a constraint, and which on the class is itself a dependent one."""

    def __init__(self, fn=None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Tensor) -> Any:
        return value == value


class _Numbers(Constraint):
    """Numbers between bounds."""

    lower_bound: Any
    upper_bound: Any

    def __init__(self, **bounds: Any) -> None:
        self.__dict__.update(bounds)
        shown = {
            name: tr("a tensor of shape {}", tuple(x.shape)) if getattr(x, "ndim", 0) else f"{x}" for name, x in bounds.items()
        }
        self._shown = ", ".join(f"{name}={text}" for name, text in shown.items())

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}({self._shown})"


class _GreaterThan(_Numbers):
    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)

    def check(self, value: Tensor) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Tensor) -> Any:
        return value >= self.lower_bound


class _LessThan(_Numbers):
    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        return value < self.upper_bound


class _Interval(_Numbers):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)

    def check(self, value: Tensor) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Tensor) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerGreaterThan(_GreaterThan):
    is_discrete = True

    def check(self, value: Tensor) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete, event_dim = True, 1

    def check(self, value: Tensor) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Multinomial(Constraint):
    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return value.new_full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Any:
        return super().check(value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Any:
        return super().check(value) & value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
        return super().check(value) & _smallest(value, 0.0)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Any:
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


class _IndependentConstraint(Constraint):
    """The last dims of a value taken together: all of it must lie in the base set."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete, self.event_dim = (base_constraint.is_discrete, base_constraint.event_dim + reinterpreted_batch_ndims)

    def check(self, value: Tensor) -> Any:
        found = self.base_constraint.check(value)
        if found.dim() < self.reinterpreted_batch_ndims:
            cause = tr("Expected value.dim() >= {} but got {}", self.base_constraint.event_dim + self.reinterpreted_batch_ndims,
                       value.dim())  # fmt: skip
            raise ArgumentError(cause, "a value with the dims of one event")
        return found.flatten(found.dim() - self.reinterpreted_batch_ndims).all(-1) if self.reinterpreted_batch_ndims else found

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """What all components of a mixture accept; values have no dim for the components."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        axes = found.dim() - value.dim() + self.event_dim
        return found.flatten(found.dim() - axes).all(-1) if axes > 0 else found

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _CorrCholesky(_LowerTriangular):
    """Cholesky factors of correlation matrices: lower triangular, rows of length 1, diagonal above 0."""

    def check(self, value: Tensor) -> Any:
        length = value.square().sum(-1)
        close = (length - 1.0).abs() <= finfo(value.dtype).eps * value.size(-1) * 10
        return _LowerCholesky().check(value) & close.all(-1)


class _Joined(Constraint):
    """A constraint for each part of a tensor."""

    def __init__(self, cseq, dim: int = 0) -> None:
        self.cseq, self.dim = list(cseq), dim

    is_discrete = property(lambda self: any(c.is_discrete for c in self.cseq))
    event_dim = property(lambda self: max(c.event_dim for c in self.cseq))


class _Cat(_Joined):
    """Parts of these lengths along a dim."""

    def __init__(self, cseq, dim: int = 0, lengths=None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Tensor) -> Any:
        parts = value.split(self.lengths, self.dim)
        return concat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Joined):
    """Slices along a dim."""

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dims = max(c.event_dim for c in self.cseq)
        return dims + 1 if self.dim + dims < 0 else dims

    def check(self, value: Tensor) -> Any:
        return stacked([c.check(part) for c, part in zip(self.cseq, value.unbind(self.dim))], self.dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint depends on the parameters of its distribution."""
    return isinstance(constraint, _Dependent)


dependent = _Dependent()
boolean, real, simplex, one_hot = _Boolean(), _Real(), _Simplex(), _OneHot()
real_vector = _IndependentConstraint(real, 1)
positive, nonnegative, unit_interval = _GreaterThan(0.0), _GreaterThanEq(0.0), _Interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
multinomial, independent = _Multinomial, _IndependentConstraint
square, symmetric, lower_triangular, lower_cholesky = _Square(), _Symmetric(), _LowerTriangular(), _LowerCholesky()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
corr_cholesky, cat, dependent_property = _CorrCholesky(), _Cat, _DependentProperty
_LIST = """Constraint MixtureSameFamilyConstraint boolean cat corr_cholesky dependent dependent_property greater_than
    greater_than_eq half_open_interval independent integer_interval interval is_dependent less_than lower_cholesky
    lower_triangular multinomial nonnegative nonnegative_integer one_hot positive positive_definite positive_integer
    positive_semidefinite real real_vector simplex square stack symmetric unit_interval"""
stack = _Stack
__all__ = _LIST.split()  # noqa: PLE0605
