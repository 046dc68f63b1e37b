"""Anomaly mode: the first operation, forward or backward, that makes a NaN or an Inf out of finite numbers."""

import math

import numpy as np

from badak.errors import GraphError, user_line
from badak.graph.effects import Observer


class Anomaly(Observer):
    """Looks at all that operations make."""

    def ran(self, op, saved, inputs, arrays, attributes, outputs) -> None:
        _look(op, arrays, attributes, outputs)

    def went_back(self, node, dys, dxs) -> None:
        _look_back(node, dys, dxs)


ANOMALY = Anomaly()


def _look(op, arrays, attributes, outputs) -> None:
    """Raise where an output holds NaN or Inf although no input did.

    What came in as NaN or Inf is somebody else's doing, and a number such as the -inf of masked_fill is meant.
    """
    if any(isinstance(value, float) and not math.isfinite(value) for value in attributes.values()):
        return
    for y in outputs:
        made = y._array
        if made.dtype.kind not in "fc" or np.isfinite(made).all():
            continue
        if any(map(_is_nonfinite, (*arrays, *attributes.values()))):
            continue
        kind = "NaN" if np.isnan(made).any() else "Inf"
        line = user_line()
        raise GraphError(
            f"{op.name}{f' ({line})' if line else ''} is the first operation to make {kind} "
            f"({int((~np.isfinite(made)).sum())} of {made.size} values), from finite inputs",
            "look at its inputs there: a logarithm or a root of 0, a division by 0, an overflow",
        )


def _is_nonfinite(value) -> bool:
    if not isinstance(value, np.ndarray | np.generic | float):
        return False
    array = np.asarray(value)
    return array.dtype.kind in "fc" and not np.isfinite(array).all()


def _look_back(node, dys, dxs) -> None:
    for dx in dxs:
        if dx is not None and dx.dtype.kind in "fc" and not np.isfinite(dx).all():
            kind = "NaN" if np.isnan(dx).any() else "Inf"
            if all(dy is None or np.isfinite(dy).all() for dy in dys):
                raise GraphError(
                    f"the backward of {node._where()} is the first to make {kind} in a gradient "
                    f"({int((~np.isfinite(dx)).sum())} of {dx.size} values)",
                    "look at the input of that operation (a root or a logarithm at 0, a division by 0, an overflow)",
                )
            raise GraphError(
                f"the gradient that reaches {node._where()} already holds NaN or Inf",
                "look at the gradient given to backward()",
            )
