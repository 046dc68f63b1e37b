"""Linear layers, norms, products and attention of nested tensors."""

from collections.abc import Callable
from typing import Any

from badak.core.errors import NotSupportedError, ShapeError, tr
from badak.tensor.concat import cat
from badak.tensor.nested.layout import PADDED, NestedTensor, expect_nested, nested, padded, parts, unpadded
from badak.tensor.tensor import Tensor


def linear(func: Callable, input: Any, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    _last_is_regular("linear", input)
    if isinstance(weight, NestedTensor) or isinstance(bias, NestedTensor):
        raise NotSupportedError("linear takes a nested input, and a plain weight and bias", PADDED)
    return input.like(func(input._entries, weight, bias))


def normed(func: Callable, input: Any, normalized_shape: Any, *args: Any, **options: Any) -> Tensor:
    """A norm over the last dims, of which none is ragged."""
    expect_nested(func.__name__, input)
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    if input._ragged >= input.ndim - count:
        raise NotSupportedError(tr("{}(): normalizing over ragged dim not supported for NestedTensor", func.__name__), PADDED)
    return input.like(func(input._entries, normalized_shape, *args, **options))


def _last_is_regular(where: str, x: Any) -> None:
    expect_nested(where, x)
    if x._ragged == x.ndim - 1:
        raise NotSupportedError(tr("{}(): not supported for NestedTensor on ragged dim", where), PADDED)


def matmul(func: Callable, input: Any, other: Any, **options: Any) -> Tensor:
    """By a plain matrix, by a matrix for each example, or of two nested tensors along the ragged dim of both."""
    if options:
        raise NotSupportedError("matmul of nested tensors takes no further argument", "y = x @ w")
    if func.__name__ == "__rmatmul__":
        input, other = other, input
    a, b = isinstance(input, NestedTensor), isinstance(other, NestedTensor)
    if a and not b and input._ragged < input.ndim - 1 and isinstance(other, Tensor):
        if other.dim() <= 2:
            made = input._entries @ other
            return nested(made, input._offsets, input._ragged, input._lengths)
        if other.dim() == input.ndim and other.shape[0] == len(input):
            return unpadded(padded(input, 0) @ other, input)
    if a and b and input.ndim == other.ndim and input._ragged == input.ndim - 1 and other._ragged == other.ndim - 2:
        if input._lengths is other._lengths:
            return padded(input, 0) @ padded(other, 0)  # (B, ..., C, j) @ (B, ..., j, D)
    shapes = " and ".join(str(tuple(each.shape)) for each in (input, other))
    raise NotSupportedError(tr("matmul(): not supported between inputs of shapes {}", shapes), PADDED)


def attention(
    func: Callable,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    **options: Any,
) -> Tensor:
    """Each example attends to itself: query (B, H, j, D), key and value (B, H, j', D), no padding is computed."""
    if attn_mask is not None:
        raise NotSupportedError("Masks are not supported with nested tensors: the lengths are the mask", "attn_mask=None")
    for each in (query, key, value):
        if not isinstance(each, NestedTensor) or each.ndim != 4 or each._ragged != 2 or len(each) != len(query):
            found = tuple(each.shape) if isinstance(each, Tensor) else type(each).__name__
            cause = tr("scaled_dot_product_attention: expected nested query, key and value (B, H, j, D); got {}", found)
            raise ShapeError(cause, "x.transpose(1, 2)")
    if key._lengths is not value._lengths:
        raise ShapeError("scaled_dot_product_attention: expected a key and a value of the same lengths", "offsets of the key")
    made = [
        func(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), None, dropout_p, is_causal, **options).squeeze(0)
        for q, k, v in zip(parts(query), parts(key), parts(value))
    ]
    return nested(cat(made, 1), query._offsets, 2, query._lengths)
