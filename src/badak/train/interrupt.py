"""Ctrl-C as a request: the update that is under way is finished first, so that what is saved is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Request:
    """`asked` turns True at the first Ctrl-C."""

    asked = False


@contextmanager
def interruptible() -> Iterator[Request]:
    """Within the block the first Ctrl-C only sets `asked`; the second one stops at once, as it always does."""
    request = Request()
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield request
        return

    def ask(number, frame):
        request.asked = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)
