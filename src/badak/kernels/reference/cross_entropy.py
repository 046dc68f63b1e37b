"""Cross entropy of logits, for class ids and for class probabilities. N rows, V classes; every loss in nats.

Source of the smoothing: Szegedy et al., "Rethinking the Inception Architecture" (2016), section 7.
"""

import numpy as np

from badak.kernels import elementary
from badak.kernels.reference._arrays import Array, by_rows, in_float32, quiet


@quiet
@in_float32(None, None)
def cross_entropy(
    logits: Array, target: Array, weight: Array | None = None, ignore_index: int = -100, smoothing: float = 0.0
) -> tuple[Array, Array]:
    """loss (N,), lse (N,).    logits (N, V), target int (N,), weight (V,) or None.

        lse[n]  = log sum_v exp(logits[n, v])        logp[n, v] = logits[n, v] - lse[n]
        loss[n] = -(1 - e) w[target[n]] logp[n, target[n]] - e/V sum_v w[v] logp[n, v]        e = smoothing

    The loss of a row whose target is `ignore_index` is 0.
    """
    largest = logits.max(axis=-1, keepdims=True, initial=-np.inf)
    z = logits - largest
    log_sum = elementary.log(elementary.exp(z).sum(axis=-1))
    seen, picked = _seen(target, ignore_index)
    # log_sum - z, not lse - logits: the difference of two large numbers would lose the digits of a small loss
    loss = log_sum - z[np.arange(len(z)), picked]
    if weight is not None:
        loss *= weight[picked]
    if smoothing > 0:
        w = np.ones(z.shape[1:], z.dtype) if weight is None else weight
        loss = (1 - smoothing) * loss + (smoothing / z.shape[1]) * ((log_sum[:, None] - z) * w).sum(axis=-1)
    return np.where(seen, loss, 0), largest[:, 0] + log_sum


@by_rows
@in_float32("logits")
def cross_entropy_backward(
    dloss: Array,
    logits: Array,
    target: Array,
    lse: Array,
    weight: Array | None,
    ignore_index: int,
    smoothing: float,
    over_logits: bool = False,
) -> Array:
    """dlogits (N, V).    dloss (N,), the rows already scaled by the reduction. over_logits: may lie where logits do.

    The loss is linear in logp with coefficients -c[n, v], c = (1 - e) w[v] [v = target[n]] + e/V w[v], and
    dlogp[v]/dlogits[u] = [u = v] - softmax[u]. So

        dlogits[n, v] = dloss[n] (softmax[n, v] sum_u c[n, u] - c[n, v])
    """
    seen, picked = _seen(target, ignore_index)
    n, classes = logits.shape
    w = np.ones(classes, logits.dtype) if weight is None else weight
    total = (1 - smoothing) * w[picked]
    if smoothing > 0:
        total += (smoothing / classes) * w.sum()
    dlogits = elementary.exp(_log_softmax(logits, lse)) * total[:, None]
    dlogits[np.arange(n), picked] -= (1 - smoothing) * w[picked]
    if smoothing > 0:
        dlogits -= (smoothing / classes) * w
    dlogits *= dloss[:, None]
    dlogits[~seen] = 0
    return dlogits


@quiet
def cross_entropy_soft(logits: Array, target: Array, weight: Array | None = None, smoothing: float = 0.0) -> tuple[Array, Array]:
    """loss (N,), lse (N,).    logits (N, V), target (N, V) class probabilities, weight (V,) or None.

        loss[n] = -sum_v c[n, v] logp[n, v]        c = w ((1 - e) target + e/V)

    A class with c = 0 counts nothing, also where its logit is -inf.
    """
    largest = logits.max(axis=-1, initial=-np.inf)
    lse = largest + elementary.log(elementary.exp(logits - largest[:, None]).sum(axis=-1))
    c = _coefficients(target, weight, smoothing)
    terms = np.where(c == 0, 0, c * _log_softmax(logits, lse))
    return -terms.sum(axis=-1), lse


@quiet
def cross_entropy_soft_backward(
    dloss: Array, logits: Array, target: Array, lse: Array, weight: Array | None, smoothing: float, needs: tuple[bool, ...]
) -> tuple[Array | None, ...]:
    """dlogits, dtarget.    With c as above, which is linear in the target:

    dlogits = dloss (softmax sum_u c[u] - c)        dtarget = -dloss (1 - e) w logp
    """
    logp = _log_softmax(logits, lse)
    dlogits = dtarget = None
    if needs[0]:
        c = _coefficients(target, weight, smoothing)
        dlogits = dloss[:, None] * (elementary.exp(logp) * c.sum(axis=-1, keepdims=True) - c)
    if needs[1]:
        dtarget = logp * (smoothing - 1) * dloss[:, None]
        dtarget = dtarget if weight is None else dtarget * weight
    return dlogits, dtarget


@quiet
def nll(logp: Array, target: Array, weight: Array | None = None, ignore_index: int = -100) -> Array:
    """loss[n] = -w[target[n]] logp[n, target[n]], 0 for an ignored row.    logp (N, V), target int (N,) ->
    (N,)."""
    seen, picked = _seen(target, ignore_index)
    loss = -logp[np.arange(len(logp)), picked]
    if weight is not None:
        loss *= weight[picked]
    return np.where(seen, loss, 0)


@quiet
def nll_backward(dloss: Array, logp: Array, target: Array, weight: Array | None, ignore_index: int) -> Array:
    """dlogp[n, v] = -w[v] dloss[n] [v = target[n]], 0 for an ignored row."""
    seen, picked = _seen(target, ignore_index)
    dlogp = np.zeros(logp.shape, logp.dtype)
    picked_gradient = -dloss if weight is None else -dloss * weight[picked]
    dlogp[np.arange(len(logp)), picked] = np.where(seen, picked_gradient, 0)
    return dlogp


def _seen(target, ignore_index):
    """Which rows count, and a class for each row: its target, or 0 where it does not count."""
    seen = target != ignore_index
    return seen, np.where(seen, target, 0)


def _log_softmax(logits, lse):
    """logits - lse, less the log of its own sum, which is 0 but for the rounding of a large lse."""
    z = logits - lse[:, None]
    return z - elementary.log(elementary.exp(z).sum(axis=-1, keepdims=True))


def _coefficients(target, weight, smoothing):
    c = target * (1 - smoothing) + smoothing / max(target.shape[1], 1)
    return c if weight is None else c * weight


def total_loss(loss: Array, target: Array, ignore_index: int, mean: bool) -> tuple[Array, Array]:
    """total () and count (1,): the loss over the rows that are not ignored, as a mean or a sum; summed in float64."""
    count = max(int((target != ignore_index).sum()), 1) if mean else 1
    total = loss.sum(dtype=np.float64) / count
    return np.asarray(total, loss.dtype), np.full(1, count, loss.dtype)


@quiet
def spread_loss(dy: Array, count: Array, n: int) -> Array:
    """dloss (n,) of every row from dy () of the total."""
    return np.full(n, dy / count[0], dy.dtype)
