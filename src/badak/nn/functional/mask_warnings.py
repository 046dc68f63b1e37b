"""What a mask looks like it was meant to be. Nothing here changes a result: these are warnings, said once.

A mask of attention has T rows (queries) and S columns (keys). In `scaled_dot_product_attention` True = attend, in
MultiheadAttention True = hide; `hides` says which.
"""

import numpy as np

from badak.core.errors import tr, warn_once
from badak.ops.attention import NO_VISIBLE_KEY


def question_mask(mask: np.ndarray, hides: bool, where: str, batch: int = 0) -> None:
    """Warn where `mask` (an array that broadcasts to (..., T, S)) is probably not what was meant."""
    added = mask.dtype.kind in "fV"
    if added:
        _zeros_and_ones(mask, hides)
    elif mask.dtype != np.bool_:
        return
    if mask.ndim >= 2 and mask.size and mask.shape[-2] == mask.shape[-1] > 1:
        first = mask.reshape(-1, *mask.shape[-2:])[0] if mask.ndim > 2 else mask  # of a text, of a head: they are alike
        ambiguous = mask.ndim == 2 and batch == mask.shape[0] > 2
        if added and not (first[0, 0] == -np.inf or first[-1, 0] == -np.inf or ambiguous):
            return  # what adds a bias for each distance hides nothing
        keep = first != -np.inf if added else ~first if hides else first
        if not keep.diagonal().any():
            _polarity(keep, hides, where, added)
        elif keep[0, -1] and not keep[-1, 0] and (keep == np.triu(np.ones_like(keep))).all():
            _future(hides, where, added)
        if ambiguous:
            _padding_or_positions(keep, hides)
    elif not added and mask.ndim == 4 and mask.shape[1] == mask.shape[2] == 1:
        _padding_inverted(mask[:, 0, 0], hides, "attn_mask", where)


def _zeros_and_ones(mask, hides: bool, name: str = "attn_mask") -> None:
    if mask.size < 2 or not (mask.max() == 1 and mask.min() == 0 and ((mask == 0) | (mask == 1)).all()):
        return
    warn_once(
        tr("mask of zeros and ones"),
        tr("{} is float and holds only 0 and 1, so it would be *added* to the scores and hide nothing", name),
        tr("{}=(mask == 0) hides the zeros", name) if hides else tr("{}=(mask != 0) hides the zeros", name),
        code=1,
    )


def _polarity(keep, hides: bool, where: str, added: bool) -> None:
    """A query that sees only what comes after it was hardly meant."""
    seen = np.argwhere(keep)
    dead = np.flatnonzero(~keep.any(axis=1))
    if not len(seen) and not hides or not len(dead) or (seen[:, 1] < seen[:, 0]).any():
        return
    T = len(keep)
    if added:
        warn_once(
            NO_VISIBLE_KEY,
            tr("attn_mask is -inf on the diagonal for {} of {} queries and row {} sees no key: it hides what is to be seen", T, T,
               dead[-1]),
            "-inf where a key is to be hidden, 0 elsewhere: nn.Transformer.generate_square_subsequent_mask(T)",
            code=2,
        )  # fmt: skip
        return
    says, looks = ("hide", "keep") if hides else ("keep", "hide")
    warn_once(
        NO_VISIBLE_KEY,
        tr("attn_mask hides the diagonal for {} of {} queries and row {} sees no key. In {} True = {}; this looks like True = {}",
           T, T, dead[-1], where, says, looks),
        "attn_mask=~mask",
        code=2,
    )  # fmt: skip


def _future(hides: bool, where: str, added: bool) -> None:
    """A query that sees itself and what comes after it: triu where tril was meant, or the other way round with diagonal=-1."""
    if added:
        cause = tr(
            "attn_mask lets each query see itself and what comes after it, and nothing before: -inf stands on the wrong side"
        )
        fix = "nn.Transformer.generate_square_subsequent_mask(T)"
    else:
        means = "hide" if hides else "keep"
        cause = tr(
            "attn_mask lets each query see itself and what comes after it, and nothing before. In {} True = {}", where, means
        )
        fix = tr("badak.ones(T, T).triu(1).bool() hides what comes after") if hides else "badak.ones(T, T).tril().bool()"
    warn_once(tr("only the future"), cause, fix, code=2)


def _padding_or_positions(keep, hides: bool) -> None:
    """Whether the rows are sentences of several lengths rather than a rule of positions.

    A rule of positions lets a later query see more; lengths stand in any order. Where all are equal, both mean the same.
    """
    n, lengths = len(keep), keep.sum(axis=1)
    if not 0 < lengths.min() < lengths.max():
        return
    at = np.arange(n)
    right = (keep == (at < lengths[:, None])).all() and (np.diff(lengths) < 0).any()
    left = (keep == (at >= n - lengths[:, None])).all() and (lengths > n - at).any()
    if right or left:
        warn_once(
            tr("padding or positions"),
            tr("mask {} is ambiguous: batch={} and length={}. It is read as (queries, keys), and looks like (batch, keys)",
               keep.shape, n, n),
            "key_padding_mask=mask for padding" if hides else tr("mask[:, None, None, :] of shape {} for padding", (n, 1, 1, n)),
            code=4,
        )  # fmt: skip


def _padding_inverted(mask, hides: bool, name: str, where: str) -> None:
    """Warn of (B, S) that hides whole sequences, and of all others the beginning: the words, and shows the padding."""
    hidden = mask if hides else ~mask
    empty = hidden.all(axis=1)
    if not empty.any() or empty.all() or not hidden[:, 0].all() or (hidden[:, 1:] > hidden[:, :-1]).any():
        return
    says, looks = ("hide", "keep") if hides else ("keep", "hide")
    warn_once(
        NO_VISIBLE_KEY,
        tr("{} hides {} of {} sequences wholly, and of the others the beginning. In {} True = {}; this looks like True = {}", name,
           int(empty.sum()), len(mask), where, says, looks),
        f"{name}=~mask",
        code=2,
    )  # fmt: skip


def question_padding(mask: np.ndarray, hides: bool, name: str = "key_padding_mask") -> None:
    """Warn where the padding mask `mask` (..., S) hides everything, or is of zeros and ones and hides nothing."""
    if mask.dtype.kind in "fV":
        _zeros_and_ones(mask, hides, name)
    if mask.dtype == np.bool_ and mask.size and (mask.all() if hides else not mask.any()):
        cause = tr("every position in this batch is padding ({} all {}). Output set to 0", name, hides)
        warn_once(NO_VISIBLE_KEY, cause, tr("check pad_id: {} should be {} only where ids == pad_id", name, hides), code=7)
    elif mask.dtype == np.bool_ and mask.ndim == 2 and mask.size:
        _padding_inverted(mask, hides, name, "MHA")
