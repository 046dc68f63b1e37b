"""The loss of labels whose places in time are not known."""

from collections.abc import Sequence

from badak.core import events
from badak.core.errors import ArgumentTypeError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.nn.functional._common import tensor
from badak.nn.functional.loss import _reduced
from badak.ops.ctc import CTC, check
from badak.tensor import Tensor, apply, int64
from badak.tensor import tensor as made_of
from badak.tensor.upcast import in_float32

__all__ = ["ctc_loss"]


@in_float32
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor | Sequence[int],
    target_lengths: Tensor | Sequence[int],
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """-ln of the probability of all ways to spell each row of targets, in nats.

        loss[n]             = -ln sum over ways of prod over t of p[t, n, label of the way at t]
        dlog_probs[t, n, c] = -dloss[n] P(the way of row n is at label c at step t)

    A way names a label or `blank` at each step; equal neighbours count once, blanks are left out. log_probs (T, N, C)
    from log_softmax, or (T, C) for one row; targets (N, S), or all one behind the other; input_lengths and
    target_lengths (N,): how much of T and S counts. "mean" divides each loss by its number of labels (at least 1), then
    takes the mean of the batch. What cannot be spelled in its steps has an infinite loss and a gradient of NaN, or 0
    both with `zero_infinity`. Computed in float64.

    Parity: PyTorch gives log_probs p dloss more than this derivative, at every step that counts. log_softmax takes off
    p times the sum of what comes, which is -dloss here and 0 there: what lies below a log_softmax has the same gradient.
    Source: Graves et al. 2006, "Connectionist temporal classification".
    """
    x = tensor(log_probs, "ctc_loss", "log_probs")
    if not x.is_floating_point():
        raise DTypeError(tr("ctc_loss: expected floating log_probs; got {}", x.dtype), "logits.log_softmax(-1)")
    if x.dim() not in (2, 3):
        cause = tr("ctc_loss: expected log_probs (T, N, C) or (T, C); got {}", tuple(x.shape))
        raise ShapeError(cause, "log_probs.transpose(0, 1) where the batch comes first")
    targets = _ints(targets, "targets")
    lone = x.dim() == 2
    steps, lengths = _ints(input_lengths, "input_lengths"), _ints(target_lengths, "target_lengths")
    if lone:
        x, steps, lengths = x.unsqueeze(1), steps.reshape(-1), lengths.reshape(-1)
    if targets.dim() not in (1, 2):
        cause = tr("ctc_loss: expected targets (N, S) or in one row; got {}", tuple(targets.shape))
        raise ShapeError(cause, "torch.cat of the rows, with target_lengths, or rows padded to one length")
    if targets.dim() == 2 and targets.shape[0] != x.shape[1]:
        cause = tr("ctc_loss: expected targets (N, S) with N = {} as in log_probs; got {}", x.shape[1], tuple(targets.shape))
        raise ShapeError(cause, "log_probs (T, N, C): time first, then batch")
    for name, count in (("input_lengths", steps), ("target_lengths", lengths)):
        if count.shape != (x.shape[1],):
            cause = tr("ctc_loss: {} must be of size batch_size; got {} for a batch of {}", name, tuple(count.shape), x.shape[1])
            raise ShapeError(cause, tr("one number for each of the {} rows", x.shape[1]))
    if not 0 <= blank < x.shape[2]:
        raise IndexOutOfRangeError(tr("ctc_loss: blank must be in label range 0 .. {}; got {}", x.shape[2] - 1, blank), "blank=0")
    _check(x, targets, steps, lengths, blank)
    loss = apply(CTC, x, targets, steps, lengths, blank=blank, zero_infinity=bool(zero_infinity))
    if reduction == "mean":
        loss = loss / lengths.clamp(min=1).to(x.dtype)
    y = _reduced(loss, reduction, "ctc_loss")
    return y.squeeze(0) if lone and reduction == "none" else y


def _ints(x, name: str) -> Tensor:
    """x, a tensor or numbers, as int64."""
    if not isinstance(x, Tensor):
        if not isinstance(x, int | list | tuple):
            cause = tr("ctc_loss: expected {} as Tensor or numbers; got {}", name, type(x).__name__)
            raise ArgumentTypeError(cause, "one integer for each row of the batch")
        x = made_of(x, dtype=int64)
    if x.is_floating_point() or x.is_complex():
        raise DTypeError(tr("ctc_loss: {} must be integral; got {}", name, x.dtype), f"{name}.long()")
    return x.to(int64)


@events.check
def _check(x: Tensor, targets: Tensor, steps: Tensor, lengths: Tensor, blank: int) -> None:
    check(x._array, targets._array, steps._array, lengths._array, blank)
