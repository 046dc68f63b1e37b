"""Functions of several operations on 16-bit floats: computed in float32 all the way, rounded once."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from badak.core.modes import anywhere, modes
from badak.tensor import dtypes
from badak.tensor.casting import NAMES, in_full
from badak.tensor.convert import cast
from badak.tensor.dtypes import dtype as DType
from badak.tensor.promote import into
from badak.tensor.tensor import Tensor


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which gets float32 in the place of float16 or bfloat16 and whose results are of that dtype again.

    One operation does so by itself (`tensor/apply.py`); several would round after each. Where some of the tensors have other
    floats, the function decides what they make together.
    """

    @wraps(function)
    def wide(*args, **named):
        if anywhere.casting and modes.casting is not None and function.__name__ in NAMES:
            args = [_each(x, in_full, None) for x in args]
            return function(*args, **{name: _each(x, in_full, None) for name, x in named.items()})
        narrow = _narrow([*args, *named.values()])
        if narrow is None:
            return function(*args, **named)
        out = named.pop("out", None)
        args = [_each(x, lambda t: cast(t, dtypes.float32), narrow) for x in args]
        made = function(*args, **{name: _each(x, lambda t: cast(t, dtypes.float32), narrow) for name, x in named.items()})
        return into(out, _each(made, lambda t: cast(t, narrow), dtypes.float32))

    return wide


def _narrow(values: list) -> DType | None:
    """The one 16-bit dtype of all float tensors among the values and their lists; None where there is none."""
    kinds = set()
    for x in values:
        for part in x if type(x) in (list, tuple) else (x,):
            if isinstance(part, Tensor) and part._array.dtype.kind in "fcV":
                kinds.add(part.dtype)
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind is dtypes.bfloat16 or kind is dtypes.float16 else None


def _each(x, convert: Callable[[Tensor], Tensor], kind: DType | None):
    """x, or the list x, with every tensor of `kind`, or of any, converted."""
    if isinstance(x, Tensor):
        return convert(x) if kind is None or x.dtype is kind else x
    return type(x)(_each(part, convert, kind) for part in x) if type(x) in (list, tuple) else x
