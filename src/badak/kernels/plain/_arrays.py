"""What every plain kernel needs: IEEE arithmetic without warnings, the order of results in memory, rows."""

import math
from collections.abc import Callable
from contextvars import Context
from functools import wraps
from typing import Any

import numpy as np
from numpy import ndarray

from badak.kernels.order import laid

Array = Any  # a NumPy array

_idle: list[Context] = []  # contexts in which NumPy keeps silent, to be entered by one call at a time


def _silence() -> Context:
    context = Context()
    context.run(np.seterr, all="ignore")
    return context


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` without NumPy's warnings: infinities and NaN are results here (masks are -inf, a diverged model is NaN).

    What np.errstate(all="ignore") does as a decorator, in 0.3 instead of 0.5 us a call: NumPy keeps its setting in the
    context, and entering one where it is set already is cheaper than setting it.
    """

    @wraps(function)
    def silent(*args: Any, **named: Any) -> Any:
        try:
            context = _idle.pop()
        except IndexError:
            context = _silence()
        try:
            return context.run(function, *args, **named)
        finally:
            _idle.append(context)

    return silent


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `quiet`, for a function whose result lies in memory as its arrays do: see `kernels/order.py`.

    NumPy lays it out so by itself where all of them are row-major, and mostly elsewhere.
    """

    @wraps(function)
    def alike(*args: Any, **named: Any) -> Any:
        try:
            context = _idle.pop()
        except IndexError:
            context = _silence()
        try:
            y = context.run(function, *args, **named)
        finally:
            _idle.append(context)
        for x in args:
            if type(x) is ndarray and not x.flags.c_contiguous:
                return laid(y, *args)
        return y

    return alike


def by_rows(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `quiet`, for a function whose result is row-major, however its arrays lie."""

    @wraps(function)
    def contiguous(*args: Any, **named: Any) -> Any:
        try:
            context = _idle.pop()
        except IndexError:
            context = _silence()
        try:
            y = context.run(function, *args, **named)
        finally:
            _idle.append(context)
        return y if y.flags.c_contiguous else y.copy()

    return contiguous


def rows(x: Array) -> Array:
    """x (..., C) as (N, C); also where an axis has size 0."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
