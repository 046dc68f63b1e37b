"""Scaled dot-product attention as one operation."""

from typing import Any

import numpy as np

from badak import kernels
from badak.core.errors import ArgumentError, ShapeError, tr, warn_once
from badak.ops._broadcast import expands
from badak.ops._check import dtype_mismatch, not_floating, unlike_attended
from badak.ops.batching import aligned, count, every
from badak.ops.op import Count, Op

NO_VISIBLE_KEY = "no visible key"  # of warnings: who is told the cause is not told the effect as well


class Attention(Op):
    """out = A v,  A = softmax(scale q k^T + bias where kept, -inf elsewhere) drop / (1 - p).

        dv = A^T dout        dA = dout v^T + dweights        ds = P (dA drop / (1 - p) - rowsum(A dA))
        dq = scale ds k      dk = scale ds^T q               dbias = ds

    q (B, H, T, D), k (B, G, S, D), v (B, G, S, E) with H a multiple of G: query head h reads key head h // (H / G).
    keep (bool, True = attend) and bias broadcast to (B, H, T, S); `causal` lets query i see the keys j <= i + causal.
    drop (bool, True = kept) is the dropout mask of the weights, p the share that is dropped. A query with nothing to
    attend to gives zeros, and zero gradients. Returns out (B, H, T, E), or (out, A) where `want_weights`.
    """

    supports_bf16 = True
    apart = True
    saved_constants = ("lse",)
    capturable = True  # apart from the warning about blind queries

    @staticmethod
    def flops(inputs: list, outputs: list, attributes: dict) -> Count:
        """q k^T and weights v, all T S scores of them also where a mask hides some, as PyTorch counts."""
        q, k, v = inputs[:3]
        B, H, T, D = q.shape
        scores, values = 2 * B * H * T * k.shape[2] * D, 2 * B * H * T * k.shape[2] * v.shape[3]
        return scores + values, {0: scores + values, 1: scores, 2: values}  # the gradient of the weights is counted with q's

    @staticmethod
    def forward(
        save: Any,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        keep: Any,
        bias: Any,
        drop: np.ndarray | None,
        causal: int | None = None,
        scale: Any = None,
        p: float = 0.0,
        want_weights: bool = False,
    ) -> Any:
        if keep is not None or bias is not None or drop is not None or not _plain(q, k, v):
            _check(q, k, v, keep, bias, drop)
        save.q, save.k, save.v, save.keep, save.bias, save.drop = q, k, v, keep, bias, drop
        save.causal, save.scale, save.p = causal, scale, p
        out, lse, weights = kernels.of(q).attention(q, k, v, keep, bias, causal, scale, drop, p, want_weights)
        save.lse = lse
        if keep is not None or bias is not None or (causal is not None and causal < 0):
            _look_for_blind_queries(lse)
        return (out, weights) if want_weights else out

    @staticmethod
    def backward(saved: Any, dout: Any, dweights: Any = None) -> tuple:
        q = saved.q
        if dout is None:
            dout = np.zeros((*q.shape[:3], saved.v.shape[3]), q.dtype)
        nq, nk, nv, _, nbias, _ = saved.needs
        dq, dk, dv, dbias = kernels.of(q).attention_backward(
            dout,
            dweights,
            q,
            saved.k,
            saved.v,
            saved.lse,
            saved.keep,
            saved.bias,
            saved.causal,
            saved.scale,
            saved.drop,
            saved.p,
            (nq, nk, nv, nbias),
        )
        return dq, dk, dv, None, dbias, None

    @staticmethod
    def batching(run: Any, op: Any, xs: list, batched: list[int], attributes: dict) -> Any:
        q, k, v, *masks = xs
        q, k, v = every((q, k, v), batched[:3]) if any(batched[:3]) else (q, k, v)
        n = count(xs, batched)
        q, k, v = (x if x.ndim == 5 else x.expand(n, *x.shape) for x in (q, k, v))
        B = q.shape[1]
        for i, (mask, each) in enumerate(zip(masks, batched[3:])):
            if mask is not None and (each or (mask.ndim == 4 and mask.shape[0] > 1)):
                mask = aligned(mask, 4) if each else mask.expand(n, *mask.shape)
                masks[i] = mask.expand(n, B, *mask.shape[2:]).flatten(0, 1)
        made = run(op, *(x.flatten(0, 1) for x in (q, k, v)), *masks, **attributes)
        made = made if isinstance(made, tuple) else (made,)
        made = tuple(y.reshape(n, B, *y.shape[1:]) for y in made)
        return made if len(made) > 1 else made[0]


