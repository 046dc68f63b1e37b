"""Which transform leads from all real numbers into a constraint: `biject_to(c)` one to one, `transform_to(c)` at all."""

from collections.abc import Callable
from typing import Any

from badak.core.errors import ArgumentTypeError, NotSupportedError, tr
from badak.distributions import constraints, transforms
from badak.distributions.constraints import Constraint
from badak.distributions.transforms import Transform


class ConstraintRegistry:
    """Looks up a function by the class of a constraint, and calls it with the constraint."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Transform]] = {}

    def register(self, constraint: Any, factory: Callable | None = None) -> Callable:
        """Make `factory` the function for a class of constraints, or for that of one. Without it: a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            cause = tr("Expected constraint to be either a Constraint subclass or instance, but got {}", constraint)
            raise ArgumentTypeError(cause, "constraints.positive")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform into a constraint."""
        if type(constraint) not in self._registry:
            cause = tr("Cannot transform {} constraints", type(constraint).__name__)
            raise NotSupportedError(cause, "register(constraint, function) makes one known")
        return self._registry[type(constraint)](constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _real(constraint) -> Transform:
    return transforms.identity_transform


def _greater(constraint) -> Transform:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


def _less(constraint) -> Transform:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


def _interval(constraint) -> Transform:
    lower, upper = constraint.lower_bound, constraint.upper_bound
    if isinstance(lower, float | int) and isinstance(upper, float | int) and lower == 0 and upper == 1:
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform([transforms.SigmoidTransform(), transforms.AffineTransform(lower, upper - lower)])


def _matrix(constraint) -> Transform:
    lower = isinstance(constraint, type(constraints.lower_cholesky))
    return transforms.LowerCholeskyTransform() if lower else transforms.PositiveDefiniteTransform()


for _each in (biject_to, transform_to):
    _each.register(constraints.real, _real)
    _each.register(constraints.greater_than, _greater)
    _each.register(constraints.greater_than_eq, _greater)
    _each.register(constraints.less_than, _less)
    _each.register(constraints.interval, _interval)
    _each.register(constraints.half_open_interval, _interval)
    for _one in (constraints.lower_cholesky, constraints.positive_definite, constraints.positive_semidefinite):
        _each.register(_one, _matrix)
    _each.register(constraints.corr_cholesky, lambda constraint: transforms.CorrCholeskyTransform())
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())


@biject_to.register(constraints.independent)
def _biject_to_independent(constraint) -> Transform:
    return transforms.IndependentTransform(biject_to(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


@transform_to.register(constraints.independent)
def _transform_to_independent(constraint) -> Transform:
    return transforms.IndependentTransform(transform_to(constraint.base_constraint), constraint.reinterpreted_batch_ndims)


def _parts(registry: ConstraintRegistry) -> None:
    """Constraints of parts, by the transforms of the parts."""

    def cat(constraint) -> Transform:
        return transforms.CatTransform([registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths)

    def stack(constraint) -> Transform:
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_parts(biject_to)
_parts(transform_to)
