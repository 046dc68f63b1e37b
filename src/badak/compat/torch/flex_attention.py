"""`torch.nn.attention.flex_attention`: attention whose scores and mask are functions of (batch, head, query, key).

    scores[b, h, i, j] = score_mod(scale q[b, h, i] . k[b, h, j], b, h, i, j)      where mask_mod(b, h, i, j), -inf elsewhere
    out = softmax(scores) v

The functions are written for one score; `vmap` runs them on all. A `BlockMask` says which blocks of queries and keys hold anything
to see: rows of blocks that look at the same keys are computed together, and keys that none of them sees are not touched.

Source: Dong et al., "Flex Attention: A Programming Model for Generating Optimized Attention Kernels", 2024 (arXiv:2412.05496).

B batch, H query heads, G key heads, T queries, S keys, D width of a head; R and C rows and columns of blocks.
"""

import math
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from badak.compat.torch.block_mask import BlockMask as BlockMask
from badak.compat.torch.block_mask import Mod, everywhere, seen_by
from badak.compat.torch.block_mask import and_masks as and_masks
from badak.compat.torch.block_mask import create_block_mask as create_block_mask
from badak.compat.torch.block_mask import create_mask as create_mask
from badak.compat.torch.block_mask import noop_mask as noop_mask
from badak.compat.torch.block_mask import or_masks as or_masks
from badak.core.errors import ArgumentError, ShapeError, expect_function, tr
from badak.nn import functional as F
from badak.tensor import Tensor, arange, cat, float32, float64, from_numpy, where


class AuxRequest(NamedTuple):
    """What `flex_attention` is asked for next to its result: of each query the log-sum-exp of its scores, the largest score."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an AuxRequest asked for, (B, H, T) each, None where it did not."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Mod | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: dict[str, Any] | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Attention whose scores and mask are functions of (batch, head, query, key).

        scores[b, h, i, j] = score_mod(scale q[b, h, i] . k[b, h, j], b, h, i, j) where mask_mod(b, h, i, j), -inf elsewhere
        out = softmax(scores) v

    Gradients flow into query, key and value, and into tensors that score_mod takes from outside. A query that sees no key gets
    zeros. Blocks that `block_mask` does not list are not computed.

    Args:
        query: (B, H, T, D)
        key: (B or 1, G, S, D)
        value: (B or 1, G, S, E)
        score_mod: a function of (score, b, h, q_idx, kv_idx) that gives the score to take; None: as it is
        block_mask: of `create_block_mask` with T queries and S keys; None: all is seen
        scale: None: 1 / sqrt(D)
        enable_gqa: whether H may be a multiple of G
        return_lse: also give the log-sum-exp of the scores (B, H, T); return_aux=AuxRequest(lse=True) is the newer way
        kernel_options: taken for PyTorch's sake
        return_aux: what else to give

    Returns: (B, H, T, E), or (that, lse), or (that, AuxOutput)

    Raises:
        ShapeError: for shapes that do not fit, or a block_mask of other lengths
        ArgumentError: for return_lse and return_aux at once

    Example:
        >>> from badak.compat.torch.flex_attention import create_block_mask, flex_attention
        >>> q = badak.ones(1, 2, 4, 8)
        >>> near = create_block_mask(lambda b, h, i, j: (i - j).abs() <= 1, None, None, 4, 4, BLOCK_SIZE=2)
        >>> flex_attention(q, q, q, lambda s, b, h, i, j: s - (i - j).abs(), near).shape
        badak.Size([1, 2, 4, 8])

    Source: Dong et al. 2024 (arXiv:2412.05496).
    """
    if return_lse and return_aux is not None:
        raise ArgumentError("flex_attention: return_lse and return_aux at once", "return_aux=AuxRequest(lse=True)")
    for kind, name, given in ((AuxRequest, "return_aux", return_aux), (int | float, "scale", scale)):
        if given is not None and not isinstance(given, kind):
            cause = tr("flex_attention: {} is a {}", name, type(given).__name__)
            raise ArgumentError(cause, "return_aux=AuxRequest(lse=True), scale=0.125")
    asked = AuxRequest(lse=True) if return_lse else return_aux or AuxRequest()
    key, value = _checked(query, key, value, score_mod, block_mask, enable_gqa)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    B, H, T, _ = query.shape
    places = (arange(B), arange(H))
    made: list[tuple[Tensor, Tensor | None, Tensor | None]] = []
    if block_mask is None:
        made.append(_attend(query, key, value, score_mod, None, scale, asked, (*places, arange(T), arange(key.shape[2]))))
    for at, columns, partial, full in () if block_mask is None else block_mask.rows(B, H):
        assert block_mask is not None  # noqa: S101
        q, queries = query[:, :, at], arange(at.start, at.stop)
        if not columns:
            blind = query.new_full(q.shape[:3], -math.inf, dtype=_working(query))
            lse, most = (blind if one else None for one in asked)
            made.append((q.new_zeros(*q.shape[:3], value.shape[3]), lse, most))
            continue
        keys = np.concatenate([np.arange(c * block_mask.BLOCK_SIZE[1], (c + 1) * block_mask.BLOCK_SIZE[1]) for c in columns])
        keys = keys[keys < key.shape[2]]
        ids = from_numpy(keys)
        near = slice(int(keys[0]), int(keys[-1]) + 1) if len(keys) == keys[-1] - keys[0] + 1 else ids
        keep = _kept(block_mask, B, H, queries, ids, partial, full) if partial.any() or not full.all() else None
        made.append(_attend(q, key[:, :, near], value[:, :, near], score_mod, keep, scale, asked, (*places, queries, ids)))
    out, lse, most = (
        parts[0] if len(parts) == 1 else cat(parts, 2) if parts[0] is not None else None for parts in map(list, zip(*made))
    )
    if return_lse:
        return out, lse
    if return_aux is None:
        return out
    return out, AuxOutput(lse if asked.lse else None, most if asked.max_scores else None)


