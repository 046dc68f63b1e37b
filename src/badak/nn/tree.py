"""Walking a model: what a module holds, and what the modules below it hold."""

import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.nn.errors import ModuleAttributeError, kind
from badak.nn.members import Members
from badak.nn.unregistered import describe_unregistered, warn_of_unregistered
from badak.tensor.tensor import Tensor

Pairs = Iterator[tuple[str, Any]]
_models: weakref.WeakKeyDictionary[Generator, Any] = weakref.WeakKeyDictionary()  # parameters() and a weak reference to its module
_looked_at: weakref.WeakSet = weakref.WeakSet()  # roots whose plain containers have been looked through


def listed(parameters: Any) -> "Tree | None":
    """The module whose `parameters()` this is; None for any other iterable."""
    found = _models.get(parameters) if isinstance(parameters, Generator) else None
    return found and found()


def why_empty(model: "Tree") -> tuple[str, str | None]:
    """(cause, fix) for an optimizer that got no parameter from this model."""
    return describe_unregistered(model, model._plain_containers())


class Tree(Members):
    """The part of Module that walks: children, modules, parameters, buffers, by name or one dotted path at a time.

    A path is the names on the way down, joined by dots: "encoder.layers.0.linear1.weight".
    """

    def named_children(self) -> Pairs:
        """The modules directly below, each once, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Any]:
        """The modules directly below, each once."""
        for _, module in self.named_children():
            yield module

    def named_modules(self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True) -> Pairs:
        """This module (path `prefix`) and all below it, parents first; one that is shared comes once unless asked."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it, parents first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def _named_members(
        self, get_members_fn: Callable[["Tree"], Iterable], prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Pairs:
        """Pairs (path, member) of what `get_members_fn(module)` gives for each module; a tied member comes once."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in get_members_fn(module):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield (f"{path}.{name}" if path else name), member

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Pairs:
        """Pairs (path, parameter) of this module and, with `recurse`, of all below; a tied parameter comes once."""
        if self not in _looked_at:
            _looked_at.add(self)
            if containers := list(self._plain_containers()):
                warn_of_unregistered(self, containers)
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator:
        """The parameters of this module and, with `recurse`, of all below; a tied one comes once."""
        parameters = (parameter for _, parameter in self.named_parameters(recurse=recurse))
        _models[parameters] = weakref.ref(self)
        return parameters

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True) -> Pairs:
        """Pairs (path, buffer), as `named_parameters`."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator:
        """The buffers of this module and, with `recurse`, of all below; a shared one comes once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def _plain_containers(self) -> Iterator[tuple[Any, str, Any]]:
        """(module, name, value) of each attribute that is a plain list, tuple or dict, which a module cannot see into."""
        for module in self.modules():
            for name, value in vars(module).items():
                if type(value) in (list, tuple, dict) and name not in module._bookkeeping:
                    yield module, name, value

    # One member by its path

    def get_submodule(self, target: str) -> Any:
        """The module at the path `target`; "" is this module. Raises AttributeError where there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, Tree):
                raise ModuleAttributeError(tr("`{}` is not an nn.Module (in the path {!r})", name, target))
        return module

    def get_parameter(self, target: str) -> Tensor:
        """The parameter at the path `target`. Raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        value = _attribute(module, name)
        if module._parameters.get(name) is not value:
            raise ModuleAttributeError(tr("`{}` is not an nn.Parameter (in the path {!r})", name, target))
        return value

    def get_buffer(self, target: str) -> Any:
        """The buffer at the path `target`. Raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        value = _attribute(module, name)
        if name not in module._buffers:
            raise ModuleAttributeError(tr("`{}` is not a buffer (in the path {!r})", name, target))
        return value

    def set_submodule(self, target: str, module: "Tree", strict: bool = False) -> None:
        """Put `module` at the path `target`; with `strict`, only where a module already stands."""
        if not isinstance(module, Tree):
            raise ArgumentTypeError(tr("set_submodule: `module` is not an nn.Module, it is {}", kind(module)))
        path, _, name = target.rpartition(".")
        if not name:
            raise ArgumentError("Cannot set the submodule without a target name: target is ''")
        parent = self.get_submodule(path)
        if strict:
            parent.get_submodule(name)
        setattr(parent, name, module)


def _attribute(module: Tree, name: str) -> object:
    if not hasattr(module, name):
        raise ModuleAttributeError(tr("{} has no attribute `{}`", type(module).__name__, name), _members(module))
    return getattr(module, name)


def _members(module: Tree) -> str | None:
    names = [*module._modules, *module._parameters, *module._buffers]
    return tr("it has {}{}", ", ".join(names[:12]), ", ..." if len(names) > 12 else "") if names else None
