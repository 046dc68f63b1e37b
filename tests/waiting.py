"""Tests wait for what must happen, not for so many seconds: a busy machine is slow, and only a hang is a failure."""

import time
from collections.abc import Callable

HANGS = 120  # seconds after which something hangs


def until(true: Callable[[], object], seconds: float = HANGS) -> None:
    """Wait until it is true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not become true within {seconds} s: it hangs")
        time.sleep(0.005)
