"""Complaints that only modules make: about attributes and names, which Python has its own exceptions for."""

from badak.core.errors import BadakError


class ModuleAttributeError(BadakError, AttributeError):
    """A module has no such attribute, or cannot take one yet."""


class ModuleNameError(BadakError, KeyError, ValueError):
    """A name that a module cannot register a member under."""


def kind(value: object) -> str:
    """The word for what `value` is in a message: "badak.FloatTensor", "int", "badak.nn.activation.ReLU"."""
    of_tensor = getattr(value, "type", None)
    if hasattr(value, "_array") and callable(of_tensor):
        return of_tensor()
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"
