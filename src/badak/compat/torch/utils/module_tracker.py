"""`torch.utils.module_tracker`: which modules are at work now, forward or backward."""

from typing import Any
from weakref import WeakKeyDictionary

from badak.autograd.engine import queue_callback
from badak.autograd.graph import register_multi_grad_hook
from badak.compat.torch.pytree import tree_leaves
from badak.core.modes import modes
from badak.core.public_api import guard_types as _guard_types
from badak.nn import Module
from badak.nn.hooks import register_module_forward_hook, register_module_forward_pre_hook
from badak.tensor import Tensor

GLOBAL = "Global"


class ModuleTracker:
    """A context in which `parents` holds the names of the modules that are at work, and "Global".

    A name is the path from the module that was called first: "GPT.blocks.0". In a backward a module is entered with the
    gradients of its outputs and left with those of its inputs.

    Example:
        >>> from badak.utils.module_tracker import ModuleTracker
        >>> class Inner(nn.Module):
        ...     def forward(self, x):
        ...         print(sorted(tracker.parents))
        ...         return x
        >>> with ModuleTracker() as tracker:
        ...     _ = nn.Sequential(Inner())(badak.ones(1))
        ['Global', 'Sequential', 'Sequential.0']
    """

    def __init__(self) -> None:
        self.parents = {GLOBAL}
        self._names: WeakKeyDictionary[Module, str] = WeakKeyDictionary()
        self._handles: list[Any] = []
        self._waits = False  # for the end of a backward

    def __enter__(self) -> "ModuleTracker":
        self._handles = [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *error: object) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    @property
    def is_bw(self) -> bool:
        """Whether a backward is under way."""
        return modes.walk is not None

    def _name_of(self, module: Module) -> str:
        if module not in self._names:
            first = type(module).__name__
            for name, part in module.named_modules():
                self._names.setdefault(part, f"{first}.{name}" if name else first)
        return self._names[module]

    def _before(self, module: Module, inputs: Any) -> None:
        name = self._name_of(module)
        self.parents.add(name)
        self._when_all_have_come(inputs, lambda: self.parents.discard(name))

    def _after(self, module: Module, inputs: Any, output: Any) -> None:
        name = self._name_of(module)
        self.parents.discard(name)
        self._when_all_have_come(output, lambda: self._enter_backward(name))

    def _when_all_have_come(self, values: Any, then: Any) -> None:
        """Call `then` when the gradients of all tensors among the values have come."""
        tensors = [x for x in tree_leaves(values) if isinstance(x, Tensor) and x.requires_grad]
        if tensors:
            self._handles.append(register_multi_grad_hook(tensors, lambda gradients: then()))

    def _enter_backward(self, name: str) -> None:
        if not self._waits:
            self._waits = True
            queue_callback(self._end_of_backward)
        self.parents.add(name)

    def _end_of_backward(self) -> None:
        self.parents, self._waits = {GLOBAL}, False


_guard_types(globals(), "utils.module_tracker")