def _kept(mask: BlockMask, B: int, H: int, queries: Tensor, keys: Tensor, partial: np.ndarray, full: np.ndarray) -> Tensor:
    """What is seen in some blocks: of those in part what mask_mod says, of those that are whole all, of others nothing."""

    def scores_of(blocks: np.ndarray) -> Tensor:
        """A table of blocks (b, h, rows, columns) as one of scores."""
        rows = blocks.repeat(mask.BLOCK_SIZE[0], 2)[:, :, : len(queries)]
        return from_numpy(rows.repeat(mask.BLOCK_SIZE[1], 3)[:, :, :, : len(keys)].copy())

    seen = seen_by(mask.mask_mod, B, H, queries, keys) if partial.any() else None
    if seen is None:
        return scores_of(full)
    if not (partial | full).all():
        seen = seen & scores_of(partial)
    return seen | scores_of(full) if full.any() else seen


def _working(x: Tensor) -> Any:
    """The dtype in which scores are computed."""
    return float64 if x.dtype == float64 else float32


def _attend(q, k, v, score_mod, keep, scale, asked, places) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """(result, lse, largest score) of these queries and keys."""
    if score_mod is None and not any(asked):
        return F.scaled_dot_product_attention(q, k, v, keep, scale=scale, enable_gqa=q.shape[1] != k.shape[1]), None, None
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
    scores = (q @ k.transpose(-2, -1)).to(_working(q)) * scale
    if score_mod is not None:
        scores = everywhere(score_mod, 1)(scores, *places).to(_working(q))
        if scores.dim() != 4:
            cause = tr("score_mod gave {} for one score; expected one number", tuple(scores.shape[4:]))
            raise ShapeError(cause, "return score + bias[h]")
    if keep is not None:
        scores = where(keep, scores, scores.new_full((), -math.inf))
    most = scores.amax(-1)
    blind = (most == -math.inf)[..., None]
    scores = scores.masked_fill(blind, 0.0)
    weights = scores.softmax(-1).masked_fill(blind, 0.0)
    lse = scores.logsumexp(-1).masked_fill(blind[..., 0], -math.inf) if asked.lse else None
    return weights.to(q.dtype) @ v, lse, most.detach() if asked.max_scores else None


def _checked(query, key, value, score_mod, block_mask, enable_gqa) -> tuple[Tensor, Tensor]:
    """key and value with the query's batches."""
    for name, x in (("query", query), ("key", key), ("value", value)):
        if not isinstance(x, Tensor) or not x.is_floating_point() or x.dtype != query.dtype:
            got = x.dtype if isinstance(x, Tensor) else type(x).__name__
            cause = tr("flex_attention: expected tensors of one floating dtype; {} is {}", name, got)
            raise ArgumentError(cause, "x.to(query.dtype)")
    shapes = tr("got query {}, key {}, value {}", tuple(query.shape), tuple(key.shape), tuple(value.shape))
    if not query.dim() == key.dim() == value.dim() == 4:
        cause = tr("flex_attention: expected (batch, heads, length, width); {}", shapes)
        raise ShapeError(cause, "x.unflatten(-1, (heads, -1)).transpose(1, 2)")
    if key.shape[-1] != query.shape[-1] or key.shape[:3] != value.shape[:3]:
        cause = tr("flex_attention: expected query (B, H, T, D), key (B, G, S, D), value (B, G, S, E); {}", shapes)
        raise ShapeError(cause, "one D, one G, one S")
    if key.shape[0] not in (1, query.shape[0]):
        cause = tr("flex_attention: expected as many batches of keys as of queries, or one; {}", shapes)
        raise ShapeError(cause, "key.expand(B, -1, -1, -1)")
    if key.shape[1] != query.shape[1] and (not enable_gqa or query.shape[1] % key.shape[1]):
        fix = (
            "enable_gqa=True"
            if key.shape[1] and query.shape[1] % key.shape[1] == 0
            else tr("query heads a multiple of the key heads")
        )
        raise ShapeError(tr("flex_attention: expected as many heads of keys as of queries; {}", shapes), fix)
    if not key.shape[2]:
        raise ShapeError(tr("flex_attention: there is no key; {}", shapes), "at least one key")
    if score_mod is not None:
        expect_function("flex_attention", score_mod)
        try:
            signature(score_mod).bind(*range(5))
        except TypeError:
            cause = tr("flex_attention: expected a score_mod of five arguments")
            raise ArgumentError(cause, "lambda score, b, h, q_idx, kv_idx: score") from None
    if block_mask is not None:
        if not isinstance(block_mask, BlockMask):
            cause = tr("flex_attention: block_mask is a {}", type(block_mask).__name__)
            raise ArgumentError(cause, "create_block_mask(mask_mod, B, H, T, S)")
        if block_mask.seq_lengths != (query.shape[2], key.shape[2]):
            cause = tr("flex_attention: the block_mask is of {} queries and keys; {}", block_mask.seq_lengths, shapes)
            raise ShapeError(cause, f"create_block_mask(mask_mod, B, H, {query.shape[2]}, {key.shape[2]})")
    B = query.shape[0]
    return key.expand(B, -1, -1, -1), value.expand(B, -1, -1, -1)
