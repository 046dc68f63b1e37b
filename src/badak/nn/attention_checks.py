"""What can be wrong with what MultiheadAttention is given, in words that say how to put it right."""

from typing import Any

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.nn.mask import Mask
from badak.tensor import Tensor
from badak.tensor import bool as bool_

_AXES = {True: ("batch", "length"), False: ("length", "batch")}


class AttentionInputError(ShapeError, AssertionError):
    """Wrong shapes given to attention (PyTorch asserts some of them)."""


class MaskKindError(DTypeError, AssertionError):
    """A mask of integers (PyTorch asserts it)."""


def check_sizes(embed_dim: int, num_heads: int) -> None:
    """embed_dim = H D for integers H and D."""
    if embed_dim <= 0 or num_heads <= 0:
        raise ArgumentError(
            tr("embed_dim and num_heads must be greater than 0, got embed_dim={} and num_heads={} instead", embed_dim, num_heads)
        )
    if embed_dim % num_heads:
        divisors = ", ".join(str(n) for n in range(1, embed_dim + 1) if embed_dim % n == 0)
        below = embed_dim - embed_dim % num_heads
        near = f"{below} or {below + num_heads}" if below else tr("a multiple of it")
        cause = tr("embed_dim={} is not divisible by num_heads={}", embed_dim, num_heads)
        raise ArgumentError(cause, tr("num_heads in {{{}}} or embed_dim {}", divisors, near), code=10)


def check_inputs(attention: Any, query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any) -> None:
    """All shapes and dtypes of a call of MultiheadAttention."""
    if padding is None and mask is None and query is key and key is value and attention._qkv_same_embed_dim:
        shape = query._array.shape
        if 2 <= len(shape) <= 3 and shape[-1] == attention.embed_dim:
            return  # self-attention without masks: nothing else can be wrong, and the rest takes 10 us
    _check_dims(query, key, value)
    _check_channels(attention, query, key, value)
    axes = _AXES[attention.batch_first] if query.dim() == 3 else ("length",)
    sizes = [dict(zip(axes, x._array.shape, strict=False)) for x in (query, key, value)]
    T, S, B = sizes[0]["length"], sizes[1]["length"], sizes[0].get("batch", 1)
    _check_batches(attention, query, key, value, sizes)
    if padding is not None and not isinstance(padding, Mask):
        _check_mask_dtype("key_padding_mask", padding)
        _check_padding(attention, query, padding, B, S)
    if mask is not None and not isinstance(mask, Mask):
        _check_mask_dtype("attn_mask", mask)
        _check_mask(attention, query, key, mask, (B, attention.num_heads, T, S))


def _check_dims(query: Tensor, key: Tensor, value: Tensor) -> None:
    if query.dim() not in (2, 3):
        raise AttentionInputError(
            tr("query should be unbatched 2D or batched 3D tensor but received {}-D query tensor {}", query.dim(),
               tuple(query.shape)),
            "MultiheadAttention makes the heads itself: give it (length, batch, embed_dim)" if query.dim() == 4 else None,
        )  # fmt: skip
    if not query.dim() == key.dim() == value.dim():
        cause = (
            tr("For batched (3-D) `query`, expected `key` and `value` to be 3-D but found {}-D and {}-D tensors respectively",
               key.dim(), value.dim())
            if query.dim() == 3 else
            tr("For unbatched (2-D) `query`, expected `key` and `value` to be 2-D but found {}-D and {}-D tensors respectively",
               key.dim(), value.dim())
        )  # fmt: skip
        raise AttentionInputError(cause, "x.unsqueeze(...) gives a batch of one")


def _check_channels(attention, query: Tensor, key: Tensor, value: Tensor) -> None:
    wanted = {"embed_dim": (query, "query"), "kdim": (key, "key"), "vdim": (value, "value")}
    for argument, (x, name) in wanted.items():
        size = getattr(attention, argument)
        if x._array.shape[-1] != size:
            cause = tr("was expecting embedding dimension of {}, but got {}: {} {}, {}={}", size, x.shape[-1], name, tuple(x.shape),
                       argument, size)  # fmt: skip
            raise AttentionInputError(cause, f"MultiheadAttention(..., {argument}={x.shape[-1]})")


def _check_batches(attention, query: Tensor, key: Tensor, value: Tensor, sizes: list[dict]) -> None:
    q, k, v = sizes
    if k != v:
        cause = tr("key shape {} does not match value shape {}: they need the same length and batch", tuple(key.shape),
                   tuple(value.shape))  # fmt: skip
        raise AttentionInputError(cause)
    if q.get("batch") != k.get("batch"):
        axes = ", ".join((*_AXES[attention.batch_first], "dim"))
        cause = tr("query {} and key {} read as ({}) have batch {} vs {}", tuple(query.shape), tuple(key.shape), axes, q["batch"],
                   k["batch"])  # fmt: skip
        raise AttentionInputError(cause, f"batch_first={not attention.batch_first}" if q["length"] == k["length"] else None, code=9)


