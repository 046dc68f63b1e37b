"""Switches: what is recorded for a backward, and who is told of events. One object, one set of values for each thread."""

import threading
from typing import Any

from badak.core import config


class _Modes(threading.local):
    debug = config.switch("DEBUG")  # remember the user's line of each operation
    at_first: tuple[tuple, Any] = (), None  # the observers of a thread that begins

    def __init__(self) -> None:  # for each thread; on the class they would cost a longer look
        self.grad = True  # record what a backward needs
        self.inference = False  # as grad = False, and for good: what is made now never joins a graph
        self.multithreading = True  # what a program said of backward's threads, which changes nothing
        self.casting: Any = None  # what autocast makes of the inputs of an operation; None outside of it
        self.replaced: dict = {}  # operations that somebody else's function computes (`badak.use`)
        self.batching: tuple = ()  # the vmaps under way, from the outermost in (`tensor/vmap.py`)
        self.slopes = False  # a walk back whose own gradient is a slope: a Function's jvp says how (`compat/torch/func.py`)
        self.one_by_one = False  # the examples of a vmap come one after the other, so that a graph is walked more than once
        self.anomaly = False  # look for the first operation that made a NaN or an Inf
        self.awaiting: tuple = ()  # who wants each leaf's gradient as early as can be, and a word at the end of backward
        self.walk: Any = None  # the innermost backward under way: its number, roots, targets and what is called at its end
        self.walking = 0  # how many backwards are under way, one within the other, while somebody waits so
        # who is told of events (see `events.py`), and all of them as one, None where there is none
        self.observers, self.observer = self.at_first


class _Anywhere:
    """How many observers all threads have together. Where there are none, nobody has to look for those of a thread, which
    takes 0.05 us: some things happen so often that it counts."""

    def __init__(self) -> None:
        self.observers = 0
        self.casting = 0  # how many blocks of autocast and of `use`, and vmaps, are open in all threads
        self.has_observers = 0  # those of them that want to know more than inference mode does: what operations make


modes, anywhere = _Modes(), _Anywhere()
