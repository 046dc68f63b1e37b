"""Hooks of the user: how they are kept, whoever calls them (tensors, modules, optimizers), and how they are taken away."""

import weakref
from collections.abc import Callable
from typing import Any

from badak.core import events
from badak.core.errors import ArgumentTypeError, tr


class RemovableHandle:
    """What registering a hook gives back: `remove()` takes the hook away; as a context manager it does so at the end.

    hook: left out by programs that put it into `hooks` at the handle's `id` themselves.
    owner: the tensor or module that it hangs on, where a recorded step may have met that and is then to be recorded again.
    flags: more tables in which the hook has an entry, by the same id.
    extra_dict: one more table, or a list of them, from which `remove()` takes the entry, too.
    """

    next_id = 0

    def __init__(
        self,
        hooks: dict,
        hook: object = None,
        prepend: bool = False,
        owner: object = None,
        flags: tuple[dict, ...] = (),
        *,
        extra_dict: Any = None,
    ) -> None:
        extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        self.id, self._hooks, self._flags = RemovableHandle.next_id, hooks, (*flags, *extra)
        RemovableHandle.next_id += 1
        self._owner = None if owner is None else weakref.ref(owner)
        if hook is None:
            return
        self._tell(tr("a hook was registered"))
        others = dict(hooks) if prepend else {}
        for key in others:
            del hooks[key]
        hooks[self.id] = hook
        hooks.update(others)
        for table in flags:
            table[self.id] = True

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        for table in (self._hooks, *self._flags):
            table.pop(self.id, None)
        self._tell(tr("a hook was removed"))

    @property
    def hooks_dict_ref(self) -> Callable[[], dict]:
        """A function that gives the hooks among which this one is, by their ids."""
        return lambda: self._hooks

    def __getstate__(self):
        return self.id, self._hooks, self._flags, self._owner and self._owner()

    def __setstate__(self, state) -> None:
        self.id, self._hooks, self._flags, owner = state
        self._owner = None if owner is None else weakref.ref(owner)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def _tell(self, how: str) -> None:
        owner = self._owner and self._owner()
        if owner is not None:
            events.redefine(owner, tr("{} at {}", how, type(owner).__name__))

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def function(hook: object) -> Callable:
    """The hook itself, where it can be called."""
    if callable(hook):
        return hook
    cause = tr("hook: expected a function; got {}", type(hook).__name__)
    raise ArgumentTypeError(cause, "pass the function itself, without calling it")
