"""Ctrl-C at a bad moment: work that must not be cut in two is finished first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")  # what asks a program to end; which of them there are, the system says
ENDINGS = tuple(number for name in _NAMES if (number := getattr(signal, name, None)) is not None)


class Request:
    """`asked` turns True at the first signal to end, which `signal` says then."""

    asked = False
    signal = signal.SIGINT


@contextmanager
def interruptible() -> Iterator[Request]:
    """Within the block the first Ctrl-C, SIGTERM or SIGHUP only sets `asked`; the second one acts at once, as it always does.

    A signal that the program ignores (as under nohup) stays ignored. Only the main thread hears signals.
    """
    request = Request()
    before: dict = {}

    def ask(number, frame):
        request.asked, request.signal = True, signal.Signals(number)
        _restore(before)

    _replace(before, ask)
    try:
        yield request
    finally:
        _restore(before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """What must not be cut in two, a second at most: a signal that comes in the block acts at its end."""
    came: list[int] = []
    before: dict = {}
    _replace(before, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        _restore(before)
        if came:
            signal.raise_signal(came[0])


def _replace(before: dict, handler) -> None:
    """Give each signal that would be heard to `handler`; `before` remembers whose it was."""
    if threading.current_thread() is threading.main_thread():
        for number in ENDINGS:
            now = signal.getsignal(number)
            if now is not None and now is not signal.SIG_IGN:  # None: set by code that is not Python
                before[number] = now
                signal.signal(number, handler)


def _restore(before: dict) -> None:
    while before:
        number, handler = before.popitem()
        signal.signal(number, handler)
