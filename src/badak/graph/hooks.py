"""Hooks of the user: how they are kept, whoever calls them (tensors, modules, optimizers), and how they are taken away."""

from collections.abc import Callable
from itertools import count

from badak.errors import KindError
from badak.graph.modes import changes

_ids = count()


class RemovableHandle:
    """What registering a hook gives back: `remove()` takes the hook away; as a context manager it does so at the end.

    replayed: whether a recorded step may have met what it hangs on, and is to be recorded anew.
    """

    def __init__(self, hooks: dict, hook: object, prepend: bool = False, replayed: bool = True):
        self.id, self._hooks, self._replayed = next(_ids), hooks, replayed
        others = dict(hooks) if prepend else {}
        for key in others:
            del hooks[key]
        hooks[self.id] = hook
        hooks.update(others)
        changes.count += replayed

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        self._hooks.pop(self.id, None)
        changes.count += self._replayed

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def function(hook: object) -> Callable:
    """The hook itself, where it can be called."""
    if callable(hook):
        return hook
    raise KindError(
        f"hook: expected a function; got {type(hook).__name__}", "pass the function itself, without calling it"
    )
