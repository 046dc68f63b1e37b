"""`torch.futures`: a value that comes later. Nothing runs next to the program here: who waits does what is left to do."""

import threading
from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import Any

from badak.core.errors import ArgumentTypeError, StateError


class Future:
    """A value that somebody sets, or that the work behind it brings. Future[Tensor] is a word for annotations."""

    __class_getitem__: Any = classmethod(GenericAlias)

    def __init__(self, *, devices: Any = None) -> None:
        self._finish: Callable[[], Any] | None = None  # what has to be done for it, and gives it
        self._is_ready: Callable[[], bool] = bool
        self._set = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        self._next: list[Callable[[], Any]] = []

    @classmethod
    def _of(cls, finish: Callable[[], Any], is_ready: Callable[[], bool]) -> "Future":
        """What `finish()` gives, which need not wait once `is_ready()`."""
        made = cls()
        made._finish, made._is_ready = finish, is_ready
        return made

    def _settle(self) -> None:
        """Wait until it has a value or an error."""
        if self._set.is_set():
            return
        if self._finish is None:
            self._set.wait()
            return
        finish, self._finish = self._finish, None
        try:
            value = finish()
        except Exception as error:
            self.set_exception(error)
        else:
            self.set_result(value)

    def wait(self) -> Any:
        """The value, when it is there. Raises what was raised while it was made."""
        self._settle()
        if self._error is not None:
            raise self._error
        return self._value

    def done(self) -> bool:
        """Whether the value, or an error, is there."""
        if not self._set.is_set() and self._finish is not None and self._is_ready():
            self._settle()
        return self._set.is_set()

    def value(self) -> Any:
        """The value that is there. Raises StateError where it is not."""
        if not self.done():
            raise StateError("Future.value(): the value is not there yet", "wait() gives it when it is")
        return self.wait()

    def set_result(self, result: Any) -> None:
        """Give the value, once."""
        self._end(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Let wait() raise this."""
        self._end(None, result)

    def _end(self, value: Any, error: BaseException | None) -> None:
        if self._set.is_set():
            raise StateError("Future can only be marked completed once: it has its value already", "make a new Future()")
        self._value, self._error = value, error
        self._set.set()
        waiting, self._next = self._next, []
        for each in waiting:
            each()

    def then(self, callback: Callable[["Future"], Any]) -> "Future":
        """A future of callback(this one), which is called when this one is done."""

        def finish() -> Any:
            self._settle()
            return callback(self)

        after = Future._of(finish, self.done)
        self.add_done_callback(lambda _: after._settle() if after._finish else None)  # else somebody is at it
        return after

    def add_done_callback(self, callback: Callable[["Future"], Any]) -> None:
        """Call callback(this one) when it is done, or now."""
        if self._set.is_set():
            callback(self)
        else:
            self._next.append(lambda: callback(self))


def collect_all(futures: Iterable[Future]) -> Future:
    """A future of the list of these, when all are done."""
    every = list(futures) if isinstance(futures, Iterable) else [futures]
    if not all(isinstance(each, Future) for each in every):
        raise ArgumentTypeError("collect_all: expected a list of futures", "torch.futures.collect_all([first, second])")

    def finish() -> list[Future]:
        for each in every:
            each._settle()
        return every

    made = Future._of(finish, lambda: all(each.done() for each in every))

    def look(_: Any = None) -> None:
        if made._finish and all(each._set.is_set() for each in every):
            made._settle()  # at once, so that a long chain of futures does not wait for one another

    for each in every:
        each.add_done_callback(look)
    look()
    return made


def wait_all(futures: Iterable[Future]) -> list[Any]:
    """The values of all of them."""
    return [each.wait() for each in futures]
