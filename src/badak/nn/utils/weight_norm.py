"""PyTorch's older way to normalise a weight: parameters `weight_g` and `weight_v`, and `weight` made of them before each forward.

New programs take `parametrizations.weight_norm`.
"""

from collections.abc import Sequence

from badak.core.errors import ArgumentError, tr
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.nn.utils.parametrizations import length
from badak.nn.utils.parametrize import weight_of
from badak.tensor.tensor import Tensor


class WeightNorm:
    """The hook that makes the weight."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """g v / |v|."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return v * (g / length(v, self.dim))

    def __call__(self, module: Module, inputs: Sequence[Tensor]) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """w = g v / |v|, the norm over all dims but `dim`; g and v are parameters `weight_g` and `weight_v` of the module."""
    hooks = module._forward_pre_hooks.values()
    if any(isinstance(hook, WeightNorm) and hook.name == name for hook in hooks):
        raise ArgumentError(tr("Cannot register two weight_norm hooks on the same parameter {}", name), "remove_weight_norm first")
    hook, weight = WeightNorm(name, dim), weight_of("weight_norm", module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(length(weight, hook.dim).detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            weight = hook.compute_weight(module)
            del module._forward_pre_hooks[key]
            delattr(module, name)
            del module._parameters[name + "_g"], module._parameters[name + "_v"]
            setattr(module, name, Parameter(weight.detach()))
            return module
    raise ArgumentError(tr("weight_norm of '{}' not found in {}", name, module), None)
