"""Connectionist temporal classification."""

from typing import Any

import numpy as np

from badak.core.errors import IndexOutOfRangeError, ShapeError, tr
from badak.kernels.reference import ctc
from badak.ops._check import position
from badak.ops.op import Op


class CTC(Op):
    """loss[n] = -ln of the probability of all ways to spell targets[n] in steps[n] steps.

    dlogp[t, n, c] = -dloss[n] times the probability, among these ways, of being at label c at step t.

    logp (T, N, C); targets int (N, S), or all in one row one behind the other; steps and lengths int (N,): how many of the T steps
    and of the S labels count. Infinite where there is no way, and its gradient NaN; both 0 with `zero_infinity`.
    """

    name = "ctc_loss"
    batching = None

    @staticmethod
    def forward(
        save: Any,
        logp: np.ndarray,
        targets: np.ndarray,
        steps: np.ndarray,
        lengths: np.ndarray,
        blank: int = 0,
        zero_infinity: bool = False,
    ) -> np.ndarray:
        rows = _padded(targets, lengths, len(steps), blank)
        save.places, save.jumps = ctc.spelled(rows, lengths, blank)
        loss, save.alpha = ctc.forward(logp, save.places, save.jumps, steps, lengths)
        save.logp, save.steps, save.lengths, save.loss, save.zero_infinity = logp, steps, lengths, loss, zero_infinity
        return (np.where(np.isinf(loss), 0.0, loss) if zero_infinity else loss).astype(logp.dtype)

    @staticmethod
    def backward(saved: Any, dy: Any) -> tuple:
        dlogp = ctc.backward(dy, saved.logp, saved.loss, saved.alpha, saved.places, saved.jumps, saved.steps, saved.lengths)
        if saved.zero_infinity:
            dlogp[:, np.isinf(saved.loss)] = 0
        return dlogp, None, None, None


def _padded(targets: np.ndarray, lengths: np.ndarray, batch: int, blank: int) -> np.ndarray:
    """Targets in one row as (N, S)."""
    if targets.ndim == 2:
        return targets
    rows = np.full((batch, lengths.max(initial=0)), blank, np.int64)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = targets[: lengths.sum()]
    return rows


def check(logp: np.ndarray, targets: np.ndarray, steps: np.ndarray, lengths: Any, blank: int) -> None:
    """Raise unless the lengths and labels are among those that there are."""
    most = targets.shape[1] if targets.ndim == 2 else targets.size
    for name, count, limit in (("input_lengths", steps, len(logp)), ("target_lengths", lengths, most)):
        wrong = (count < 0) | (count > limit)
        if wrong.any():
            cause = tr("ctc_loss: Expected {} to have value at most {}, but got value {}", name, limit, count[wrong][0])
            raise IndexOutOfRangeError(cause, f"{name} of 0 .. {limit}")
    if targets.ndim == 1 and targets.size != lengths.sum():
        cause = tr("ctc_loss: targets in one row must be of size sum(target_lengths) = {}; got {}", lengths.sum(), targets.size)
        raise ShapeError(cause, "targets (N, S), or sum(target_lengths) of them")
    classes, counted = logp.shape[2], True
    if targets.ndim == 2:
        counted = np.arange(most) < lengths[:, None]
    wrong = counted & ((targets < 0) | (targets >= classes))
    if wrong.any():
        cause = tr("ctc_loss: targets{} = {}, but log_probs has {} classes (valid 0..{})", position(wrong), targets[wrong][0],
                   classes, classes - 1)  # fmt: skip
        raise IndexOutOfRangeError(cause, tr("labels from 0 to {}, or more classes in the last layer", classes - 1))
