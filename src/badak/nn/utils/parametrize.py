"""Parametrizations: a weight that is computed from another one each time it is asked for.

    register_parametrization(layer, "weight", Symmetric())       layer.weight = Symmetric()(layer.parametrizations.weight.original)

The module gets a class of its own, derived from the one it had, in which the name is a property; what is trained and what stands
in the state_dict is `parametrizations.<name>.original`.
"""

from collections.abc import Sequence
from contextlib import contextmanager, suppress
from typing import Any

from badak.autograd import no_grad
from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.nn.containers import ModuleDict, ModuleList
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor

_cache: dict[tuple[int, str], Tensor] | None = None
events.for_all(globals(), "_cache")


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the `original` that they start from, or `original0`, ... of several."""

    def __init__(self, modules: list, original: Tensor, unsafe: bool = False) -> None:
        super().__init__(modules)
        self.unsafe = unsafe
        found: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # it starts from the value itself, as one without right_inverse does
                        found = module.right_inverse(found)
        if not isinstance(found, Tensor | Sequence):
            raise _wrong("right_inverse", tr("must return a Tensor or a Sequence of tensors (list, tuple...)"), found)
        self.is_tensor = isinstance(found, Tensor)
        self.ntensors = 1 if self.is_tensor else len(found)
        if isinstance(found, Tensor):
            if not unsafe:
                _expect_alike(tr("When `right_inverse` outputs one tensor, it may not change"), original, found)
            original.data = found.detach()  # the same parameter, which an optimizer may know
            found = [original]
        for name, part in zip(self._names(), found):
            if not isinstance(part, Tensor):
                raise _wrong("right_inverse", tr("must return a Sequence of Tensors; there is one of the sequence with type"), part)
            if isinstance(original, Parameter) and not isinstance(part, Parameter):
                part = Parameter(part.detach(), original.requires_grad)
            _register(self, name, part)
        if not unsafe:
            with no_grad():
                _expect_alike(tr("Registering a parametrization may not change"), original, self())

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Assign: let the tensor be `value`, by the right_inverse of every parametrization from the last on."""
        found: Any = value
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    cause = tr("parametrization {} does not implement right_inverse.", type(module).__name__)
                    raise ArgumentError(cause, "def right_inverse(self, value): ..., what it makes of the original")
                found = module.right_inverse(found)
            if isinstance(found, Tensor) is not self.is_tensor or not isinstance(found, Tensor | Sequence):
                raise _wrong(
                    "right_inverse",
                    tr("must return a tensor") if self.is_tensor else tr("must return a sequence of tensors"),
                    found,
                )
            parts = [found] if isinstance(found, Tensor) else list(found)
            if len(parts) != self.ntensors:
                cause = tr("'right_inverse' must return a sequence of tensors of length {}. Got a sequence of length {}.",
                           self.ntensors, len(parts))  # fmt: skip
                raise ArgumentError(cause, "as many tensors as forward takes")
            for name, part in zip(self._names(), parts):
                here = getattr(self, name)
                if not isinstance(part, Tensor):
                    raise _wrong("right_inverse", tr("must return a sequence of tensors"), part)
                if part.dtype is not here.dtype:
                    cause = tr(
                        "The tensor returned by `right_inverse` has dtype {} while `{}` has dtype {}", part.dtype, name, here.dtype
                    )
                    raise ArgumentError(cause, f"value.to({here.dtype})")
                here.data = part.detach()

    def forward(self) -> Tensor:
        """The tensor that the module sees."""
        first, *others = list(self)
        x = first(*[getattr(self, name) for name in self._names()])
        for module in others:
            x = module(x)
        return x


def _expect_modules(where: str, **given: object) -> None:
    for name, one in given.items():
        if not isinstance(one, Module):
            cause = tr("{}: expected an nn.Module as {}; got {}", where, name, type(one).__name__)
            raise ArgumentTypeError(cause, "an object of a class that derives from nn.Module")


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Module:
    """Let module.<tensor_name> be parametrization(what it was); further ones go on top. Raises ArgumentError if there is none."""
    _expect_modules("register_parametrization", module=module, parametrization=parametrization)
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            with no_grad():
                before = getattr(module, tensor_name)
                after = parametrization(before)
                _expect_alike(tr("Registering a parametrization may not change"), before, after)
                if hasattr(parametrization, "right_inverse"):
                    with suppress(NotImplementedError):
                        again = parametrization.right_inverse(after)
                        if not isinstance(again, Tensor):
                            raise _wrong("parametrization.right_inverse", tr("must return a tensor"), again)
                        _expect_alike(tr("The tensor returned by parametrization.right_inverse may not change"), before, again)
        module.parametrizations[tensor_name].append(parametrization)
        module.parametrizations[tensor_name].unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        cause = tr("Module {} does not have a parameter, a buffer, or a parametrized element with name {}", type(module).__name__,
                   tensor_name)  # fmt: skip
        raise ArgumentError(cause, tr("one of {}", [*module._parameters, *module._buffers]))
    original = getattr(module, tensor_name)
    if original is None:
        raise ArgumentTypeError(tr("{} is None and cannot be parametrized", tensor_name), "a parameter that is there")
    made = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    _own_class(module)
    computed = property(lambda self: _computed(self, tensor_name), lambda self, value: _assigned(self, tensor_name, value))
    setattr(type(module), tensor_name, computed)
    if "parametrizations" not in module._modules:
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = made
    return module


