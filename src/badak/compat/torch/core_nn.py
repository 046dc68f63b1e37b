"""`torch._C._nn`: the one function of it that libraries call, to read what `module.to(...)` was given."""

from typing import Any

from badak.core.public_api import door as _door
from badak.nn.moving import _read_target
from badak.tensor import device as as_device


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of the arguments of `to`."""
    device, dtype = _read_target(*args, **kwargs)
    flags = [each for each in args if isinstance(each, bool)]
    asynchronous = kwargs.get("non_blocking", flags[0] if flags else False)
    return None if device is None else as_device(device), dtype, asynchronous, kwargs.get("memory_format")


__getattr__ = _door("badak._C._nn")
