"""The steps of attention with several heads: cut, hide, attend, join. Which weights lead there is up to the caller.

`nn.MultiheadAttention` and `multi_head_attention_forward` are both made of these. Inside badak a mask has one meaning:
`keep`, True = attend; what is added to the scores is `bias`.

B batch, T queries, S keys, C channels, H heads, D = C / H.
"""

from typing import NamedTuple

from badak.nn.functional.mask_warnings import question_mask, question_padding
from badak.nn.mask import AnyMask, Mask
from badak.ops.attention import Attention
from badak.tensor import Tensor, apply, cat, ones
from badak.tensor import bool as bool_
from badak.tensor.random import default_generator


def cut_heads(x: Tensor, heads: int, batch_first: bool) -> Tensor:
    """(T, B, C), or (B, T, C) where batch_first -> (B, H, T, D), a view."""
    shape = x._array.shape
    parts = x.reshape(*shape[:-1], heads, shape[-1] // heads)
    return parts.transpose(1, 2) if batch_first else parts.permute(1, 2, 0, 3)


def join_heads(y: Tensor) -> Tensor:
    """(B, H, T, D) -> (T, B, C), a copy."""
    return y.permute(2, 0, 1, 3).flatten(-2)


class Visible(NamedTuple):
    """Which query sees which key. keep (bool) and bias (float) broadcast to (B, H, T, S); causal 0: query t sees keys <= t."""

    keep: Tensor | None
    bias: Tensor | None
    causal: int | None
    size: tuple[int, int]  # T, S

    def with_one_more_key(self) -> "Visible":
        """The same with one key more at the end, which every query sees."""
        keep, bias, (T, S) = self.keep, self.bias, self.size
        if self.causal is not None:  # "keys <= t" would hide the new one
            triangle = ones(T, S, dtype=bool_).tril(self.causal)
            keep = triangle if keep is None else keep & triangle
        if keep is not None:
            keep = cat((keep, keep.new_ones((*keep.shape[:-1], 1))), dim=-1)
        if bias is not None:
            bias = cat((bias, bias.new_zeros((*bias.shape[:-1], 1))), dim=-1)
        return Visible(keep, bias, None, (T, S + 1))


def visible(attn_mask: AnyMask | None, key_padding_mask: AnyMask | None, is_causal: bool, q: Tensor, k: Tensor) -> Visible:
    """PyTorch's two masks of multi-head attention, True = hide, as one `Visible`; q (B, H, T, D), k (B, H, S, D).

    attn_mask (T, S) or (B H, T, S), not looked at where is_causal; key_padding_mask (B, S). A Mask counts always.
    """
    (B, H, T, _), S = q._array.shape, k._array.shape[2]
    keep = bias = None
    causal = 0 if is_causal else None
    masks: list[Tensor] = []
    if isinstance(attn_mask, Mask) or isinstance(key_padding_mask, Mask):
        both = [mask for mask in (attn_mask, key_padding_mask) if isinstance(mask, Mask)]
        keep, own = (both[0] if len(both) == 1 else both[0] & both[1]).resolve(T, S, B)
        causal = 0 if is_causal else own  # own is at least 0: what is_causal lets see is less
    if attn_mask is not None and not isinstance(attn_mask, Mask) and not is_causal:
        question_mask(attn_mask._array, True, "MHA", B)
        masks.append(attn_mask if attn_mask.dim() == 2 else attn_mask.reshape(B, H, T, S))
    if key_padding_mask is not None and not isinstance(key_padding_mask, Mask):
        question_padding(key_padding_mask._array, True)
        masks.append(key_padding_mask.reshape(B, 1, 1, S))
    for mask in masks:
        if mask.dtype == bool_:
            keep = ~mask if keep is None else keep & ~mask
        else:
            bias = mask.to(q.dtype) if bias is None else bias + mask.to(q.dtype)
    return Visible(keep, bias, causal, (T, S))


def add_keys(
    k: Tensor, v: Tensor, seen: Visible, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool
) -> tuple[Tensor, Tensor, Visible]:
    """The keys and values that bias_k, bias_v (1, 1, C) and add_zero_attn put at the end; every query sees them."""
    if bias_k is None and bias_v is None and not add_zero_attn:
        return k, v, seen
    (B, H, _, D), E = k.shape, v.shape[3]
    extra = [] if bias_k is None or bias_v is None else [(bias_k.reshape(1, H, 1, D), bias_v.reshape(1, H, 1, E))]
    if add_zero_attn:
        extra.append((k.new_zeros(1, H, 1, D), v.new_zeros(1, H, 1, E)))
    for more_k, more_v in extra:
        k = cat((k, more_k.expand(B, H, 1, D)), dim=2)
        v = cat((v, more_v.expand(B, H, 1, E)), dim=2)
        seen = seen.with_one_more_key()
    return k, v, seen


def attend(q: Tensor, k: Tensor, v: Tensor, seen: Visible, p: float, need_weights: bool) -> tuple[Tensor, Tensor | None]:
    """softmax(q k^T / sqrt(D)) v where seen, (B, H, T, D), and the weights (B, H, T, S) if needed. p: dropout of them."""
    keep, bias, causal, _ = seen
    drop = dropped(q, k, p)
    made = apply(Attention, q, k, v, keep, bias, drop, causal=causal, p=p, want_weights=need_weights)
    return made if need_weights else (made, None)


def dropped(q: Tensor, k: Tensor, p: float) -> Tensor | None:
    """The mask of dropout over (B, H, T, S), drawn in PyTorch's order; None where nothing is dropped."""
    if p == 0.0:
        return None
    shape = (*q._array.shape[:3], k._array.shape[2])
    return Tensor._of(default_generator.bernoulli(1 - p, shape))
