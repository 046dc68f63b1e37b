"""Hooks of optimizers: functions of the user that run around a step or around the saving of state."""

from collections.abc import Callable
from itertools import count

from badak.errors import KindError

_ids = count()


class RemovableHandle:
    """Takes a hook away again: `handle.remove()`, or leaving `with handle:`."""

    def __init__(self, hooks: dict[int, Callable], hook: Callable, prepend: bool = False):
        if not callable(hook):
            raise KindError(
                f"hook: expected a function; got {type(hook).__name__}", "pass the function itself, without calling it"
            )
        self.id, self._hooks = next(_ids), hooks
        others = dict(hooks) if prepend else {}
        for key in others:
            del hooks[key]
        hooks[self.id] = hook
        hooks.update(others)

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
