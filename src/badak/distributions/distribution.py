"""What all distributions share: shapes, checks of what they are given, the gradient-free draw."""

import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from badak.autograd import enable_grad, no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr
from badak.core.public_api.homes import home
from badak.distributions.constraints import Constraint, is_dependent
from badak.tensor import Size, Tensor, broadcast_tensors, finfo, get_default_dtype, tensor


class lazy_property(cached_property):  # noqa: N801  (used as a decorator)
    """What is computed when it is first asked for, with its gradient even where that is under no_grad, and then kept."""

    @property
    def wrapped(self) -> Any:
        """The function that computes it."""
        return self.func

    def __get__(self, instance, owner=None):
        with enable_grad():
            return super().__get__(instance, owner)


class Distribution:
    """Draws of shape sample_shape + batch_shape + event_shape, and what is known of them.

    batch_shape: one distribution for each entry. event_shape: the shape of one draw of one of them. validate_args: whether
    parameters and values are checked (by default, yes).
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints: dict[str, Constraint] = {}
    _validate_args = True

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None) -> None:  # noqa: B008
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            if type(self).arg_constraints is Distribution.arg_constraints:
                warnings.warn(
                    f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                    "distribution with `validate_args=False` to turn off validation.",
                    stacklevel=2,
                )
            for name, constraint in self.arg_constraints.items():
                known = name in self.__dict__ or isinstance(getattr(type(self), name, None), property)  # not computed only if asked
                if known and not is_dependent(constraint):
                    self._check(getattr(self, name), constraint, name)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check what they are given, unless told otherwise."""
        if value not in (True, False):
            raise ArgumentError("set_default_validate_args: not a bool", "True or False")
        Distribution._validate_args = value

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        raise NotSupportedError(tr("{} has no mean", type(self).__name__), None)

    @property
    def variance(self) -> Tensor:
        raise NotSupportedError(tr("{} has no variance", type(self).__name__), None)

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws as a function of the parameters, so that gradients reach them; not every distribution has it."""
        raise NotSupportedError(tr("{} has no rsample: its draws have no gradient", type(self).__name__), "log_prob of sample()")

    def log_prob(self, value: Tensor) -> Tensor:
        """The log of the density or probability at `value`."""
        raise NotSupportedError(tr("{} has no log_prob", type(self).__name__), None)

    def entropy(self) -> Tensor:
        """The expectation of -log_prob, in nats."""
        raise NotSupportedError(tr("{} has no entropy", type(self).__name__), None)

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()) -> Size:
        if not isinstance(sample_shape, Iterable):
            raise ArgumentTypeError(tr("expected sizes as sample_shape; got {!r}", sample_shape), f"sample(({sample_shape!r},))")
        return Size(sample_shape) + self._batch_shape + self._event_shape

    @property
    def support(self) -> Constraint:
        """What a value must be."""
        raise NotSupportedError(tr("{} has no support", type(self).__name__), None)

    @property
    def mode(self) -> Tensor:
        raise NotSupportedError(tr("{} has no mode", type(self).__name__), None)

    def cdf(self, value: Tensor) -> Tensor:
        """P(x <= value)."""
        raise NotSupportedError(tr("{} has no cdf", type(self).__name__), "the mean of (sample((n,)) <= value)")

    def icdf(self, value: Tensor) -> Tensor:
        """The x with cdf(x) = value."""
        raise NotSupportedError(tr("{} has no icdf", type(self).__name__), "sample((n,)).quantile(value, 0)")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along the first dim."""
        raise NotSupportedError(tr("{} cannot list its values", type(self).__name__), "sample()")

    def sample_n(self, n: int) -> Tensor:
        """n draws, or n batches of them: PyTorch's old name of sample((n,))."""
        return self.sample(Size((n,)))

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape. _instance: what a derived class has made, to be filled."""
        public = vars(sys.modules[__package__])
        family = next(kind for kind in type(self).__mro__ if public.get(kind.__name__) is kind)
        made = self._get_checked_instance(family, _instance)
        before, computed = set(made.__dict__), self._computed()
        made.__dict__.update({name: v for name, v in self.__dict__.items() if name not in computed and name not in before})
        for name, event_dim in self._expanded().items():
            value = None if name in before else made.__dict__.get(name)
            if isinstance(value, Tensor):
                made.__dict__[name] = value.expand((*batch_shape, *value.shape[value.dim() - event_dim :]))
        made._batch_shape = Size(batch_shape)
        return made

    def _get_checked_instance(self, cls, _instance=None):
        """An empty one for `expand` of cls to fill. Raises where a derived class with another __init__ has no expand of its own."""
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__ and not home(type(self)).startswith("badak."):
            cause = tr("Subclass {} of {} that defines a custom __init__ method must also define a custom .expand() method",
                       type(self).__name__, cls.__name__)  # fmt: skip
            raise NotSupportedError(cause, "def expand(self, batch_shape, _instance=None)")
        return object.__new__(type(self))

    def _expanded(self) -> dict[str, int]:
        """What has the batch shape in front: {name: how many dims follow}."""
        return {name: constraint.event_dim for name, constraint in self.arg_constraints.items() if name in self.__dict__}

    def _computed(self) -> set[str]:
        """What is computed from the rest when it is first asked for."""
        return {name for kind in type(self).__mro__ for name, value in vars(kind).items() if isinstance(value, cached_property)} - (
            set(self._given)
        )

    _given: tuple[str, ...] = ()  # of what may be computed: what was given

    def _check_value(self, value: Any) -> None:
        """Raise for a value outside the support, unless nothing is to be checked."""
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ArgumentTypeError("The value argument to log_prob must be a Tensor", "badak.tensor(value)")
        if value.shape[value.dim() - len(self._event_shape) :] != self._event_shape:
            raise ArgumentError(
                tr("The right-most size of value must match event_shape: {} vs {}.", tuple(value.shape), tuple(self._event_shape)),
                None,
            )
        shape = self._batch_shape + self._event_shape
        for mine, given in zip(reversed(shape), reversed(tuple(value.shape))):
            if mine != 1 and given not in (1, mine):
                cause = tr("Value is not broadcastable with batch_shape+event_shape: {} vs {}.", tuple(value.shape), tuple(shape))
                raise ArgumentError(cause, None)
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=2,
            )
        else:
            self._check(value, support)

    def _check(self, value: Tensor, rule: Constraint, parameter: str = "") -> None:
        proper = rule.check(value)
        if not bool(proper.all()):
            outside = value[~proper] if value.ndim and proper.shape == value.shape else value
            shape, found = tuple(value.shape), outside.detach().flatten()[:4].tolist()
            cause = (
                tr("Expected parameter {} (Tensor of shape {}) of distribution {} to satisfy the constraint {}, "
                   "but found invalid values: {}", parameter, shape, self, rule, found) if parameter else
                tr("Expected value argument (Tensor of shape {}) to be within the support ({}) of the distribution {}, "
                   "but found invalid values: {}", shape, rule, self, found)
            )  # fmt: skip
            raise ArgumentError(cause, "validate_args=False leaves the check out")

    def __repr__(self) -> str:
        shown = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        parts = [f"{name}: {value.item() if value.numel() == 1 else value.size()}" for name, value in shown.items()]
        return f"{type(self).__name__}({', '.join(parts)})"


def broadcast_all(*values: Any) -> list[Tensor]:
    """Numbers and tensors as tensors of one shape and dtype."""
    for v in values:
        if not isinstance(v, Tensor | numbers.Number) and not hasattr(v, "__torch_function__"):
            cause = tr("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
            raise ArgumentError(cause, tr("badak.as_tensor(x): one is {}", type(v).__name__))
    first = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = get_default_dtype() if first is None else first.dtype
    made = [v if isinstance(v, Tensor) else tensor(float(v), dtype=dtype) for v in values]
    return list(broadcast_tensors(*made))


def batch_of(parameter: Tensor, *given: Any) -> Size:
    """The batch shape: none where all that was given are numbers."""
    return Size() if all(isinstance(v, numbers.Number) for v in given) else Size(parameter.shape)


def clamp_probs(probs: Tensor) -> Tensor:
    """Kept an eps away from 0 and 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """log p, or log p - log(1 - p) of two classes; p is kept an eps away from 0 and 1."""
    p = clamp_probs(probs)
    return p.log() - (-p).log1p() if is_binary else p.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """softmax, or the sigmoid of two classes."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def one_of(probs: Tensor | float | None, logits: Any) -> None:
    """Raise unless one of the two is given."""
    if (probs is None) == (logits is None):
        raise ArgumentError("Either `probs` or `logits` must be specified, but not both.", "logits=scores")


LOG_SQRT_2PI = math.log(math.sqrt(2 * math.pi))
