"""Helpers of PyTorch's own layers, which programs that copy these layers import: masks and projections, copies, sizes."""

import copy
import math
from collections.abc import Sequence
from typing import Any

from badak.core.errors import ArgumentError, ShapeError, tr, warn_once
from badak.nn import functional as F
from badak.nn.containers import ModuleList
from badak.nn.module import Module
from badak.nn.transformer_parts import activation_of as _get_activation_fn
from badak.tensor import Tensor, full, zeros_like
from badak.tensor.dtypes import bool_

__all__ = ["_get_activation_fn"]

# ---------------------------------------------------------------- attention


def _canonical_mask(
    mask: Tensor | None, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Tensor | None:
    """The mask as numbers to add: -inf where a boolean one is True."""
    if mask is None:
        return None
    floats = mask.is_floating_point()
    if mask.dtype is not bool_ and not floats:
        raise ArgumentError(tr("only bool and floating types of {} are supported", mask_name), "mask.bool()")
    if check_other and other_type is not None and mask.dtype != other_type:
        cause = tr("Support for mismatched {} and {} is deprecated", mask_name, other_name)
        warn_once(tr("masks of two dtypes"), cause, "one dtype for both")
    return mask if floats else zeros_like(mask, dtype=target_type).masked_fill_(mask, -math.inf)


def _none_or_dtype(input: Tensor | None) -> Any:
    """The dtype of a tensor, None of None."""
    return None if input is None else input.dtype


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, each by its own weight; as wide as q."""
    wide = q.size(-1)
    for name, x, w, b in (("query", q, w_q, b_q), ("key", k, w_k, b_k), ("value", v, w_v, b_v)):
        if w.shape != (wide, x.size(-1)):
            cause = tr("expecting {} weights shape of {}, but got {}", name, (wide, x.size(-1)), w.shape)
            raise ShapeError(cause, "weights as wide as q")
        if b is not None and b.shape != (wide,):
            raise ShapeError(tr("expecting {} bias shape of {}, but got {}", name, (wide,), b.shape), "a bias as wide as q")
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> tuple[Tensor, ...]:
    """Queries, keys and values by one weight (3E, E), one product where they are of the same tensor."""
    wide = q.size(-1)
    if k is not v:
        return tuple(F.linear(x, *each) for x, each in zip((q, k, v), zip(w.chunk(3), (None,) * 3 if b is None else b.chunk(3))))
    if q is k:
        return tuple(F.linear(q, w, b).chunk(3, -1))
    (w_q, w_kv), (b_q, b_kv) = w.split([wide, 2 * wide]), (None, None) if b is None else b.split([wide, 2 * wide])
    return F.linear(q, w_q, b_q), *F.linear(k, w_kv, b_kv).chunk(2, -1)


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Whether the query has a batch; ShapeError where the others' dims do not fit it."""
    dims = query.dim()
    if dims not in (2, 3):
        cause = tr("query should be unbatched 2D or batched 3D tensor but received {}-D query tensor", dims)
        raise ShapeError(cause, "query (L, N, E) or (L, E)")
    told = "For batched (3-D) `query`" if dims == 3 else "For unbatched (2-D) `query`"
    if key.dim() != dims or value.dim() != dims:
        cause = tr("{}, expected `key` and `value` to be {}-D but found {}-D and {}-D tensors respectively", told, dims, key.dim(),
                   value.dim())  # fmt: skip
        raise ShapeError(cause, "a batch for all three, or for none")
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        cause = tr("{}, expected `key_padding_mask` to be `None` or {}-D but found {}-D tensor instead", told, dims - 1,
                   key_padding_mask.dim())  # fmt: skip
        raise ShapeError(cause, "key_padding_mask (N, S), or (S,) without a batch")
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        cause = tr("{}, expected `attn_mask` to be `None`, 2-D or 3-D but found {}-D tensor instead", told, attn_mask.dim())
        raise ShapeError(cause, "attn_mask (L, S)")
    shape = (num_heads, query.shape[0], key.shape[0])
    if dims == 2 and attn_mask is not None and attn_mask.dim() == 3 and attn_mask.shape != shape:
        raise ShapeError(tr("Expected `attn_mask` shape to be {} but got {}", shape, attn_mask.shape), "attn_mask (L, S)")
    return dims == 3


# ---------------------------------------------------------------- encoders and decoders


def _get_clones(module: Module, N: int) -> ModuleList:
    """N copies of a layer."""
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """The length of (S, E), of (B, S, E) or (S, B, E)."""
    if src.is_nested:
        return None
    return src.size(1 if batch_first and src.dim() != 2 else 0)


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """(sz, sz): -inf above the diagonal, 0 elsewhere."""
    return full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _detect_is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """What is_causal says; where it is None, whether the mask is the causal one."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(mask.size(-2) if size is None else size, mask.device, mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


# ---------------------------------------------------------------- sizes


def _verify_batch_size(size: Sequence[int]) -> None:
    """ArgumentError for a single value per channel."""
    if size[0] * math.prod(size[2:]) == 1:
        raise ArgumentError(tr("Expected more than 1 value per channel when training, got input size {}", size), "model.eval()")


def _verify_spatial_size(size: Sequence[int]) -> None:
    """ArgumentError for a single place per channel."""
    if math.prod(size[2:]) == 1:
        raise ArgumentError(tr("Expected more than 1 spatial element when training, got input size {}", size), "model.eval()")


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """out_size with the last of the defaults where it has None."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ArgumentError(tr("Input dimension should be at least {}", len(out_size) + 1), "x[None]")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :])]


def _reverse_repeat_tuple(t: Sequence, n: int) -> tuple:
    """The entries from the last to the first, each n times: the padding of a convolution as F.pad has it."""
    return tuple(x for x in reversed(t) for _ in range(n))
