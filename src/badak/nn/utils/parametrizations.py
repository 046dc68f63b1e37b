"""Parametrizations that PyTorch brings along: a weight by length and direction, and one whose largest singular value is 1."""

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, IndexOutOfRangeError
from badak.nn.functional import normalize
from badak.nn.module import Module
from badak.nn.utils import parametrize
from badak.tensor import Tensor
from badak.tensor.linalg import vector_norm


def length(v: Tensor, dim: int) -> Tensor:
    """The norm over all dims but `dim`, which stays; of everything for dim -1."""
    axes = [axis for axis in range(v.dim()) if dim == -1 or axis != dim % v.dim()]
    return vector_norm(v) if dim == -1 else vector_norm(v, 2, axes, keepdim=True)


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
        if not -weight.dim() <= dim < weight.dim():
            raise IndexOutOfRangeError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but got {dim})",
                "dim=0",
            )
        if n_power_iterations <= 0:
            raise ArgumentError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}", "1")
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
        raise ArgumentError(f"Module '{type(module).__name__}' has no parameter or buffer with name '{name}'", "name='weight'")
    dim = (1 if getattr(module, "transposed", False) else 0) if dim is None else dim
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
