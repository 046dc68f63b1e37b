"""Updates of parameters, in place. What an update computes stands with its optimizer; see `kernels/update.py`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.kernels.half import is_half
from badak.kernels.reference._arrays import Array, quiet
from badak.kernels.update import Update


@quiet
def update_all(
    update: Update,
    params: Sequence[Array],
    grads: Sequence[Array],
    slots: Sequence[Sequence[Array] | None],
    scalars: Sequence[tuple[float, ...]],
    memo: dict[str, Any],
) -> None:
    """Give all parameters of one dtype, and what is remembered of each, their next values.

    slots: for every slot of the update an array for each parameter, or None. scalars: one tuple for each parameter.
    memo: empty at first and the caller's: what a set keeps between two steps. 16-bit Floats are computed in float32, and
    parameters and memory rounded once.
    """
    for row, (param, grad) in enumerate(zip(params, grads)):
        held = [param, *(None if slot is None else slot[row] for slot in slots)]
        p, g, *rest = (x.astype(np.float32) if is_half(x) else x for x in (param, grad, *held[1:]))
        for old, new in zip(held, update.function(p, g, *rest, *scalars[row])):
            if old is not None:
                old[...] = new


def update_kept(memo: dict[str, Any], grads: Sequence[Array]) -> Callable[[Sequence[tuple[float, ...]]], None] | None:
    """prepare(scalars) for the last call of `update_all`, with this memo and these gradients: let it do a step with these
    numbers, on the same gradients, when it is played again. None where no call can be kept, as in this set."""
    return None