def _look_for_blind_queries(lse: np.ndarray) -> None:
    """Warn, once, of queries that see no key: their log-sum-exp is that of nothing."""
    blind = (lse == -np.inf).any(axis=1)  # (B, T)
    if blind.any():
        b, t = (int(axis[0]) for axis in blind.nonzero())
        cause = tr(
            "{} of {} rows have no visible key (first: batch {}, query {}). Output set to 0", int(blind.sum()), blind.size, b, t
        )
        warn_once(NO_VISIBLE_KEY, cause, "drop empty sequences or keep one <bos>", code=6)


def _plain(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> bool:
    """Whether q, k, v are of one float dtype, with as many heads each and one D: then there is nothing to complain about."""
    shape, other = q.shape, k.shape
    return (
        len(shape) == 4
        and other == v.shape
        and shape[:2] == other[:2]
        and shape[3] == other[3]
        and q.dtype is k.dtype is v.dtype
        and q.dtype.kind in "fV"
    )


def _check(q: np.ndarray, k: np.ndarray, v: np.ndarray, keep: np.ndarray | None, bias: Any, drop: np.ndarray | None) -> None:
    if q.dtype.kind in "iub":
        raise not_floating("attention", q)
    if not (q.dtype == k.dtype == v.dtype and (bias is None or bias.dtype == q.dtype)):
        raise dtype_mismatch("attention", unlike_attended(q, k, v), query=q, key=k, value=v, attn_mask=bias)
    if not q.ndim == k.ndim == v.ndim == 4:
        raise _complaint(tr("4 dims (batch, heads, length, head_dim) for query, key and value"), q, k, v)
    (B, H, T, D), (G, S) = q.shape, k.shape[1:3]
    if k.shape[0] != B or v.shape[0] != B:
        raise _complaint(tr("one batch size"), q, k, v, _batch_first(q, k))
    if k.shape[3] != D:
        raise _complaint(tr("query (..., T, D) and key (..., S, D) with one D"), q, k, v)
    if v.shape[1:3] != (G, S):
        raise _complaint(tr("key (B, G, S, D) and value (B, G, S, E) with one G and one S"), q, k, v)
    if G != H and (G == 0 or H % G):
        raise _complaint(tr("query heads H a multiple of the key heads G"), q, k, v)
    for mask in (keep, bias):
        if mask is not None and not expands(mask.shape, (B, H, T, S)):
            raise mask_mismatch(mask.shape, B, H, T, S)
    if keep is not None and keep.dtype != np.bool_:
        raise ArgumentError(tr("attention: expected keep of dtype bool; got {}", keep.dtype), "keep = mask != 0")
    if drop is not None and drop.shape != (B, H, T, S):
        raise _complaint(tr("a dropout mask of shape (B, H, T, S), not {},", drop.shape), q, k, v)


def _batch_first(q: np.ndarray, k: np.ndarray) -> str | None:
    if q.shape[2] == k.shape[2] and q.shape[0] != k.shape[0]:
        return tr("batch_first=True, if the first axis of query and key is the length of a batch-first tensor")
    return None


def _complaint(rule: str, q: np.ndarray, k: np.ndarray, v: np.ndarray, fix: str | None = None) -> ShapeError:
    cause = tr("attention: expected {}; got query={}, key={}, value={}", rule, q.shape, k.shape, v.shape)
    return ShapeError(cause, fix or "query (B, H, T, D), key (B, G, S, D), value (B, G, S, E), and H % G == 0")


def mask_mismatch(shape: tuple[int, ...], B: int, H: int, T: int, S: int) -> ShapeError:
    """The complaint about a mask that does not broadcast to the scores."""
    cause = tr("mask {} does not broadcast to scores (batch={}, heads={}, queries={}, keys={})", tuple(shape), B, H, T, S)
    if tuple(shape) == (B, S):
        return ShapeError(cause, tr("a padding mask: mask[:, None, None, :] of shape {}", (B, 1, 1, S)), code=5)
    if tuple(shape) == (B, T, S):
        return ShapeError(cause, tr("a mask for each batch element: mask[:, None] of shape {}", (B, 1, T, S)), code=5)
    return ShapeError(cause, tr("a mask of shape {}, {} or {}", (T, S), (B, 1, T, S), (B, H, T, S)), code=5)
