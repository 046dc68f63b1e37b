"""Attention: weights over the keys for every query, and the average of the values under them.

    scores  = scale q k^T + bias, -inf where hidden        weights = softmax(scores) over the keys, then dropout
    y       = weights v

Source: Vaswani et al. 2017, "Attention is all you need", section 3.2. One operation, `ops/attention.py`.

B batch, T queries, S keys, C channels, H heads, D head_dim.
"""

import math
from typing import Any

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.nn.functional._common import real_tensor
from badak.nn.functional.linear import linear
from badak.nn.functional.mask_warnings import question_mask
from badak.nn.functional.multi_head import add_keys, attend, cut_heads, dropped, join_heads, visible
from badak.nn.mask import Mask
from badak.ops.attention import Attention, mask_mismatch
from badak.tensor import Tensor, apply, broadcast_shapes
from badak.tensor import bool as bool_

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(scale q k^T + mask) v.

    query (..., H, T, D), key (..., H, S, D), value (..., H, S, E) -> (..., H, T, E); leading axes broadcast.

    A query that sees no key gives zeros, and zero gradients. The (T, S) scores of the whole batch are never held.

    Args:
        query: (..., H, T, D)
        key: (..., H, S, D)
        value: (..., H, S, E)
        attn_mask: broadcasts to (..., H, T, S). bool: True = attend. float: added to the scores, with a gradient. Or a
            Mask.
        dropout_p: share of the weights that is dropped; also outside of training, as in PyTorch
        is_causal: query i sees the keys 0..i; not together with attn_mask
        scale: 1 / sqrt(D) if None
        enable_gqa: key and value may have fewer heads: query head h reads key head h // (H / G)

    Returns: (..., H, T, E)

    Raises:
        ArgumentError: where attn_mask and is_causal are both given
        ShapeError: for a mask that does not broadcast to (..., H, T, S)

    Derivation: docs/explanation/derivations/attention.md

    Example:
        >>> q = k = v = badak.ones(1, 2, 3, 4)
        >>> tuple(F.scaled_dot_product_attention(q, k, v, is_causal=True).shape)
        (1, 2, 3, 4)
    """
    q, k, v = (
        real_tensor(query, "attention", "query"),
        real_tensor(key, "attention", "key"),
        real_tensor(value, "attention", "value"),
    )
    if attn_mask is not None and is_causal:
        fix = tr("leave one of them out, or attn_mask & tril(ones(T, S, dtype=bool)); of a Mask: attn_mask & Mask.causal()")
        raise ArgumentError("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True", fix)
    q, k, v, lead = _four_axes(q, k, v, enable_gqa)
    keep = bias = None
    causal = 0 if is_causal else None
    if isinstance(attn_mask, Mask):
        keep, causal = _of_mask(attn_mask, q, k, lead)
    elif attn_mask is not None:
        keep, bias = _keep_or_bias(attn_mask, q, k, lead)
    drop = None if dropout_p == 0.0 else dropped(q, k, _probability(dropout_p))
    y = apply(Attention, q, k, v, keep, bias, drop, causal=causal, scale=scale, p=dropout_p)
    return y if len(lead) == 2 else y.reshape(*lead, *y.shape[2:])


def _probability(p: float) -> float:
    if not 0.0 <= p <= 1.0:
        raise ArgumentError(tr("dropout probability has to be between 0 and 1, but got {}", p), "dropout_p=0.1")
    return p


def _four_axes(q: Tensor, k: Tensor, v: Tensor, enable_gqa: bool):
    """q, k, v as (B, H, T, D), and the leading axes that they had together."""
    leads = [q._array.shape[:-2], k._array.shape[:-2], v._array.shape[:-2]]
    if leads[0] == leads[1] == leads[2] and len(leads[0]) == 2:
        return q, k, v, leads[0]
    if min(q.dim(), k.dim(), v.dim()) < 2:
        cause = tr(
            "attention: query, key and value need at least 2 dims (length, head_dim); got {}, {} and {}", q.dim(), k.dim(), v.dim()
        )
        raise ShapeError(cause, "(batch, heads, length, head_dim)")
    if enable_gqa and len(leads[0]) == 2:
        return q, k, v, leads[0]  # heads differ by design; the operation checks the rest
    if len(leads[0]) == 2 == len(leads[1]) and leads[0][0] == leads[1][0] and 1 not in (leads[0][1], leads[1][1]):
        if leads[0][1] != leads[1][1]:
            cause = tr("attention: query has {} heads, key {} and value {}; got query={}, key={}, value={}", leads[0][1],
                       leads[1][1], leads[2][1], tuple(q.shape), tuple(k.shape), tuple(v.shape))  # fmt: skip
            raise ShapeError(cause, "enable_gqa=True, if each key head serves several query heads")
    try:
        lead = tuple(broadcast_shapes(*leads))
    except ValueError:
        shapes = f"query={tuple(q.shape)}, key={tuple(k.shape)}, value={tuple(v.shape)}"
        cause = tr("attention: query, key and value have different batches: {}", shapes)
        raise ShapeError(cause, "the same leading axes in all three, (batch, heads, length, head_dim), or 1") from None
    batch, heads = math.prod(lead[:-1]), lead[-1] if lead else 1
    q, k, v = (x.expand(*lead, *x.shape[-2:]).reshape(batch, heads, *x.shape[-2:]) for x in (q, k, v))
    return q, k, v, lead


def _of_mask(mask: Mask, q: Tensor, k: Tensor, lead):
    """(keep, causal) of a Mask, whose batch is the first of the leading axes."""
    (B, H, T, _), S = q.shape, k.shape[2]
    keep, causal = mask.resolve(T, S, lead[0] if lead else 1)
    if keep is not None and keep.dim() == 4 and len(lead) != 2:
        if lead:  # (B, 1, T, S) -> (B, 1, ..., T, S)
            keep = keep.reshape(keep.shape[0], *(1,) * (len(lead) - 2), *keep.shape[1 if len(lead) > 1 else 2 :])
        keep = keep.expand(*lead, T, S).reshape(B, H, T, S)
    return keep, causal


def _keep_or_bias(mask, q: Tensor, k: Tensor, lead):
    """The mask as (keep, bias), one of them None, each fit to broadcast to (B, H, T, S)."""
    (B, H, T, _), S = q.shape, k.shape[2]
    if mask._array.dtype.kind not in "bfV":
        cause = tr("attention: Expected attn_mask dtype to be bool or float; got {}", mask.dtype)
        raise DTypeError(cause, "attn_mask=(mask != 0): True = attend")
    full = (*lead, T, S)
    if len(lead) != 2 and len(mask.shape) > 2:
        if len(mask.shape) > len(full) or any(n not in (1, m) for n, m in zip(reversed(mask.shape), reversed(full))):
            raise mask_mismatch(mask.shape, B, H, T, S)
        mask = mask.expand(full).reshape(B, H, T, S)
    question_mask(mask._array, False, "scaled_dot_product_attention", B)
    return (mask, None) if mask.dtype == bool_ else (None, mask.to(q.dtype))


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Multi-head attention with all its weights as arguments: query (T, B, C) -> y (T, B, C), weights or None.

    key (S, B, .), value (S, B, .); all three without B for a single sequence. In both masks True = hide and floats are
    added to the scores: key_padding_mask (B, S), attn_mask (T, S) or (B H, T, S).

    in_proj_weight (3 C, C), or with use_separate_proj_weight q_proj_weight, k_proj_weight, v_proj_weight; bias_k and
    bias_v (1, 1, C) are one more key and value, add_zero_attn one of zeros; static_k and static_v (B H, S, D) take the
    place of the projected ones. Weights come as (B, T, S), or (B, H, T, S) with average_attn_weights=False.

    Parity: a query that sees no key gives y = out_proj_bias and weights 0 (PyTorch: NaN where weights are asked for).
    """
    _check_dim(query, embed_dim_to_check, num_heads)
    batched = query.dim() == 3
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        if isinstance(key_padding_mask, Tensor):
            key_padding_mask = key_padding_mask.unsqueeze(0)
    projections = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight.chunk(3)
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    q, k, v = (linear(x, w, b) for x, w, b in zip((query, key, value), projections, biases))
    q, k, v = cut_heads(q, num_heads, False), _static(static_k, k, num_heads), _static(static_v, v, num_heads)
    _check_masks(attn_mask, key_padding_mask, q, k)
    _check_together(bias_k, bias_v)
    seen = visible(attn_mask, key_padding_mask, is_causal, q, k)
    k, v, seen = add_keys(k, v, seen, bias_k, bias_v, add_zero_attn)
    y, weights = attend(q, k, v, seen, dropout_p if training else 0.0, need_weights)
    y = linear(join_heads(y), out_proj_weight, out_proj_bias)  # (T, B, C)
    if weights is not None and average_attn_weights:
        weights = weights.mean(dim=1)
    if not batched:
        y, weights = y.squeeze(1), None if weights is None else weights.squeeze(0)
    return y, weights