def _register(module: Module, name: str, value: Tensor) -> None:
    """Register a parameter or a buffer, whichever it is."""
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _wrong(what: str, rule: str, found: object) -> ArgumentError:
    cause = tr("{} {}. Got {}", what, rule, type(found).__name__)
    return ArgumentError(cause, "return value, the tensor itself, or value.chunk(2)")


def _expect_alike(rule: str, before: Tensor, after: object) -> None:
    """Refuse what is no tensor, or of another dtype or shape."""
    if not isinstance(after, Tensor):
        raise ArgumentError(tr("A parametrization must return a tensor. Got {}.", type(after).__name__), "return one tensor")
    for what, was, now in (("dtype", before.dtype, after.dtype), ("shape", tuple(before.shape), tuple(after.shape))):
        if was != now:
            cause = tr("{} the {} of the tensor, unless `unsafe` flag is enabled; {} became {}", rule, what, was, now)
            raise ArgumentError(cause, "unsafe=True")


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
        module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), {"__module__": _own_class.__module__, "_before": cls})


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of that name."""
    there = module._modules.get("parametrizations")
    return bool(there) if tensor_name is None or not there else tensor_name in there


def _not_there(module: Module, name: str) -> ArgumentError:
    cause = tr("Module {} does not have a parametrization on {}", type(module).__name__, name)
    return ArgumentError(cause, "is_parametrized(module, name) says whether")


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make module.<tensor_name> a parameter again: as it was last computed, or with leave_parametrized=False the original."""
    if not is_parametrized(module, tensor_name):
        raise _not_there(module, tensor_name)
    parts = module.parametrizations[tensor_name]
    if not (leave_parametrized or parts.is_tensor):
        raise ArgumentError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
            "tensors.",
            "leave_parametrized=True",
        )
    now = parts().detach() if leave_parametrized else None
    if parts.is_tensor:
        original = parts.original
        if now is not None:
            original.data = now
    else:
        original = Parameter(now, True) if parts.original0.requires_grad else now
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if not module.parametrizations:
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    _register(module, tensor_name, original)
    return module


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None) -> Module:
    """Let to_module have the parametrizations of from_module, and what they start from: all, or those of one name.

    Args:
        from_module: has parametrizations, or nothing is done
        to_module: a module with tensors of these names; those that it lacks are made
        tensor_name: of one tensor alone

    Returns: to_module

    Raises:
        ArgumentError: from_module has no parametrization of that name

    Example:
        >>> one, other = nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)), nn.Linear(2, 2)
        >>> other = nn.utils.parametrize.transfer_parametrizations_and_params(one, other)
        >>> badak.equal(one.weight, other.weight)
        True
    """
    _expect_modules("transfer_parametrizations_and_params", from_module=from_module, to_module=to_module)
    if not is_parametrized(from_module):
        return to_module
    if tensor_name is not None and not is_parametrized(from_module, tensor_name):
        raise _not_there(from_module, tensor_name)
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        parts = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(parts().detach()))
        for parametrization in parts:
            register_parametrization(to_module, name, parametrization, unsafe=parts.unsafe)
        for original in parts._names():
            setattr(to_module.parametrizations[name], original, getattr(parts, original))
    return to_module


def type_before_parametrizations(module: Module) -> type:
    """The class that a module had."""
    return getattr(type(module), "_before", type(module))


def weight_of(where: str, module: Module, name: str) -> Tensor:
    """module.<name>; ArgumentError where that is no tensor."""
    found = getattr(module, name, None)
    if not isinstance(found, Tensor):
        known = [each for each, value in module._parameters.items() if value is not None]
        cause = tr("{}: {} has no parameter {!r}", where, type(module).__name__, name)
        raise ArgumentError(cause, tr("one of {}", ", ".join(known)) if known else None)
    return found


@contextmanager
def cached() -> Any:
    """A block in which each parametrized tensor is computed once."""
    global _cache
    before, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = before
