"""Switches that decide what is recorded: one object, one set of values for each thread."""

import os
import threading


class _Modes(threading.local):
    grad = True  # record what a backward needs
    inference = False  # as grad = False, and for good: what is made now never joins a graph
    anomaly = False  # look for the first operation that made a NaN or an Inf
    debug = os.environ.get("BADAK_DEBUG", "") not in ("", "0")  # remember the user's line of each operation
    checked = 2 * debug  # one look for the last three: 0 none of them, 1 only inference, 2 others too

    def look_again(self) -> None:
        """Bring `checked` up to date."""
        self.checked = 2 if self.anomaly or self.debug else int(self.inference)


modes = _Modes()
