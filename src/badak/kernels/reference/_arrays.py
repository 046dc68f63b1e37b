"""What every reference kernel needs: IEEE arithmetic without warnings, the order of results in memory, rows."""

import math
from collections.abc import Callable
from contextvars import Context
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from numpy import ndarray

from badak.kernels.half import BFLOAT16
from badak.kernels.memory_format import laid

Array = Any  # a NumPy array
BLOCK = 16_384  # elements

ARRAYS: set[type] = {ndarray}  # what may be of bfloat16; double backward adds the array that records
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
    """As `quiet`, for a function whose result lies in memory as its arrays do: see `kernels/memory_format.py`.

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

    alike.elementwise = True  # type: ignore[attr-defined]  # of a forward: `ops/batching.py` reads it
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


def in_float32(*results: str | None) -> Callable[..., Any]:
    """What a kernel means for bfloat16: its arrays are widened, it computes in float32, and each result is rounded once.

    results: for each result the argument whose dtype it takes, None for one that stays float32 (statistics, what is summed
    later); without any, every result takes the dtype of the first argument.
    """

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        places = [None if name is None else list(signature(function).parameters).index(name) for name in results]

        @wraps(function)
        def computed(*args: Any, **named: Any) -> Any:
            for x in args:
                if type(x) in ARRAYS and x.dtype == BFLOAT16:
                    break
            else:
                return function(*args, **named)
            made = function(*map(wide, args), **named)
            if type(made) is not tuple:
                return _rounded(made, args[(places or [0])[0] or 0])
            return tuple([y if at is None else _rounded(y, args[at]) for y, at in zip(made, places or [0] * len(made))])

        return computed

    return decorated


def wide(x: Any) -> Any:
    """x, an array of bfloat16 in float32."""
    return x.astype(np.float32) if type(x) in ARRAYS and x.dtype == BFLOAT16 else x


def _rounded(y: Array | None, like: Array | None) -> Array | None:
    return y if y is None or like is None else y.astype(like.dtype, copy=False)


def recordable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: an array that records what is done to it, as double backward does, may take `function` as one operation.

    NumPy's own functions ask so, too: by `__array_function__`.
    """

    @wraps(function)
    def dispatched(x: Any, *args: Any) -> Any:
        if type(x) is ndarray or not hasattr(x, "tensor"):
            return function(x, *args)
        return x.__array_function__(dispatched, (type(x),), (x, *args), {})

    return dispatched


def in_blocks(function: Callable[..., Array]) -> Callable[..., Array]:
    """An elementwise `function` of many passes, some thousand elements at a time, so that they stay in the cache.

    Where its arrays have several shapes, or gaps, they are taken whole.
    """

    @wraps(function)
    def cut(*arrays: Array) -> Array:
        first = arrays[0]
        if first.size <= BLOCK or any(x.shape != first.shape or not x.flags.c_contiguous for x in arrays):
            return function(*arrays)
        flat, y = [x.reshape(-1) for x in arrays], np.empty(first.shape, arrays[-1].dtype)
        for start in range(0, first.size, BLOCK):
            y.reshape(-1)[start : start + BLOCK] = function(*[x[start : start + BLOCK] for x in flat])
        return y

    return cut


def grid(index: Array, dim: int) -> tuple:
    """The key with which x[key] picks x[i0, .., index[i0, .., in], .., in], `index` replacing the coordinate `dim`."""
    n = index.ndim
    return tuple(
        index if a == dim else np.arange(size).reshape((1,) * a + (size,) + (1,) * (n - 1 - a))
        for a, size in enumerate(index.shape)
    )


def rows(x: Array) -> Array:
    """x (..., C) as (N, C); also where an axis has size 0."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


@quiet
def running(function: Callable[..., Array], x: Array, axis: int) -> Array:
    """np.cumsum or the like of x along axis, in x's dtype."""
    if type(x) is not np.ndarray or x.dtype.kind not in "fc":
        return function(x, axis=axis, dtype=x.dtype)
    return function(x, axis=axis, dtype=np.result_type(x.dtype, np.float64)).astype(x.dtype, copy=False)


def at_places(ufunc: np.ufunc, y: np.ndarray, key: Any, values: Any) -> None:
    """ufunc.at(y, key, values), in order where a place stands twice: NumPy is ten times as fast along a vector."""
    if y.ndim == 1 or not y.flags.c_contiguous or y.size > 8 * np.size(values):
        ufunc.at(y, key, values)
        return
    places = np.arange(y.size).reshape(y.shape)[key]
    ufunc.at(y.reshape(-1), places.reshape(-1), np.broadcast_to(values, places.shape).reshape(-1))
