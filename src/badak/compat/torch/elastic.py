"""`torch.distributed.elastic`: what a program that `torchrun` starts asks of it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from badak.core.public_api.door import Namespace


def record(fn: Callable, error_handler: Any = None) -> Callable:
    """Decorator of a main function that `torchrun` starts. The launcher shows its errors with and without it."""

    @wraps(fn)
    def main(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return main


errors = Namespace(record=record)
multiprocessing = Namespace(errors=errors)