class _DimError(ShapeError, AssertionError):
    """Wrong sizes given to multi-head attention, which PyTorch asserts."""


def _check_dim(query: Tensor, embed_dim: int, num_heads: int) -> None:
    if query.dim() not in (2, 3):
        cause = tr("query should be unbatched 2D or batched 3D tensor but received {}-D query tensor", query.dim())
        raise _DimError(cause, "(length, batch, embed_dim)")
    if query.shape[-1] != embed_dim:
        cause = tr("was expecting embedding dimension of {}, but got {}", embed_dim, query.shape[-1])
        raise _DimError(cause, f"embed_dim={query.shape[-1]}")
    if embed_dim % num_heads:
        raise _DimError(tr("embed_dim {} not divisible by num_heads {}", embed_dim, num_heads), "num_heads that divides it")


def _static(given: Tensor | None, x: Tensor, heads: int) -> Tensor:
    """The keys or values of every head: those given as (B H, S, D), or x cut into heads."""
    if given is None:
        return cut_heads(x, heads, False)
    B, D = x.shape[1], x.shape[-1] // heads
    if given.dim() != 3 or given.shape[0] != B * heads or given.shape[2] != D:
        cause = tr("expecting static_k and static_v of shape (batch heads, keys, head_dim) = ({}, S, {}), but got {}", B * heads, D,
                   tuple(given.shape))  # fmt: skip
        raise _DimError(cause, "k.reshape(batch * heads, S, head_dim)")
    return given.reshape(B, heads, *given.shape[1:])


