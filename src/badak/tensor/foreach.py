"""PyTorch's functions over lists of tensors: `_foreach_add(xs, ys)` is the tuple of x + y, `_foreach_add_(xs, ys)` changes each x.

They are private there and used by many programs: for moving averages of weights, and in optimizers. Here each is the method of
that name, tensor by tensor, so that dtypes, gradients and refusals are those of the method. A second argument is a number, a
number for each tensor, a tensor for each, or one tensor of no dims.
"""

from collections.abc import Callable, Iterable
from inspect import signature
from typing import Any

from badak.core.errors import ArgumentTypeError, ShapeError, tr
from badak.core.public_api.public import found, listed
from badak.core.public_api.taken import named
from badak.tensor import Tensor
from badak.tensor.linalg import vector_norm


def _listed(xs, where: str) -> list[Tensor]:
    if not isinstance(xs, list | tuple) or not all(isinstance(x, Tensor) for x in xs):
        raise ArgumentTypeError(tr("{}: expected a list of Tensors; got {}", where, type(xs).__name__), f"{where}([x, y], ...)")
    if not xs:
        raise ShapeError("Tensor list must have at least one tensor.", "a list that is not empty")
    return list(xs)


def _each(other: Any, xs: list[Tensor], where: str) -> Iterable:
    """What belongs to each of xs."""
    if isinstance(other, list | tuple):
        if len(other) != len(xs):
            tensors = all(isinstance(y, Tensor) for y in other)
            raise ShapeError(
                tr("Tensor lists must have the same number of tensors, got {} and {}", len(xs), len(other))
                if tensors
                else "Tensor list must have same number of elements as scalar list.",
                tr("{} takes one for each tensor", where),
            )
        return other
    if isinstance(other, Tensor) and other.dim():
        cause = tr("scalar tensor expected to be 0 dim but it has {} dimensions and {} elements.", other.dim(), other.numel())
        raise ShapeError(cause, tr("{}(xs, list of tensors), or a number", where))
    return [other] * len(xs)


def _bound(other: Any, x: Tensor) -> Any:
    """A number as a tensor, for a method that takes tensors alone."""
    return other if isinstance(other, Tensor) else x.new_full((), other)


def _unary(name: str, where: str) -> Callable:
    def run(self) -> list:
        return [getattr(x, name)() for x in _listed(self, where)]

    return run


def _binary(name: str, where: str) -> Callable:
    bounds = name.rstrip("_") in ("maximum", "minimum")
    method = {"maximum_": "clamp_min_", "minimum_": "clamp_max_"}.get(name, name)

    def run(self, other, *, alpha=None) -> list:
        if not isinstance(self, list | tuple) and name == "pow":
            exponents = _listed(other, where)
            return [self**y for y in exponents]
        xs, named = _listed(self, where), {} if alpha is None else {"alpha": alpha}
        return [getattr(x, method)(_bound(y, x) if bounds else y, **named) for x, y in zip(xs, _each(other, xs, where))]

    return run


def _ternary(name: str, where: str) -> Callable:
    def run(self, tensor1, tensor2, value=1) -> list:
        xs = _listed(self, where)
        values = value.tolist() if isinstance(value, Tensor) and value.dim() else value
        parts = zip(xs, _each(tensor1, xs, where), _each(tensor2, xs, where), _each(values, xs, where))
        return [getattr(x, name)(a, b, value=v.item() if isinstance(v, Tensor) else v) for x, a, b, v in parts]

    return run


def _lerp(name: str, where: str) -> Callable:
    def run(self, tensors1, weight) -> list:
        xs = _listed(self, where)
        return [getattr(x, name)(y, w) for x, y, w in zip(xs, _each(tensors1, xs, where), _each(weight, xs, where))]

    return run


def _foreach_norm(self, ord=2, dtype=None) -> tuple[Tensor, ...]:  # noqa: A002
    """The norm of each tensor as one vector."""
    return tuple(vector_norm(x, ord, dtype=dtype) for x in _listed(self, "_foreach_norm"))


def _foreach_powsum(self, ord=2, dtype=None) -> tuple[Tensor, ...]:  # noqa: A002
    """The sum of |x|^ord of each tensor."""
    return tuple((x if dtype is None else x.to(dtype)).abs().pow(ord).sum() for x in _listed(self, "_foreach_powsum"))


def _foreach_max(self) -> tuple[Tensor, ...]:
    """The largest entry of each tensor."""
    return tuple(x.max() for x in _listed(self, "_foreach_max"))


def _foreach_mm(self, mat2) -> tuple[Tensor, ...]:
    """The product of each pair of matrices."""
    xs = _listed(self, "_foreach_mm")
    return tuple(x.mm(y) for x, y in zip(xs, _each(mat2, xs, "_foreach_mm")))


def _foreach_clone(self, *, memory_format=None) -> tuple[Tensor, ...]:
    """A copy of each tensor."""
    return tuple(x.clone() for x in _listed(self, "_foreach_clone"))


def _foreach_copy_(self, src, non_blocking: bool = False):
    """Each tensor holds what its partner in src holds."""
    xs = _listed(self, "_foreach_copy_")
    for x, y in zip(xs, _each(src, xs, "_foreach_copy_")):
        x.copy_(y)
    return self


def _foreach_zero_(self):
    """Each tensor holds zeros."""
    for x in _listed(self, "_foreach_zero_"):
        x.zero_()
    return self


def _named(name: str, make: Callable) -> dict[str, Callable]:
    """The function `_foreach_<name>`, and the one that changes its tensors."""
    made = {}
    for end in ("", "_"):
        public = f"_foreach_{name}{end}"
        made[public] = _finished(make(name + end, public), public, bool(end))
    return made


# PyTorch's words for the last argument, which is a number, numbers or tensors
_LAST = {"scalar": "other", "scalars": "other", "exponent": "other"}
_WORDS = {"addcmul": {"scalars": "value"}, "addcdiv": {"scalars": "value"}, "lerp": {"weights": "weight"}}


def _finished(run: Callable, public: str, in_place: bool) -> Callable:
    words = _WORDS.get(public.removeprefix("_foreach_").rstrip("_"), _LAST)

    def over_a_list(self, *args, **named):
        made = run(self, *args, **{words.get(key, key): value for key, value in named.items()})
        return self if in_place else tuple(made)

    return named(over_a_list, public, f"Tensor.{public.removeprefix('_foreach_')} of each tensor of a list.")


def _all() -> dict[str, Callable]:
    made = {name: value for name, value in globals().items() if name.startswith("_foreach_")}
    for name, file, other in listed("foreach"):
        parameters = signature(found(file, other)).parameters.values()
        one = sum(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters) == 1
        made |= _named(name, _unary if one else _binary)
    return made | _named("addcmul", _ternary) | _named("addcdiv", _ternary) | _named("lerp", _lerp)


FUNCTIONS = _all()
