"""Parametrizations that PyTorch brings along: a weight by length and direction, and one whose largest singular value is 1."""

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, NotSupportedError, tr
from badak.nn.functional import normalize
from badak.nn.module import Module
from badak.nn.utils import parametrize
from badak.ops._check import axis_of
from badak.tensor import Tensor, concat, eye, finfo, geqrf, matrix_exp, randn, zeros_like
from badak.tensor.linalg import householder_product, solve, vector_norm


def length(v: Tensor, dim: int) -> Tensor:
    """The norm over all dims but `dim`, which stays; of everything for dim -1."""
    if dim == -1:
        return vector_norm(v)
    kept = axis_of(dim, v.dim())
    return vector_norm(v, 2, [axis for axis in range(v.dim()) if axis != kept], keepdim=True)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / length(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return length(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """w = g v / |v|, the norm over all dims but `dim` (None: over all).   g and v are `parametrizations.weight.original0`, `1`.

    A state_dict with `weight_g` and `weight_v` is read too. Source: Salimans and Kingma 2016, "Weight normalization".
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def renamed(state_dict, prefix, *others) -> None:
        g, v = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if g in state_dict and v in state_dict:
            state_dict[f"{prefix}parametrizations.{name}.original0"] = state_dict.pop(g)
            state_dict[f"{prefix}parametrizations.{name}.original1"] = state_dict.pop(v)

    module._register_load_state_dict_pre_hook(renamed)
    return module


class _SpectralNorm(Module):
    """w / s(w), s the largest singular value: u and v, its vectors, move by `n_power_iterations` in each training step."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        axis_of(dim, weight.dim())
        if n_power_iterations <= 0:
            cause = tr("Expected n_power_iterations to be positive, but got n_power_iterations={}", n_power_iterations)
            raise ArgumentError(cause, "1")
        self.dim, self.eps, self.n_power_iterations = dim if dim >= 0 else dim + weight.dim(), eps, n_power_iterations
        if weight.dim() > 1:
            rows, columns = self._matrix(weight).shape
            for vector, size in (("_u", rows), ("_v", columns)):
                drawn = weight.new_empty(size).normal_(0, 1)
                self.register_buffer(vector, normalize(drawn, dim=0, eps=eps))
            with no_grad():
                self._move(self._matrix(weight), 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _move(self, matrix: Tensor, times: int) -> None:
        """u = w v / |w v|, v = w' u / |w' u|, in place."""
        for _ in range(times):
            self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            with no_grad():
                self._move(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # which move again before the backward of a second call
        return weight / u.vdot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """w / s(w), s the largest singular value of w as a matrix whose rows are `dim` (0; 1 of transposed convolutions).

    Source: Miyato, Kataoka, Koyama and Yoshida 2018, "Spectral normalization for generative adversarial networks".
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        cause = tr("Module '{}' has no parameter or buffer with name '{}'", type(module).__name__, name)
        raise ArgumentError(cause, "name='weight'")
    dim = (1 if getattr(module, "transposed", False) else 0) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows where it is wide: base Q(x), Q of one of three maps.

    matrix_exp: exp(A)      cayley: (I - A/2)^-1 (I + A/2)      householder: the product of reflections      A = tril(x) - tril(x)'
    """

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            cause = tr("The householder parametrization does not support complex tensors.")
            raise ArgumentError(cause, 'orthogonal_map="matrix_exp" or "cayley"')
        self.shape, self.orthogonal_map, self.trivial = weight.shape, orthogonal_map, use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:  # noqa: N803  (PyTorch's name)
        wide = X.size(-2) < X.size(-1)
        x = X.mT if wide else X
        n, k = x.size(-2), x.size(-1)
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            q = householder_product(a, 2.0 / (1.0 + (a * a).sum(dim=-2)))
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            a = x.tril()
            if n != k:
                a = concat([a, a.new_zeros(n, n - k).expand(*a.shape[:-2], -1, -1)], -1)
            a = a - a.mH
            one = eye(n, dtype=a.dtype)
            q = matrix_exp(a) if self.orthogonal_map == "matrix_exp" else solve(one - 0.5 * a, one + 0.5 * a)
            q = q[..., :k] if n != k else q
        if self.trivial and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:  # noqa: N803
        """An x that gives Q; of a matrix that is not orthogonal the nearest by QR."""
        if Q.shape != self.shape:
            cause = tr("Expected a matrix or batch of matrices of shape {}. Got {}.", self.shape, Q.shape)
            raise ArgumentError(cause, "the weight's shape")
        wide = Q.size(-2) < Q.size(-1)
        q = Q.mT if wide else Q
        n, k = q.size(-2), q.size(-1)
        if not self.trivial:
            if self.orthogonal_map != "householder":
                raise NotSupportedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False.",
                    "use_trivialization=True",
                )
            a, tau = geqrf(q)
            d = a.diagonal(dim1=-2, dim2=-1)
            d.sign_()
            d[tau == 0.0] *= -1
            return a.mT if wide else a
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _made_orthogonal(q)
        else:
            q = _made_orthogonal(concat([q, randn(*(q.size()[:-2] + (n, n - k)), dtype=q.dtype)], -1))
        self.base = q
        start = zeros_like(Q)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _is_orthogonal(q: Tensor) -> bool:
    one = eye(q.size(-1), dtype=q.dtype)
    return bool((q.mH @ q).allclose(one, atol=10.0 * q.size(-1) * finfo(q.dtype).eps))


def _made_orthogonal(a: Tensor) -> Tensor:
    x, tau = geqrf(a)
    return householder_product(x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Let a matrix stay orthogonal while it is trained. orthogonal_map: "matrix_exp", "cayley" or "householder" (of tall ones).

    use_trivialization: a base matrix, so that the weight can start from, and be set to, any orthogonal matrix.
    Source: Lezcano-Casado 2019, "Trivializations for gradient-based optimization on manifolds".
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ArgumentError(tr("Module '{}' has no parameter or buffer with name '{}'", module, name), "name='weight'")
    if weight.dim() < 2:
        cause = tr("Expected a matrix or batch of matrices. Got a tensor of {} dimensions.", weight.dim())
        raise ArgumentError(cause, "a weight of 2 dims")
    square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
    chosen = orthogonal_map or ("matrix_exp" if square else "householder")
    if chosen not in ("matrix_exp", "cayley", "householder"):
        cause = tr('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {}', orthogonal_map)
        raise ArgumentError(cause, '"matrix_exp"')
    parametrize.register_parametrization(module, name, _Orthogonal(weight, chosen, use_trivialization), unsafe=True)
    return module