def _check_mask_dtype(name: str, mask: Tensor) -> None:
    if mask._array.dtype.kind not in "bf" and mask.dtype != bool_ and not mask.is_floating_point():
        cause = tr("only bool and floating types of {} are supported; got {}", name, mask.dtype)
        raise MaskKindError(cause, tr("{}=({} != 0) if non-zero means hide", name, name))


def _check_padding(attention, query: Tensor, padding: Tensor, B: int, S: int) -> None:
    wanted = (B, S) if query.dim() == 3 else (S,)
    shape = tuple(padding.shape)
    if shape == wanted:
        return
    if query.dim() == 3 and shape == wanted[::-1]:
        fix = tr("key_padding_mask=mask.T: it is (batch, length) whatever batch_first says")
        if attention.batch_first is False and query.shape[:2] == shape:
            fix = tr("batch_first=True if query {} is (batch, length, dim), else mask.T", tuple(query.shape))
    else:
        fix = tr("one entry for each key")
    raise AttentionInputError(tr("expected key_padding_mask of shape (batch, keys) = {}, but got {}", wanted, shape), fix)


def _check_mask(attention, query: Tensor, key: Tensor, mask: Tensor, sizes: tuple[int, int, int, int]) -> None:
    B, H, T, S = sizes
    shape = mask._array.shape
    if shape in ((T, S), (B * H, T, S)):
        return
    if len(shape) not in (2, 3):
        cause = tr("attn_mask must be None, 2-D or 3-D, found {}-D {}", len(shape), shape)
        raise AttentionInputError(cause, tr("(queries, keys) = {} or (batch heads, queries, keys) = {}", (T, S), (B * H, T, S)))
    if query.dim() == 3 and not attention.batch_first and shape == (query.shape[1], key.shape[1]):
        cause = tr("query {} is read as (length={}, batch={}) because batch_first=False, but attn_mask is {}x{}",
                   tuple(query.shape), T, B, shape[0], shape[1])  # fmt: skip
        raise AttentionInputError(cause, "batch_first=True.", code=8)
    if shape == (B, S):
        cause = tr("attn_mask {} equals (batch={}, keys={}): a padding mask.", shape, B, S)
        raise AttentionInputError(cause, "key_padding_mask=mask", code=3)
    wanted = (T, S) if len(shape) == 2 else (B * H, T, S)
    words = tr("(queries, keys)") if len(shape) == 2 else tr("(batch heads, queries, keys)")
    fix = "mask.repeat_interleave(num_heads, dim=0)" if shape == (B, T, S) else tr("a mask of shape {}", wanted)
    cause = tr("The shape of the {}D attn_mask is {}, but should be {} = {}.", len(shape), shape, words, wanted)
    raise AttentionInputError(cause, fix)


def check_cached(
    attention: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    padding: Any,
    mask: Any,
    need_weights: bool,
    is_causal: bool,
    cache: Any,
) -> None:
    """All of a call of MultiheadAttention with a cache."""
    own = query is key and key is value
    wrong = (
        "need_weights=True" if need_weights
        else tr("key and value are two tensors") if key is not value
        else tr("an attn_mask, but each token sees those before it") if own and isinstance(mask, Tensor)
        else tr("a padding mask that is no tensor of bools") if own and isinstance(padding, Tensor) and padding.dtype != bool_
        else "is_causal=True in attention to another text" if is_causal and not own
        else "bias_k, bias_v or a key of zeros" if attention.bias_k is not None or attention.add_zero_attn
        else ""
    )  # fmt: skip
    if wrong:
        raise ArgumentError(tr("MultiheadAttention: a cache, and {}", wrong), "leave out the one or the other")
    _check_dims(query, key, value)
    _check_channels(attention, query, key, value)
    if not own:
        check_inputs(attention, query, key, value, padding, mask)
    elif isinstance(padding, Tensor):
        axis = 0 if attention.batch_first else 1
        wanted = (query.shape[axis], cache.length + query.shape[1 - axis])
        if query.dim() != 3 or tuple(padding.shape) != wanted:
            cause = tr("key_padding_mask {}: with a cache of {} tokens expected {}", tuple(padding.shape), cache.length, wanted)
            raise AttentionInputError(cause, "(batch, tokens read and new)")
