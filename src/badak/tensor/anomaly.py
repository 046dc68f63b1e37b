"""Anomaly mode, forward: the first operation that makes a NaN or an Inf out of finite numbers."""

import numpy as np

from ..errors import GraphError, user_line


def look_for_nonfinite(op, arrays, outputs) -> None:
    """Raise where an output holds NaN or Inf although no input did (NaN or +-Inf inputs are somebody else's fault)."""
    for y in outputs:
        made = y._array
        if made.dtype.kind not in "fc" or np.isfinite(made).all():
            continue
        if any(x is not None and x.dtype.kind in "fc" and not np.isfinite(x).all() for x in arrays):
            continue
        kind = "NaN" if np.isnan(made).any() else "Inf"
        line = user_line()
        raise GraphError(
            f"{op.name}{f' ({line})' if line else ''} is the first operation to make {kind} "
            f"({int((~np.isfinite(made)).sum())} of {made.size} values), from finite inputs",
            "look at its inputs there: a logarithm or a root of 0, a division by 0, an overflow",
        )
