"""PyTorch's masks, where True hides and floats are added, as what the attention operation takes.

Inside badak a mask has one meaning: `keep`, True = attend. What is added to the scores is `bias`.
"""

from typing import NamedTuple

from ..tensor import Tensor, cat, ones
from ..tensor import bool as bool_


class Visible(NamedTuple):
    """Which query sees which key. keep (bool) and bias (float) broadcast to (B, H, T, S); causal: query t sees keys <= t."""

    keep: Tensor | None = None
    bias: Tensor | None = None
    causal: int | None = None
    size: tuple[int, int] = (0, 0)  # T, S

    def with_more_keys(self, count: int) -> "Visible":
        """The same with `count` keys more at the end, which every query sees."""
        if not count:
            return self
        keep, bias, (T, S) = self.keep, self.bias, self.size
        if self.causal is not None:  # "keys <= t" would hide the new ones
            triangle = ones(T, S, dtype=bool_).tril(self.causal)
            keep = triangle if keep is None else keep & triangle
        if keep is not None:
            keep = cat((keep, keep.new_ones((*keep.shape[:-1], count))), dim=-1)
        if bias is not None:
            bias = cat((bias, bias.new_zeros((*bias.shape[:-1], count))), dim=-1)
        return Visible(keep, bias, None, (T, S + count))


def visible(attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool, q: Tensor, k: Tensor) -> Visible:
    """The two masks of attention as one `Visible`; q (B, H, T, D), k (B, H, S, D) give sizes and dtype."""
    (B, H, T, _), S = q.shape, k.shape[2]
    masks = []
    if attn_mask is not None and not is_causal:
        masks.append(attn_mask if attn_mask.dim() == 2 else attn_mask.reshape(B, H, T, S))
    if key_padding_mask is not None:
        masks.append(key_padding_mask.reshape(B, 1, 1, S))
    keep = bias = None
    for mask in masks:
        if mask.dtype == bool_:
            keep = ~mask if keep is None else keep & ~mask
        else:
            mask = mask.to(q.dtype)
            bias = mask if bias is None else bias + mask
    return Visible(keep, bias, 0 if is_causal else None, (T, S))
