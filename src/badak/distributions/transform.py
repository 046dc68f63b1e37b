"""The base of transforms, their reverse, and what several of them need."""

import math
import weakref
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, NotSupportedError, tr, undefined
from badak.distributions.constraints import Constraint
from badak.tensor import Size, Tensor, arange, finfo, zeros


class Transform:
    """The base. A derived class defines domain, codomain, _call, _inverse and log_abs_det_jacobian.

    cache_size: 1 keeps the last x and y, so that transform.inv(transform(x)) is x itself.
    """

    bijective = False
    domain: Constraint
    codomain: Constraint
    _inv: Any = None

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ArgumentError("cache_size must be 0 or 1", "cache_size=1")
        self._cache_size = cache_size
        self._cached_x_y: tuple = (None, None)

    def __getstate__(self):
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """How many dims one value has, over which log_abs_det_jacobian is summed."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ArgumentError("Please use either .domain.event_dim or .codomain.event_dim", None)

    def _inverted(self) -> "Transform":
        return _InverseTransform(self)

    @property
    def inv(self) -> "Transform":
        """The transform back."""
        back = None if self._inv is None else self._inv()
        if back is None:
            back = self._inverted()
            self._inv = weakref.ref(back)
        return back

    @property
    def sign(self) -> Any:
        """The sign of the slope, where it is one for all x."""
        raise NotSupportedError(tr("{} has no sign", type(self).__name__), None)

    def with_cache(self, cache_size: int = 1) -> "Transform":
        """The same with another cache_size."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotSupportedError(tr("{}.with_cache is not implemented", type(self)), "def with_cache(self, cache_size=1)")

    def __call__(self, x: Tensor) -> Tensor:
        """y of x."""
        if self._cache_size == 0:
            return self._call(x)
        if x is not self._cached_x_y[0]:
            self._cached_x_y = x, self._call(x)
        return self._cached_x_y[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        """x of y."""
        if self._cache_size == 0:
            return self._inverse(y)
        if y is not self._cached_x_y[1]:
            self._cached_x_y = self._inverse(y), y
        return self._cached_x_y[0]

    def _call(self, x: Tensor) -> Tensor:
        raise undefined(self, "def _call(self, x)")

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotSupportedError(tr("{} cannot be reversed", type(self).__name__), None)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """ln |dy/dx|."""
        raise NotSupportedError(tr("{} has no log_abs_det_jacobian", type(self).__name__), None)

    def forward_shape(self, shape: Sequence[int]) -> Any:
        """The shape that y has for an x of this one."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Any:
        """The shape that x has for a y of this one."""
        return shape

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Transform = transform

    inv = property(lambda self: self._inv)
    bijective = property(lambda self: self._inv.bijective)  # type: ignore[assignment]
    sign = property(lambda self: self._inv.sign)
    domain = property(lambda self: self._inv.codomain)  # type: ignore[assignment]
    codomain = property(lambda self: self._inv.domain)  # type: ignore[assignment]

    def __getstate__(self):
        return dict(self.__dict__)

    def with_cache(self, cache_size: int = 1):
        return self.inv.with_cache(cache_size).inv

    def __call__(self, x):
        return self._inv._inv_call(x)

    def _inv_call(self, y):
        return self._inv(y)

    _call, _inverse = __call__, _inv_call

    def log_abs_det_jacobian(self, x, y):
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"


class Plain(Transform):
    """A transform without parameters."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = Transform.__hash__


def summed(value: Any, dim: int) -> Any:
    """value summed over its last `dim` dims; a number stays as it is."""
    if dim == 0 or not isinstance(value, Tensor):
        return value
    return value.reshape(value.shape[: value.dim() - dim] + (-1,)).sum(-1)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries of (..., n, n) up to a diagonal, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ArgumentError(tr("diag ({}) provided is outside [{}, {}].", diag, -n, n - 1), "diag=0")
    at = arange(n)
    return mat[..., at < at.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The opposite of tril_matrix_to_vec: (..., k) as triangles with zeros elsewhere."""
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * vec.shape[-1] + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if not math.isclose(n, round(n), abs_tol=finfo(vec.dtype).eps):
        raise ArgumentError(tr("The size of last dimension is {} which cannot be expressed as a triangle.", vec.shape[-1]), None)
    size = round(n)
    at = arange(size)
    mat = zeros(Size((*vec.shape[:-1], size, size)), dtype=vec.dtype)
    mat[..., at < at.view(-1, 1) + (diag + 1)] = vec
    return mat
