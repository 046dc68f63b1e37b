"""`functorch`, the package that PyTorch's wheel brings next to torch: `torch.func`, and modules as functions by their old names."""

import copy
from collections.abc import Sequence
from typing import Any

from badak.compat.torch.func import functional_call as _functional_call
from badak.compat.torch.func import functionalize as functionalize
from badak.compat.torch.func import grad as grad
from badak.compat.torch.func import grad_and_value as grad_and_value
from badak.compat.torch.func import hessian as hessian
from badak.compat.torch.func import jacfwd as jacfwd
from badak.compat.torch.func import jacrev as jacrev
from badak.compat.torch.func import jvp as jvp
from badak.compat.torch.func import stack_module_state as _stack_module_state
from badak.compat.torch.func import vjp as vjp
from badak.compat.torch.func import vmap as vmap
from badak.core.errors import ArgumentError, tr
from badak.core.public_api.door import door_of_absent as _door_of_absent
from badak.core.public_api.version import version
from badak.nn import Module
from badak.tensor import Tensor

__version__ = version()
__getattr__ = _door_of_absent("functorch", "compile dim einops experimental make_fx")


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters, its buffers and its inputs."""

    def __init__(self, stateless_model: Module, param_names: Sequence[str], buffer_names: Sequence[str] = ()) -> None:
        super().__init__()
        self.stateless_model, self.param_names, self.buffer_names = stateless_model, tuple(param_names), tuple(buffer_names)

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """What the module gives with these in the place of its own."""
        state = dict(zip((*self.param_names, *self.buffer_names), (*params, *buffers)))
        return _functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """A module without buffers as a function of its parameters and its inputs."""

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """What the module gives with these in the place of its own."""
        return super().forward(params, (), *args, **kwargs)


def make_functional_with_buffers(model: Module, disable_autograd_tracking: bool = False) -> tuple:
    """(function, parameters, buffers) of a module, to be called as function(parameters, buffers, *inputs).

    Args:
        model: a module, which stays as it is
        disable_autograd_tracking: the parameters want no gradients

    Returns: the function, the parameters and the buffers, both as tuples
    """
    params, buffers, apart = dict(model.named_parameters()), dict(model.named_buffers()), copy.deepcopy(model)
    kept = tuple(x.detach().clone().requires_grad_(x.requires_grad and not disable_autograd_tracking) for x in params.values())
    apart.requires_grad_(False)
    return (
        FunctionalModuleWithBuffers(apart, tuple(params), tuple(buffers)),
        kept,
        tuple(x.detach().clone() for x in buffers.values()),
    )


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple:
    """(function, parameters) of a module without buffers, to be called as function(parameters, *inputs).

    Raises: ArgumentError for a module with buffers
    """
    if any(True for _ in model.buffers()):
        raise ArgumentError("make_functional(model): `model` has buffers", "make_functional_with_buffers(model)")
    function, params, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    return FunctionalModule(function.stateless_model, function.param_names), params


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple:
    """(function, parameters, buffers) of modules of one kind, their states stacked, for vmap over dim 0.

    Raises: ArgumentError for no module
    """
    if not models:
        cause = tr("combine_state_for_ensemble: Expected at least one model, got 0")
        raise ArgumentError(cause, "combine_state_for_ensemble([model, ...])")
    params, buffers = _stack_module_state(list(models))
    function, _, _ = make_functional_with_buffers(models[0])
    return function, *(tuple(x.detach() for x in state.values()) for state in (params, buffers))