def _check_masks(attn_mask: Tensor | None, key_padding_mask: Tensor | None, q: Tensor, k: Tensor) -> None:
    (B, H, T, _), S = q.shape, k.shape[2]
    if isinstance(key_padding_mask, Tensor) and tuple(key_padding_mask.shape) != (B, S):
        cause = tr("expected key_padding_mask of shape (batch, keys) = {}, but got {}", (B, S), tuple(key_padding_mask.shape))
        raise _DimError(cause, "one entry for each key of each sequence")
    if isinstance(attn_mask, Tensor) and tuple(attn_mask.shape) not in ((T, S), (B * H, T, S)):
        raise _mask_error(tuple(attn_mask.shape), B, H, T, S)


def _mask_error(shape: tuple, B: int, H: int, T: int, S: int) -> _DimError:
    if shape == (B, S):
        cause = tr("attn_mask {} equals (batch={}, keys={}): a padding mask", shape, B, S)
        fix = tr("key_padding_mask=mask, or for attention functions mask[:, None, None, :] of shape {}", (B, 1, 1, S))
        return _DimError(cause, fix, code=3)
    if len(shape) == 2 and shape == (B, B):
        cause = tr("query is read as (length={}, batch={}) because batch_first=False, but attn_mask is {}x{}", T, B, B, B)
        return _DimError(cause, "batch_first=True", code=8)
    wanted = (T, S) if len(shape) == 2 else (B * H, T, S)
    cause = tr("The shape of the {}D attn_mask is {}, but should be {}.", len(shape), shape, wanted)
    return _DimError(cause, tr("(queries, keys) = {} or (batch heads, queries, keys) = {}", (T, S), (B * H, T, S)))


def _check_together(bias_k: Tensor | None, bias_v: Tensor | None) -> None:
    if (bias_k is None) != (bias_v is None):
        raise _DimError("bias_k and bias_v must be given together", "both, or neither")
