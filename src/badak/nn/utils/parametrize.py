"""Parametrizations: a weight that is computed from another one each time it is asked for.

    register_parametrization(layer, "weight", Symmetric())       layer.weight = Symmetric()(layer.parametrizations.weight.original)

The module gets a class of its own, derived from the one it had, in which the name is a property; what is trained and what stands
in the state_dict is `parametrizations.<name>.original`.
"""

from contextlib import contextmanager

from badak.errors import ArgumentError, KindError
from badak.nn.containers import ModuleDict, ModuleList
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor

_cache: dict[tuple[int, str], Tensor] | None = None


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the `original` that they start from."""

    def __init__(self, modules, original: Tensor, unsafe: bool = False):
        super().__init__(modules)
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                original = module.right_inverse(original)
        kept = original if isinstance(original, Parameter) else Parameter(original.detach(), original.requires_grad)
        self.unsafe = unsafe
        self.register_parameter("original", kept)

    def forward(self) -> Tensor:
        """The tensor that the module sees."""
        x = self.original
        for module in self:
            x = module(x)
        return x


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let module.<tensor_name> be parametrization(what it was); further ones go on top. Raises ArgumentError if there is none."""
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ArgumentError(
            f"Module {type(module).__name__} does not have a parameter, a buffer, or a parametrized element with name "
            f"{tensor_name}",
            f"one of {[*module._parameters, *module._buffers]}",
        )
    original = getattr(module, tensor_name)
    if original is None:
        raise KindError(f"{tensor_name} is None and cannot be parametrized", "a parameter that is there")
    made = ParametrizationList([parametrization], original, unsafe)
    found = parametrization(made.original.detach())
    if not unsafe and found.shape != original.shape:
        raise ArgumentError(
            f"Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled; "
            f"{tuple(original.shape)} became {tuple(found.shape)}",
            "unsafe=True",
        )
    delattr(module, tensor_name)
    _own_class(module)
    setattr(type(module), tensor_name, property(lambda self: _computed(self, tensor_name)))
    if "parametrizations" not in module._modules:
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = made
    return module


def _computed(module: Module, name: str) -> Tensor:
    key = (id(module), name)
    if _cache is None:
        return module.parametrizations[name]()
    if key not in _cache:
        _cache[key] = module.parametrizations[name]()
    return _cache[key]


def _own_class(module: Module) -> None:
    """Give a module a class of its own, unless it has one."""
    if "parametrizations" not in module._modules:
        cls = type(module)
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), {"__module__": cls.__module__, "_before": cls})


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of that name."""
    there = module._modules.get("parametrizations")
    return bool(there) if tensor_name is None or not there else tensor_name in there


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make module.<tensor_name> a parameter again: as it was last computed, or with leave_parametrized=False the original."""
    if not is_parametrized(module, tensor_name):
        raise ArgumentError(f"Module {type(module).__name__} does not have a parametrization on {tensor_name}")
    parts = module.parametrizations[tensor_name]
    original = parts.original
    if leave_parametrized:
        original.data = parts().detach()
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if not module.parametrizations:
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    module.register_parameter(tensor_name, original)
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had."""
    return getattr(type(module), "_before", type(module))


@contextmanager
def cached():
    """A block in which each parametrized tensor is computed once."""
    global _cache
    before, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = before
