"""What can be wrong with what MultiheadAttention is given, in words that say how to put it right."""

from badak.core.errors import ArgumentError, DTypeError, ShapeError
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
            f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
        )
    if embed_dim % num_heads:
        divisors = ", ".join(str(n) for n in range(1, embed_dim + 1) if embed_dim % n == 0)
        below = embed_dim - embed_dim % num_heads
        near = f"{below} or {below + num_heads}" if below else "a multiple of it"
        raise ArgumentError(
            f"embed_dim={embed_dim} is not divisible by num_heads={num_heads}",
            f"num_heads in {{{divisors}}} or embed_dim {near}",
            code=10,
        )


def check_inputs(attention, query: Tensor, key: Tensor, value: Tensor, padding, mask) -> None:
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
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor {tuple(query.shape)}",
            "MultiheadAttention makes the heads itself: give it (length, batch, embed_dim)" if query.dim() == 4 else None,
        )
    if not query.dim() == key.dim() == value.dim():
        raise AttentionInputError(
            f"query, key and value must all have a batch or all have none; "
            f"got {query.dim()}-D, {key.dim()}-D and {value.dim()}-D tensors",
            "x.unsqueeze(...) gives a batch of one",
        )


def _check_channels(attention, query: Tensor, key: Tensor, value: Tensor) -> None:
    wanted = {"embed_dim": (query, "query"), "kdim": (key, "key"), "vdim": (value, "value")}
    for argument, (x, name) in wanted.items():
        size = getattr(attention, argument)
        if x._array.shape[-1] != size:
            raise AttentionInputError(
                f"was expecting embedding dimension of {size}, but got {x.shape[-1]}: {name} {tuple(x.shape)}, {argument}={size}",
                f"MultiheadAttention(..., {argument}={x.shape[-1]})",
            )


def _check_batches(attention, query: Tensor, key: Tensor, value: Tensor, sizes: list[dict]) -> None:
    q, k, v = sizes
    if k != v:
        raise AttentionInputError(
            f"key shape {tuple(key.shape)} does not match value shape {tuple(value.shape)}: they need the same length and batch"
        )
    if q.get("batch") != k.get("batch"):
        axes = ", ".join((*_AXES[attention.batch_first], "dim"))
        raise AttentionInputError(
            f"query {tuple(query.shape)} and key {tuple(key.shape)} read as ({axes}) have batch {q['batch']} vs {k['batch']}",
            f"batch_first={not attention.batch_first}" if q["length"] == k["length"] else None,
            code=9,
        )


def _check_mask_dtype(name: str, mask: Tensor) -> None:
    if mask._array.dtype.kind not in "bf" and mask.dtype != bool_ and not mask.is_floating_point():
        raise MaskKindError(
            f"only bool and floating types of {name} are supported; got {mask.dtype}",
            f"{name}=({name} != 0) if non-zero means hide",
        )


def _check_padding(attention, query: Tensor, padding: Tensor, B: int, S: int) -> None:
    wanted = (B, S) if query.dim() == 3 else (S,)
    shape = tuple(padding.shape)
    if shape == wanted:
        return
    if query.dim() == 3 and shape == wanted[::-1]:
        fix = "key_padding_mask=mask.T: it is (batch, length) whatever batch_first says"
        if attention.batch_first is False and query.shape[:2] == shape:
            fix = f"batch_first=True if query {tuple(query.shape)} is (batch, length, dim), else mask.T"
    else:
        fix = "one entry for each key"
    raise AttentionInputError(f"expected key_padding_mask of shape (batch, keys) = {wanted}, but got {shape}", fix)


def _check_mask(attention, query: Tensor, key: Tensor, mask: Tensor, sizes: tuple[int, int, int, int]) -> None:
    B, H, T, S = sizes
    shape = mask._array.shape
    if shape in ((T, S), (B * H, T, S)):
        return
    if len(shape) not in (2, 3):
        raise AttentionInputError(
            f"attn_mask must be None, 2-D or 3-D, found {len(shape)}-D {shape}",
            f"(queries, keys) = {(T, S)} or (batch heads, queries, keys) = {(B * H, T, S)}",
        )
    if query.dim() == 3 and not attention.batch_first and shape == (query.shape[1], key.shape[1]):
        raise AttentionInputError(
            f"query {tuple(query.shape)} is read as (length={T}, batch={B}) because batch_first=False, "
            f"but attn_mask is {shape[0]}x{shape[1]}",
            "batch_first=True.",
            code=8,
        )
    if shape == (B, S):
        cause = f"attn_mask {shape} equals (batch={B}, keys={S}): a padding mask."
        raise AttentionInputError(cause, "key_padding_mask=mask", code=3)
    wanted = (T, S) if len(shape) == 2 else (B * H, T, S)
    words = "(queries, keys)" if len(shape) == 2 else "(batch heads, queries, keys)"
    fix = "mask.repeat_interleave(num_heads, dim=0)" if shape == (B, T, S) else f"a mask of shape {wanted}"
    raise AttentionInputError(f"The shape of the {len(shape)}D attn_mask is {shape}, but should be {words} = {wanted}.", fix)


def check_cached(attention, query, key, value, padding, mask, need_weights: bool, is_causal: bool, cache) -> None:
    """All of a call of MultiheadAttention with a cache."""
    own = query is key and key is value
    wrong = (
        "need_weights=True" if need_weights
        else "key and value are two tensors" if key is not value
        else "an attn_mask, but each token sees those before it" if own and isinstance(mask, Tensor)
        else "a padding mask that is no tensor of bools" if own and isinstance(padding, Tensor) and padding.dtype != bool_
        else "is_causal=True in attention to another text" if is_causal and not own
        else "bias_k, bias_v or a key of zeros" if attention.bias_k is not None or attention.add_zero_attn
        else ""
    )  # fmt: skip
    if wrong:
        raise ArgumentError(f"MultiheadAttention: a cache, and {wrong}", "leave out the one or the other")
    _check_dims(query, key, value)
    _check_channels(attention, query, key, value)
    if not own:
        check_inputs(attention, query, key, value, padding, mask)
    elif isinstance(padding, Tensor):
        axis = 0 if attention.batch_first else 1
        wanted = (query.shape[axis], cache.length + query.shape[1 - axis])
        if query.dim() != 3 or tuple(padding.shape) != wanted:
            raise AttentionInputError(
                f"key_padding_mask {tuple(padding.shape)}: with a cache of {cache.length} tokens expected {wanted}",
                "(batch, tokens read and new)",
            )
