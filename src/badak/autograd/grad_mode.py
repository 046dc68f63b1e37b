"""Switches for recording: no_grad, enable_grad, set_grad_enabled, inference_mode. Context managers and decorators."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from badak.core import events
from badak.core.errors import ArgumentTypeError, tr, undefined
from badak.core.modes import modes

Function = TypeVar("Function", bound=Callable[..., Any])


class _DecoratorContextManager:
    """A context manager that decorates functions too, generators and classes among them: each call is a block of its own."""

    def __enter__(self) -> Any:
        raise undefined(self, "def __enter__(self)")

    def __exit__(self, *error: object) -> None:
        raise undefined(self, "def __exit__(self, *error)")

    def clone(self):
        """Another one, for nested use."""
        return type(self)()

    def __call__(self, function: Function) -> Function:
        if inspect.isclass(function):
            function.__init__ = self(function.__init__)  # type: ignore[method-assign]
            return function
        if inspect.isgeneratorfunction(function):
            return _switched_generator(self, function)  # type: ignore[return-value]

        @functools.wraps(function)
        def switched(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return switched  # type: ignore[return-value]


class _Switch(_DecoratorContextManager):
    """Sets values of `modes` for a block; usable as `with no_grad():`, `@no_grad()` and `@no_grad`."""

    _values: dict[str, bool] = {}

    if not TYPE_CHECKING:  # which would take what `no_grad()` gives for anything

        def __new__(cls, function=None):
            made = super().__new__(cls)
            if callable(function):
                made.__init__()
                return made(function)
            return made

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        self._before: list[dict[str, bool]] = []

    def __enter__(self) -> None:
        self._before.append({name: getattr(modes, name) for name in self._values})
        self._set(self._values)

    def _set(self, values: dict[str, bool]) -> None:
        for name, value in values.items():
            setattr(modes, name, value)
        if "inference" in values:
            events.watch(events.INFERENCE, values["inference"])
        for listener in tuple(events.grad_mode_listeners):
            listener()

    def __exit__(self, *error: object) -> None:
        self._set(self._before.pop())

    def clone(self):
        """A switch of the same values, for nested use."""
        made = object.__new__(type(self))
        made._values, made._before = self._values, []
        return made


def _switched_generator(switch: _DecoratorContextManager, function):
    """A generator that is switched while it runs, and not while its caller does."""

    @functools.wraps(function)
    def switched(*args, **kwargs):
        generator = function(*args, **kwargs)
        sent, thrown = None, None
        while True:
            try:
                with switch.clone():
                    made = generator.send(sent) if thrown is None else generator.throw(thrown)
            except StopIteration as end:
                return end.value
            thrown = None
            try:
                sent = yield made
            except GeneratorExit:
                with switch.clone():
                    generator.close()
                raise
            except BaseException as error:  # noqa: BLE001  (handed on to the generator)
                thrown = error

    return switched


class no_grad(_Switch):  # noqa: N801
    """Record nothing: results do not require gradients, and nothing is saved for a backward.

    Args:
        function: what is decorated; nothing as a context

    Returns: context manager and decorator

    Example:
        >>> x = badak.ones(2, requires_grad=True)
        >>> with badak.no_grad():
        ...     y = x * 2
        >>> y.requires_grad
        False
    """

    _values = {"grad": False}


class enable_grad(_Switch):  # noqa: N801
    """Record again, inside a no_grad block."""

    _values = {"grad": True}


class set_grad_enabled(_Switch):  # noqa: N801
    """set_grad_enabled(mode): takes effect at once; as a context manager it is undone at the end of the block."""

    _switched = "grad"

    def __new__(cls, mode: bool):
        return object.__new__(cls)

    def __init__(self, mode: bool) -> None:
        if type(mode) is not bool:
            cause = tr("{}(): argument 'enabled' must be bool, not {}", type(self).__name__, type(mode).__name__)
            raise ArgumentTypeError(cause, f"{type(self).__name__}(True)")
        self._before = [{self._switched: getattr(modes, self._switched)}]
        self._values = {self._switched: mode}
        setattr(modes, self._switched, mode)

    def __enter__(self) -> None:
        if not self._before:
            super().__enter__()
        setattr(modes, self._switched, self._values[self._switched])

    def __call__(self, function: Any) -> Any:
        self.__exit__()
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}(mode={self._values[self._switched]})"


class set_multithreading_enabled(set_grad_enabled):  # noqa: N801
    """set_multithreading_enabled(mode): remembered. A backward is one walk, in the thread that calls it."""

    _switched = "multithreading"


class inference_mode(_Switch):  # noqa: N801
    """As no_grad; what is made inside is an inference tensor: outside it is not changed, nor saved for a backward.

    A view of a tensor from outside is a view as any other. inference_mode(False) records again.
    """

    if not TYPE_CHECKING:

        def __new__(cls, mode=True):
            made = object.__new__(cls)
            if callable(mode):
                made.__init__()
                return made(mode)
            return made

    def __init__(self, mode: bool = True) -> None:
        if type(mode) is not bool:
            cause = tr("inference_mode(): argument 'mode' must be bool, not {}", type(mode).__name__)
            raise ArgumentTypeError(cause, "inference_mode(True)")
        self._before = []
        self._values = {"grad": not mode, "inference": mode}


def is_multithreading_enabled() -> bool:
    """What set_multithreading_enabled said last in this thread; True at first."""
    return modes.multithreading


def is_grad_enabled() -> bool:
    """Whether operations are being recorded in this thread."""
    return modes.grad


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside inference_mode."""
    return modes.inference
