"""Anomaly mode: the first operation, forward or backward, that makes a NaN or an Inf out of finite numbers."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from badak.core.errors import GraphError, tr, user_line
from badak.core.events import Observer
from badak.tensor.grad_fn import name_of

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor

_FLOATS = "fcV"  # bfloat16 is of kind V


class Anomaly(Observer):
    """Looks at all that operations make."""

    def on_op(
        self, op: Any, saved: Any, inputs: "Sequence[Tensor]", arrays: list | tuple, attributes: dict, outputs: "Sequence[Tensor]"
    ) -> None:
        _look(op, arrays, attributes, outputs)

    def on_backward(self, node: Any, dys: list, dxs: tuple) -> None:
        _look_back(node, dys, dxs)


ANOMALY = Anomaly()


def _look(op, arrays, attributes, outputs) -> None:
    """Raise where an output holds NaN although no input did, or Inf although all inputs were finite.

    What came in so is somebody else's doing, and a number such as the -inf of masked_fill is meant. But a softmax of -inf
    alone, or Inf - Inf, makes a NaN that was not there before.
    """
    if any(isinstance(value, float) and not math.isfinite(value) for value in attributes.values()):
        return
    for y in outputs:
        made = y._array
        if made.dtype.kind not in _FLOATS or np.isfinite(made).all():
            continue
        kind, same = ("NaN", np.isnan) if np.isnan(made).any() else ("Inf", _is_not_finite)
        given = [x for x in (*arrays, *attributes.values()) if isinstance(x, np.ndarray | np.generic) and x.dtype.kind in _FLOATS]
        if any(same(array).any() for array in given):
            continue
        line, bad = user_line(), int(same(made).sum())
        where = f"{op.name} ({line})" if line else op.name
        cause = tr("{} is the first operation to make {} ({} of {} values), from finite inputs", where, kind, bad, made.size)
        if any(_is_not_finite(array).any() for array in given):
            cause = tr(
                "{} is the first operation to make {} ({} of {} values), from inputs that hold Inf", where, kind, bad, made.size
            )
        fix = tr("look at its inputs there: a logarithm or a root of 0, a division by 0, a softmax of -inf alone, an overflow")
        raise GraphError(cause, fix)


def _is_not_finite(array):
    return ~np.isfinite(array)


def _look_back(node, dys, dxs) -> None:
    for i, dx in enumerate(dxs):
        if dx is not None and dx.dtype.kind in _FLOATS and not np.isfinite(dx).all():
            kind = "NaN" if np.isnan(dx).any() else "Inf"
            if all(dy is None or np.isfinite(dy).all() for dy in dys):
                cause = tr("Function '{}' returned {} values in its {}th output: the backward of {} is the first to make {} in a "
                           "gradient ({} of {} values)", name_of(node), kind.lower(), i, node._where(), kind,
                           int((~np.isfinite(dx)).sum()), dx.size)  # fmt: skip
                fix = tr("look at the input of that operation (a root or a logarithm at 0, a division by 0, an overflow)")
                raise GraphError(cause, fix)
            cause = tr("the gradient that reaches {} already holds NaN or Inf", node._where())
            raise GraphError(cause, "look at the gradient given to backward()")
