"""What a mask looks like it was meant to be. Nothing here changes a result: these are warnings, said once.

A mask of attention has T rows (queries) and S columns (keys). In `scaled_dot_product_attention` True = attend, in
MultiheadAttention True = hide; `hides` says which.
"""

import numpy as np

from badak.errors import warn_once
from badak.ops.attention import NO_VISIBLE_KEY


def question_mask(mask, hides: bool, where: str, batch: int = 0) -> None:
    """Warn where `mask` (an array that broadcasts to (..., T, S)) is probably not what was meant."""
    if mask.dtype.kind in "fV":
        _zeros_and_ones(mask, hides)
    elif mask.dtype == np.bool_ and mask.ndim >= 2 and mask.size and mask.shape[-2] == mask.shape[-1] > 1:
        first = mask.reshape(-1, *mask.shape[-2:])[0] if mask.ndim > 2 else mask  # of a text, of a head: they are alike
        keep = ~first if hides else first
        if not keep.diagonal().any():
            _polarity(keep, hides, where)
        if not hides and mask.ndim == 2 and batch == mask.shape[0] > 2:
            _padding_or_positions(keep)


def _zeros_and_ones(mask, hides: bool, name: str = "attn_mask") -> None:
    if mask.size < 2 or not (mask.max() == 1 and mask.min() == 0 and ((mask == 0) | (mask == 1)).all()):
        return
    warn_once(
        "mask of zeros and ones",
        f"{name} is float and holds only 0 and 1, so it would be *added* to the scores and hide nothing",
        f"{name}=(mask == 0) hides the zeros" if hides else f"{name}=(mask != 0) hides the zeros",
        code=1,
    )


def _polarity(keep, hides: bool, where: str) -> None:
    """A query that sees only what comes after it was hardly meant."""
    seen = np.argwhere(keep)
    dead = np.flatnonzero(~keep.any(axis=1))
    if not len(seen) and not hides or not len(dead) or (seen[:, 1] < seen[:, 0]).any():
        return
    T = len(keep)
    says, looks = ("hide", "keep") if hides else ("keep", "hide")
    warn_once(
        NO_VISIBLE_KEY,
        f"attn_mask hides the diagonal for {T} of {T} queries and row {dead[-1]} sees no key. "
        f"In {where} True = {says}; this looks like True = {looks}",
        "attn_mask=~mask",
        code=2,
    )


def _padding_or_positions(keep) -> None:
    """Rows that see 0..n-1 with n in no order are lengths of sentences rather than a rule of positions."""
    lengths = keep.sum(axis=1)
    prefixes = (keep == (np.arange(keep.shape[1]) < lengths[:, None])).all()
    if prefixes and (np.diff(lengths) < 0).any() and lengths.min() > 0:
        n = len(keep)
        warn_once(
            "padding or positions",
            f"mask {keep.shape} is ambiguous: batch={n} and length={n}. It is read as (queries, keys), and looks like "
            "(batch, keys)",
            f"mask[:, None, None, :] of shape {(n, 1, 1, n)} for padding",
            code=4,
        )


def question_padding(mask, hides: bool, name: str = "key_padding_mask") -> None:
    """Warn where the padding mask `mask` (..., S) hides everything, or is of zeros and ones and hides nothing."""
    if mask.dtype.kind in "fV":
        _zeros_and_ones(mask, hides, name)
    if mask.dtype == np.bool_ and mask.size and (mask.all() if hides else not mask.any()):
        warn_once(
            NO_VISIBLE_KEY,
            f"every position in this batch is padding ({name} all {hides}). Output set to 0",
            f"check pad_id: {name} should be {hides} only where ids == pad_id",
            code=7,
        )
