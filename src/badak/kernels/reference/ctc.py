"""Connectionist temporal classification: the probability of a line of labels, summed over all ways to spell it in T steps.

Every label sequence l (S,) becomes l' (2 S + 1,): a blank before, between and after its labels. alpha[t, s] is the logarithm of the
probability of all ways through l'[0 .. s] that end there at step t, beta[t, s] the same from there to the end, both with
log p[t, l'[s]]. A way goes on to the same place, to the next, or over a blank between two labels that differ.
Source: Graves et al. 2006, "Connectionist temporal classification", equations 6 to 16.
"""

import numpy as np

from badak.kernels.reference._arrays import Array, quiet


def spelled(targets: Array, lengths: Array, blank: int) -> tuple[Array, Array]:
    """l' (N, 2 S + 1) of targets (N, S), blanks after their ends, and where a way may jump over a blank."""
    size = 2 * targets.shape[1] + 1
    places = np.full((len(targets), size), blank, np.int64)
    places[:, 1::2] = np.where(np.arange(targets.shape[1]) < lengths[:, None], targets, blank)
    jumps = np.zeros(places.shape, bool)
    jumps[:, 2:] = (places[:, 2:] != blank) & (places[:, 2:] != places[:, :-2])
    return places, jumps


@quiet
def forward(logp: Array, places: Array, jumps: Array, steps: Array, lengths: Array) -> tuple[Array, Array]:
    """(loss (N,), alpha (T, N, 2 S + 1)) in float64. logp (T, N, C); steps (N,): how many of the T; lengths (N,): of labels."""
    here = _at_places(logp, places)
    count, size = places.shape
    alpha = np.full((len(logp), count, size), -np.inf)
    for t in range(len(logp)):
        if t == 0:
            alpha[0, :, :2] = here[0, :, :2]
            alpha[0, lengths == 0, 1:] = -np.inf
            continue
        way = alpha[t - 1].copy()
        way[:, 1:] = np.logaddexp(way[:, 1:], alpha[t - 1, :, :-1])
        way[:, 2:] = np.where(jumps[:, 2:], np.logaddexp(way[:, 2:], alpha[t - 1, :, :-2]), way[:, 2:])
        alpha[t] = way + here[t]
    rows, last = np.arange(count), np.maximum(steps - 1, 0)
    if not len(logp):
        return np.where(lengths == 0, 0.0, np.inf), alpha
    ends = alpha[last, rows, 2 * lengths]
    with_label = np.where(lengths > 0, alpha[last, rows, np.maximum(2 * lengths - 1, 0)], -np.inf)
    loss = -np.logaddexp(ends, with_label)
    return np.where(steps > 0, loss, np.where(lengths == 0, 0.0, np.inf)), alpha


@quiet
def backward(
    dloss: Array, logp: Array, loss: Array, alpha: Array, places: Array, jumps: Array, steps: Array, lengths: Array
) -> Array:
    """dlogp[t, n, c] = -dloss[n] sum over s with l'[s] = c of exp(alpha + beta - log p + loss): NaN where the loss is infinite."""
    here = _at_places(logp, places)
    count, size = places.shape
    last = np.arange(size) == 2 * lengths[:, None]
    last |= (np.arange(size) == 2 * lengths[:, None] - 1) & (lengths[:, None] > 0)
    beta = np.full((count, size), -np.inf)
    chance = np.zeros(alpha.shape)  # that the way goes through place s at step t
    for t in reversed(range(len(logp))):
        way = beta.copy()
        way[:, :-1] = np.logaddexp(way[:, :-1], beta[:, 1:])
        way[:, :-2] = np.where(jumps[:, 2:], np.logaddexp(way[:, :-2], beta[:, 2:]), way[:, :-2])
        begins, goes_on = (t == steps - 1)[:, None], (t < steps - 1)[:, None]
        rest = np.where(begins & last, 0.0, np.where(goes_on, way, -np.inf))
        beta = rest + here[t]
        chance[t] = np.exp(alpha[t] + rest + loss[:, None])
    within = np.arange(len(logp))[:, None] < steps
    weight = np.where(within, -dloss, 0.0)[:, :, None] * np.where(within[:, :, None], chance, 0.0)
    flat = (np.arange(len(logp) * count).reshape(len(logp), count, 1) * logp.shape[2] + places).ravel()
    dlogp = np.bincount(flat, weight.ravel(), logp.size).reshape(logp.shape).astype(np.float64)
    dlogp[within & np.isinf(loss)] = np.nan
    return dlogp.astype(logp.dtype)


def _at_places(logp: Array, places: Array) -> Array:
    """log p[t, n, l'[n, s]] in float64."""
    index = np.broadcast_to(places, (len(logp), *places.shape))
    return np.take_along_axis(logp.astype(np.float64), index, axis=2)
