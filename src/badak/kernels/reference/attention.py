"""Scaled dot-product attention. Sources: Vaswani et al., "Attention Is All You Need" (2017), eq. 1; the
backward by rows from the saved log-sum-exp: Dao et al., "FlashAttention" (2022), appendix B; shared key
heads: Ainslie et al., "GQA" (2023).

B batch, H query heads, G key heads (H % G == 0), T queries, S keys, D and E the sizes of a key and of a
value.
"""

import math
from collections.abc import Iterator

import numpy as np

from badak.kernels import elementary
from badak.kernels.memory_format import heads_like
from badak.kernels.reference._arrays import Array, in_float32, quiet

BLOCK = 1 << 22  # scores held at once: whole batch elements, at least one


@quiet
@in_float32("q", None, "q")
def attention(
    q: Array,
    k: Array,
    v: Array,
    keep: Array | None = None,
    bias: Array | None = None,
    causal: int | None = None,
    scale: float | None = None,
    drop: Array | None = None,
    p: float = 0.0,
    want_weights: bool = False,
) -> tuple[Array, Array, Array | None]:
    """out (B, H, T, E), lse (B, H, T), weights (B, H, T, S) or None.    q (B, H, T, D), k (B, G, S, D), v (B,
    G, S, E).

        s[i, j] = scale q[i] . k[j] + bias[i, j],   -inf where not keep[i, j] or j > i + causal
        lse[i]  = log sum_j exp(s[i, j])            P = exp(s - lse)
        A       = P drop / (1 - p)                  out = A v

    `weights` is A. A query with nothing to attend to has lse -inf, P = 0, out = 0. Query head h reads key
    head h // (H/G). `keep` (True = attend) and `bias` broadcast to (B, H, T, S); `drop` is a mask of that
    shape, True = kept.
    """
    (B, H, T, _), (S, E) = q.shape, v.shape[2:]
    out = heads_like(q, E)
    lse = np.empty((B, H, T), q.dtype)
    weights = np.empty((B, H, T, S), q.dtype) if want_weights else None
    for b in _blocks(B, H * T * S):
        s = _scores(b, q, k, keep, bias, causal, scale)
        largest = s.max(axis=-1, initial=-np.inf)
        shift = np.where(largest == -np.inf, 0, largest)
        a, total = _softmax(s, shift)
        lse[b] = shift + elementary.log(total)
        a = _drop(a, b, drop, p)
        out[b] = _join(_split(a, v) @ v[b][:, :, None])
        if weights is not None:
            weights[b] = a
    return out, lse, weights


@quiet
@in_float32("q", "k", "v", "bias")
def attention_backward(
    dout: Array,
    dweights: Array | None,
    q: Array,
    k: Array,
    v: Array,
    lse: Array,
    keep: Array | None,
    bias: Array | None,
    causal: int | None,
    scale: float | None,
    drop: Array | None,
    p: float,
    needs: tuple[bool, ...],
) -> tuple[Array | None, ...]:
    """dq, dk, dv, dbias.    dout (B, H, T, E); dweights (B, H, T, S) or None.

        dv = A^T dout                  dA = dout v^T + dweights        dP = dA drop / (1 - p)
        ds = P (dP - sum_j P dP)       dq = scale ds k                 dk = scale ds^T q        dbias = ds

    dk and dv are summed over the query heads that share a key head, dbias over the axes along which the bias
    was repeated. P is recomputed from `lse`, and divided by its own sum, so that the rounding of a large lse
    cancels.
    """
    B, H, T, D = q.shape
    S = k.shape[2]
    factor = _scale(scale, D)
    dq, dk, dv = (heads_like(x, x.shape[3]) if need else None for x, need in zip((q, k, v), needs))
    dbias = np.zeros((1,) * (4 - bias.ndim) + bias.shape, q.dtype) if bias is not None and needs[3] else None
    for b in _blocks(B, H * T * S):
        s = _scores(b, q, k, keep, bias, causal, scale)
        weights, _ = _softmax(s, np.where(lse[b] == -np.inf, 0, lse[b]))
        a = _drop(weights, b, drop, p)
        da = _join(_split(dout[b], v) @ v[b][:, :, None].swapaxes(-1, -2))
        if dweights is not None:
            da += dweights[b]
        dp = _drop(da, b, drop, p)
        ds = weights * (dp - (weights * dp).sum(axis=-1, keepdims=True))
        if dv is not None:
            dv[b] = (_split(a, v).swapaxes(-1, -2) @ _split(dout[b], v)).sum(axis=2)
        if dbias is not None:
            _add_bias_gradient(dbias, b, ds)
        ds *= factor
        if dq is not None:
            dq[b] = _join(_split(ds, k) @ k[b][:, :, None])
        if dk is not None:
            dk[b] = (_split(ds, k).swapaxes(-1, -2) @ _split(q[b], k)).sum(axis=2)
    return dq, dk, dv, dbias.reshape(bias.shape) if bias is not None and dbias is not None else None


def _blocks(batch: int, size: int) -> Iterator[slice]:
    """Slices of the batch whose scores, `size` per element, fit into BLOCK."""
    step = max(1, BLOCK // max(size, 1))
    return (slice(start, min(start + step, batch)) for start in range(0, batch, step))


def _scale(scale: float | None, head_dim: int) -> float:
    return 1 / math.sqrt(max(head_dim, 1)) if scale is None else scale


def _split(x, k):
    """(B, H, ...) as (B, G, H/G, ...): the query heads of each key head of k (B, G, S, D)."""
    return x.reshape(x.shape[0], k.shape[1], x.shape[1] // max(k.shape[1], 1), *x.shape[2:])


def _join(x):
    """(B, G, H/G, ...) as (B, H, ...)."""
    return x.reshape(x.shape[0], x.shape[1] * x.shape[2], *x.shape[3:])


def _scores(b, q, k, keep, bias, causal, scale):
    """The masked scores (b, H, T, S) of the batch elements b."""
    s = _join(_split(q[b], k) @ k[b][:, :, None].swapaxes(-1, -2))  # (b, H, T, S)
    s *= _scale(scale, q.shape[-1])
    full = (*q.shape[:3], k.shape[2])
    if bias is not None:
        s += np.broadcast_to(bias, full)[b]
    if keep is not None:
        s[~np.broadcast_to(keep, full)[b]] = -np.inf
    if causal is not None:
        s[:, :, np.arange(full[3]) > np.arange(full[2])[:, None] + causal] = -np.inf
    return s


def _softmax(s, shift):
    """exp(s - shift) and its row sums; divided by them, but zeros where the sum is 0: nothing to attend
    to."""
    e = elementary.exp(s - shift[..., None])
    total = e.sum(axis=-1)
    e /= np.where(total == 0, 1, total)[..., None]
    return e, total


def _drop(a, b, drop, p):
    return a if drop is None else a * (drop[b] * a.dtype.type(1 / (1 - p) if p < 1 else 0))  # NaN stays where it was


def _add_bias_gradient(dbias, b, ds):
    """Add ds (b, H, T, S), summed over the axes of size 1 of dbias (., ., ., .)."""
    axes = tuple(axis for axis in range(4) if dbias.shape[axis] == 1)
    dbias[b if dbias.shape[0] > 1 else slice(None)] += ds.sum(axis=axes, keepdims=True)
