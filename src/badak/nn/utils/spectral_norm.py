"""PyTorch's older spectral normalisation: `weight_orig` is trained, `weight` made of it before each forward.

New programs take `parametrizations.spectral_norm`.
"""

from collections.abc import Sequence
from typing import cast

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, tr
from badak.nn.functional import normalize
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.nn.utils.parametrize import weight_of
from badak.tensor import Tensor


class SpectralNorm:
    """The hook that makes the weight: w / s(w), s = u' w v; u and v move in each forward of training."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            cause = tr("Expected n_power_iterations to be positive, but got n_power_iterations={}", n_power_iterations)
            raise ArgumentError(cause, "n_power_iterations=1")
        self.name, self.dim, self.n_power_iterations, self.eps = name, dim, n_power_iterations, eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix whose rows are `dim`."""
        return weight.movedim(self.dim, 0).flatten(1) if weight.dim() > 1 else weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its largest singular value."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def __call__(self, module: Module, inputs: Sequence[Tensor]) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """w / s(w), s the largest singular value; `weight_orig` is the parameter, `weight_u` and `weight_v` are buffers."""
    hooks = module._forward_pre_hooks.values()
    if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in hooks):
        cause = tr("Cannot register two spectral_norm hooks on the same parameter {}", name)
        raise ArgumentError(cause, "remove_spectral_norm first")
    dim = (1 if getattr(module, "transposed", False) else 0) if dim is None else dim
    hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), cast(Parameter, weight_of("spectral_norm", module, name))
    rows, columns = hook.reshape_weight_to_matrix(weight).shape
    with no_grad():
        u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            with no_grad():
                weight = hook.compute_weight(module, do_power_iteration=False)
            delattr(module, name)
            del module._buffers[name + "_u"], module._buffers[name + "_v"], module._parameters[name + "_orig"]
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ArgumentError(tr("spectral_norm of '{}' not found in {}", name, module), None)
