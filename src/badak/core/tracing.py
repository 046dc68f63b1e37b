"""The recorder of a run: which calls of modules are under way, and what ran within them. Who looks at runs derives from it."""

from typing import Any

from badak.core.events import Observer


class Recorder(Observer):
    """`with recorder:` records this thread. `stack` has an entry for each call of a module that is under way, the outermost first.

    A subclass says by `entered` what the entry of a call is, and by the events that it handles what else it keeps.
    """

    eager = True

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._under_way: list[tuple[Any, Any]] = []  # (module, its entry)

    def __exit__(self, *error) -> None:
        super().__exit__(*error)
        self.stack.clear()
        self._under_way.clear()

    def entered(self, module: Any, args: Any, kwargs: Any) -> Any:
        """A call begins: its entry, or None where the call is not to be recorded. By default the module itself."""
        return module

    def left(self, entry: Any, output: Any, error: Any) -> None:
        """A call with this entry is over: it gave the output, or raised the error."""

    def on_module_enter(self, module: Any, args: tuple, kwargs: dict) -> None:
        entry = self.entered(module, args, kwargs)
        self._under_way.append((module, entry))
        if entry is not None:
            self.stack.append(entry)

    def on_module_exit(self, module: Any, output: Any, error: Any = None) -> None:
        if not any(known is module for known, _ in reversed(self._under_way)):
            return  # it was called before the recording began
        known = entry = None
        while known is not module:  # above it are calls that ended without a word
            known, entry = self._under_way.pop()
            if entry is not None:
                self.stack.pop()
        if entry is not None:
            self.left(entry, output, error)
