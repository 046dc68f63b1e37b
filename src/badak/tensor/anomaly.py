"""Anomaly mode, forward: the first operation that makes a NaN or an Inf out of finite numbers."""

import math

import numpy as np

from badak.errors import GraphError, user_line


def look_for_nonfinite(op, arrays, attributes, outputs) -> None:
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
