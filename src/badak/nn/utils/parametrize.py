"""Parametrizations: a weight that is computed from another one each time it is asked for.

    register_parametrization(layer, "weight", Symmetric())       layer.weight = Symmetric()(layer.parametrizations.weight.original)

The module gets a class of its own, derived from the one it had, in which the name is a property; what is trained and what stands
in the state_dict is `parametrizations.<name>.original`.
"""

from contextlib import contextmanager
from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError
from badak.nn.containers import ModuleDict, ModuleList
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor

_cache: dict[tuple[int, str], Tensor] | None = None


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the `original` that they start from, or `original0`, ... of several."""

    def __init__(self, modules, original: Tensor, unsafe: bool = False):
        super().__init__(modules)
        self.unsafe, self.is_tensor, self.ntensors = unsafe, True, 1
        self._start_from(original, assigned=False)

    def _start_from(self, value: Tensor, assigned: bool = True) -> None:
        """Let the originals be those that give `value`: of every parametrization from the last on, its right_inverse."""
        found: Any = value
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                try:
                    found = module.right_inverse(found)
                except NotImplementedError:  # it starts from the value itself, as one without right_inverse does
                    if assigned:
                        raise
        self.is_tensor = isinstance(found, Tensor)
        parts = [found] if self.is_tensor else list(found)
        self.ntensors = len(parts)
        for name, part in zip(self._names(), parts):
            here = self._parameters.get(name)
            if here is not None:
                with no_grad():
                    here.copy_(part)
                continue
            wanted = value.requires_grad
            self.register_parameter(name, part if isinstance(part, Parameter) else Parameter(part.detach(), wanted))

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Assign: let the tensor be `value`."""
        with no_grad():
            self._start_from(value)

    def forward(self) -> Tensor:
        """The tensor that the module sees."""
        first, *others = list(self)
        x = first(*[getattr(self, name) for name in self._names()])
        for module in others:
            x = module(x)
        return x


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
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
        raise ArgumentTypeError(f"{tensor_name} is None and cannot be parametrized", "a parameter that is there")
    made = ParametrizationList([parametrization], original, unsafe)
    with no_grad():
        found = made()
    if not unsafe and found.shape != original.shape:
        raise ArgumentError(
            f"Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled; "
            f"{tuple(original.shape)} became {tuple(found.shape)}",
            "unsafe=True",
        )
    delattr(module, tensor_name)
    _own_class(module)
    computed = property(lambda self: _computed(self, tensor_name), lambda self, value: _assigned(self, tensor_name, value))
    setattr(type(module), tensor_name, computed)
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


def _assigned(module: Module, name: str, value: Tensor) -> None:
    module.parametrizations[name].right_inverse(value)


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
    if not (leave_parametrized or parts.is_tensor):
        raise ArgumentError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors.",
            "leave_parametrized=True",
        )
    original = parts.original if parts.is_tensor else Parameter(parts().detach(), parts.original0.requires_grad)
    if leave_parametrized and parts.is_tensor:
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


def weight_of(where: str, module: Module, name: str) -> Tensor:
    """module.<name>; ArgumentError where that is no tensor."""
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        known = [each for each, value in module._parameters.items() if value is not None]
        cause = f"{where}: {type(module).__name__} has no parameter {name!r}"
        raise ArgumentError(cause, f"one of {', '.join(known)}" if known else None)
    return found


@contextmanager
def cached():
    """A block in which each parametrized tensor is computed once."""
    global _cache
    before, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = before
