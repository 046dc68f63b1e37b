"""Distributions of angles, of correlation matrices and of covariance matrices."""

import math
from collections.abc import Sequence
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, tr
from badak.distributions import constraints
from badak.distributions.distribution import Distribution, broadcast_all, lazy_property
from badak.distributions.positive import Beta, Chi2
from badak.tensor import (
    Size,
    Tensor,
    arange,
    as_tensor,
    broadcast_shapes,
    concat,
    diag_embed,
    empty,
    finfo,
    float64,
    linalg,
    mvlgamma,
    rand,
    randn,
    tril_indices,
    where,
    zeros_like,
)
from badak.tensor.linalg.factors import cholesky_solve
from badak.tensor.special import i0e, i1e


class VonMises(Distribution):
    """Angles.   log_prob = k cos(x - loc) - ln(2 pi) - ln I0(k), k = concentration. Draws by Best and Fisher (1979)."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Tensor, concentration: Tensor, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """1 - I1(k) / I0(k), that of a circle."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        k = self.concentration
        return k * (value - self.loc).cos() - math.log(2 * math.pi) - (i0e(k).log() + k)

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Draws without gradient, by rejection."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            k = self.concentration.to(float64)
            tau = 1 + (1 + 4 * k**2).sqrt()
            rho = (tau - (2 * tau).sqrt()) / (2 * k)
            r = where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho)).expand(shape)
            k = k.expand(shape)
            x, done = empty(shape, dtype=float64).zero_(), zeros_like(r) > 0
            while not bool(done.all()):
                u1, u2, u3 = rand((3, *shape), dtype=float64).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                x = where(accept, (u3 - 0.5).sign() * f.clamp(-1, 1).acos(), x)
                done = done | accept
            return ((x + math.pi + self.loc.to(float64)) % (2 * math.pi) - math.pi).to(self.loc.dtype)


class LKJCholesky(Distribution):
    """Cholesky factors L of dim x dim correlation matrices: the density of L L' is proportional to det^(concentration - 1).

    Draws by the onion method (Lewandowski, Kurowicka and Joe 2009).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Tensor | float = 1.0, validate_args: bool | None = None) -> None:
        if type(dim) is not int or dim < 2:
            raise ArgumentError(tr("Expected dim to be an integer greater than or equal to 2. Found dim={}.", dim), "dim=2 or more")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        batch = self.concentration.size()
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = concat([marginal.new_zeros((1,)), arange(dim - 1, dtype=marginal.dtype)])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(batch, Size((dim, dim)), validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made._beta = self._beta.expand((*batch_shape, self.dim))
        return made

    def sample(self, sample_shape: Sequence[int] = Size()) -> Tensor:  # noqa: B008
        """Row k: a random direction of k - 1 numbers, of a length whose square is a Beta number."""
        with no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            u = randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
            u = u / u.norm(dim=-1, keepdim=True)
            u[..., 0, :].fill_(0.0)
            w = y.sqrt() * u
            return w + diag_embed((1 - (w**2).sum(-1)).clamp(min=finfo(w.dtype).tiny).sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - arange(2, self.dim + 1)
        total = (order * diagonal.log()).sum(-1)
        n, alpha = self.dim - 1, self.concentration + 0.5 * (self.dim - 1)
        norm = 0.5 * n * math.log(math.pi) + (alpha - 0.5).mvlgamma(n) - alpha.lgamma() * n
        return total - norm


class Wishart(Distribution):
    """Sums of df outer products of normal vectors of this covariance; draws by Bartlett's decomposition."""

    has_rsample = True
    support = constraints.positive_definite
    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        ways = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: value for name, value in ways.items() if value is not None}
        if len(given) != 1:
            cause = tr("Expected exactly one of covariance_matrix or precision_matrix or scale_tril arguments to be specified.")
            raise ArgumentError(cause, "covariance_matrix=S")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ArgumentError(tr("{} must be at least two-dimensional, with optional leading batch dimensions", name), None)
        df = as_tensor(df, dtype=matrix.dtype)
        batch = broadcast_shapes(matrix.shape[:-2], df.shape)
        n = matrix.shape[-1]
        if bool((df <= n - 1).any()):
            raise ArgumentError(tr("Value of df={} expected to be greater than ndim - 1 = {}.", df, n - 1), f"df={n}")
        self.df = df.expand(batch)
        self.__dict__[name], self._given = matrix.expand((*batch, n, n)), (name,)
        super().__init__(batch, matrix.shape[-2:], validate_args)
        inverted = linalg.inv(matrix) if name == "precision_matrix" else matrix
        self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else linalg.cholesky(inverted)
        self._chi2 = Chi2(self.df.unsqueeze(-1) - arange(n, dtype=matrix.dtype).expand((*batch, n)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same with a larger batch shape."""
        made = super().expand(batch_shape, _instance)
        made._chi2 = self._chi2.expand((*batch_shape, self.event_shape[-1]))
        return made

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        lower = self._unbroadcasted_scale_tril
        return (lower @ lower.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return linalg.inv(self.covariance_matrix)

    mean = property(lambda self: self.df.view(*self._batch_shape, 1, 1) * self.covariance_matrix)

    @property
    def mode(self) -> Tensor:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan).view(*self._batch_shape, 1, 1) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view(*self._batch_shape, 1, 1) * (v.pow(2) + d.unsqueeze(-1) * d.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = Size(), max_try_correction: int = 10) -> Tensor:  # noqa: B008
        """Draws; those that are singular by rounding are drawn again, up to max_try_correction times.

        First those are drawn again that are sound, as in PyTorch, so that the same seed gives the same numbers.
        """
        sample = self._bartlett_sampling(sample_shape)
        for at in range(max_try_correction):
            sound = self.support.check(sample)
            bad = (sound.logical_not() if at else sound).reshape(*sample_shape, -1).any(-1)
            if not bool(bad.any()):
                if at:
                    break
                continue
            again = self._bartlett_sampling((int(bad.sum()),))
            sample = sample.index_put((bad,), again) if sample_shape else again[0]
        return sample

    def _bartlett_sampling(self, sample_shape=Size()) -> Tensor:  # noqa: B008  (PyTorch's name: peft calls it)
        """(L A)(L A)', A lower triangular: roots of Chi2 numbers, normal numbers below them."""
        n = self._event_shape[-1]
        lower = diag_embed(self._chi2.rsample(sample_shape).sqrt().clamp(min=finfo(self.df.dtype).eps))
        i, j = tril_indices(n, n, -1)
        lower[..., i, j] = randn((*sample_shape, *self._batch_shape, n * (n - 1) // 2), dtype=self.df.dtype)
        turned = self._unbroadcasted_scale_tril @ lower
        return turned @ turned.mT

    def _log_det(self) -> Tensor:
        return 2 * self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._check_value(value)
        nu, n = self.df, self._event_shape[-1]
        solved = cholesky_solve(value, self._unbroadcasted_scale_tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(-1)
        norm = nu * n / 2 * math.log(2) + nu / 2 * self._log_det() + mvlgamma(nu / 2, p=n)
        return (nu - n - 1) / 2 * linalg.slogdet(value)[1] - trace / 2 - norm

    def entropy(self) -> Tensor:
        nu, n = self.df, self._event_shape[-1]
        half = nu / 2
        psi = (half.unsqueeze(-1) - arange(n, dtype=nu.dtype) / 2).digamma().sum(-1)
        logs = (n + 1) / 2 * (self._log_det() + n * math.log(2))
        return logs + mvlgamma(half, p=n) - (nu - n - 1) / 2 * psi + nu * n / 2
