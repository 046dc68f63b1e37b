"""Switches that decide what is recorded: one object, one set of values for each thread."""

import os
import threading
from functools import wraps
from typing import Any


class _Modes(threading.local):
    grad = True  # record what a backward needs
    inference = False  # as grad = False, and for good: what is made now never joins a graph
    anomaly = False  # look for the first operation that made a NaN or an Inf
    debug = os.environ.get("BADAK_DEBUG", "") not in ("", "0")  # remember the user's line of each operation
    tape: Any = None  # who watches what is done, to replay it (see `replay/`)
    checked = 2 * debug  # one look for the last four: 0 none of them, 1 only inference, 2 others too

    def look_again(self) -> None:
        """Bring `checked` up to date."""
        self.checked = 2 if self.anomaly or self.debug or self.tape is not None else int(self.inference)


modes = _Modes()


def live(function):
    """A function on tensors that is no operation: a replay calls it again (see `replay/`)."""

    @wraps(function)
    def watched(*args, **kwargs):
        if modes.tape is None:
            return function(*args, **kwargs)
        return modes.tape.live(function, args, kwargs)

    return watched


def live_in_place(function):
    """As `live`, for a function that gives its first argument, a tensor, other values."""
    function.in_place = True
    return live(function)


def live_kernels(function):
    """As `live_in_place`, for a function that does nothing but call kernels: a replay needs only these calls."""
    function.by_kernels = function.in_place = True
    return live(function)


def live_check(function):
    """As `live`, for a function that looks at values and raises, or does nothing."""
    function.check = True
    return live(function)


def live_pure(function, ufunc=None):
    """As `live`, for a function that only makes a tensor of its arguments: done twice on the same, it is replayed once.

    ufunc: the function of NumPy that does it for two tensors of one dtype.
    """
    function.pure, function.ufunc = True, ufunc
    return live(function)


class _Changes:
    """What has happened to all models so far: two equal states have the same attributes, hooks and modes in between.

    count   of attributes of modules that were set, hooks, requires_grad, tensors given another array
    modes   which modules are in another mode (training or not) than at first: a step of training is the same again after a test
    """

    count = 0
    modes = 0

    def switch(self, module) -> None:
        """The module's `training` was turned round."""
        self.modes ^= hash(("training", id(module)))


changes = _Changes()
