"""Switches: what is recorded for a backward, and who is told of effects. One object, one set of values for each thread."""

import threading
from typing import Any

from badak import environment


class _Modes(threading.local):
    grad = True  # record what a backward needs
    inference = False  # as grad = False, and for good: what is made now never joins a graph
    anomaly = False  # look for the first operation that made a NaN or an Inf
    debug = environment.switch("DEBUG")  # remember the user's line of each operation
    observers: tuple = ()  # who is told of effects (see `effects.py`)
    observer: Any = None  # all of them as one, None where there is none


modes = _Modes()
