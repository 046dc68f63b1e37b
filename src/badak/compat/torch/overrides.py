"""`torch.overrides`: for classes and modes that answer for functions themselves (`core/public_api/overriding.py`)."""

from collections.abc import Callable, Iterable
from functools import cache
from types import FunctionType
from typing import Any

import badak
from badak.core.errors import undefined
from badak.core.public_api import overriding
from badak.tensor import Tensor


class TorchFunctionMode:
    """`with mode:` every public function goes to mode.__torch_function__(func, types, args, kwargs) first.

    Within it the mode is off, so that `return func(*args, **kwargs or {})` does what would have been done.
    """

    def __torch_function__(self, func: Callable, types: Iterable[type], args: tuple = (), kwargs: dict | None = None) -> Any:
        raise undefined(self, "def __torch_function__(self, func, types, args=(), kwargs=None)")

    def __enter__(self):
        overriding.add(self)
        overriding.ask_modes_for_attributes(Tensor, on=True)
        overriding.state.modes = (*overriding.state.modes, self)
        return self

    def __exit__(self, *error: object) -> None:
        overriding.state.modes = overriding.state.modes[:-1]
        overriding.ask_modes_for_attributes(Tensor, on=False)
        overriding.remove(self)

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> "TorchFunctionMode":
        """A new one, as PyTorch once made them."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A block in which derived classes of Tensor are tensors as all others."""

    def __enter__(self) -> None:
        self._before = overriding.state.without_classes
        overriding.state.without_classes = True

    def __exit__(self, *error: object) -> None:
        overriding.state.without_classes = self._before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """The same, with modes off, too."""

    def __enter__(self) -> None:
        super().__enter__()
        self._modes, overriding.state.modes = overriding.state.modes, ()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        overriding.state.modes = self._modes


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a mode is on, or the class of one of these answers for functions."""
    return overriding.overridden(tuple(relevant_args), {})


def has_torch_function_unary(arg: Any) -> bool:
    """The same for one."""
    return overriding.overridden((arg,), {})


def has_torch_function_variadic(*args: Any) -> bool:
    """The same for several."""
    return overriding.overridden(args, {})


def handle_torch_function(public_api: Callable, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the modes and classes answer for public_api(*args, **kwargs)."""
    found = overriding.classes(tuple(relevant_args), {})
    if not overriding.classes(args, kwargs):
        for one in found:
            answer = type(one).__torch_function__(public_api, tuple(map(type, found)), args, kwargs)
            if answer is not NotImplemented:
                return answer
    return overriding.dispatch(public_api, args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or of a class that answers for functions."""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Whether it is one of Tensor's, and no function of the package."""
    return func in _methods()


@cache
def _methods() -> frozenset:
    return frozenset(value for value in vars(Tensor).values() if isinstance(value, FunctionType))


@cache
def get_overridable_functions() -> dict[Any, list[Callable]]:
    """The functions of each namespace that can be answered for."""
    found: dict[Any, list[Callable]] = {}
    owners: tuple[Any, ...] = (badak, badak.nn.functional, badak.linalg, badak.fft, badak.special, Tensor)
    for owner in owners:
        members = vars(owner).items()
        found[owner] = [f for name, f in members if name[0] != "_" and isinstance(f, FunctionType) and hasattr(f, "__explained__")]
    return found


def resolve_name(f: Callable) -> str | None:
    """ "torch.add", "torch.Tensor.add", "torch.Tensor.shape.__get__": the name of a function that can be answered for."""
    of = getattr(f, "__self__", None)
    if hasattr(type(of), "__set__"):  # an attribute that is read or set
        return next((f"torch.Tensor.{name}.{f.__name__}" for name in dir(Tensor) if getattr(Tensor, name) is of), None)
    for space, functions in get_overridable_functions().items():
        if f in functions:
            where = "Tensor" if space is Tensor else space.__name__.partition(".")[2]
            return ".".join(filter(None, ("torch", where, f.__name__)))
    return None


def get_ignored_functions() -> set[Callable]:
    """Functions for which nobody can answer, such as those that make tensors of numbers alone."""
    return {getattr(badak, name) for name in overriding.NEVER | overriding.MAKERS if hasattr(badak, name)}


def get_default_nowrap_functions() -> set[Callable]:
    """Functions whose results stay plain tensors."""
    return set()


def get_testing_overrides() -> dict[Callable, Callable]:
    """For each function that can be answered for one that takes the same and gives -1."""
    ignored, every = get_ignored_functions(), get_overridable_functions().values()
    return {f: (lambda *args, **kwargs: -1) for functions in every for f in functions if f not in ignored}


def wrap_torch_function(dispatcher: Callable) -> Callable:
    """Decorator: a function that others may answer for. dispatcher(*args) gives the arguments whose classes are asked."""

    def decorated(function: Callable) -> Callable:
        def public(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(public, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return public

    return decorated
