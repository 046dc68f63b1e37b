"""What can be wrong with what the Transformer is given, in words that say how to put it right."""

from badak.core.errors import ArgumentError, ShapeError, tr
from badak.nn.cache import KeyValueCache
from badak.nn.mask import AnyMask
from badak.tensor import Tensor


def check_batch(batch_first: bool, **two: Tensor) -> None:
    """The two tensors have the same batch size, where they have a batch."""
    (a, x), (b, y) = two.items()
    axis = 0 if batch_first else 1
    if x.dim() != 3 or y.dim() != 3 or x.shape[axis] == y.shape[axis]:
        return
    axes = tr("(batch, length, dim)") if batch_first else tr("(length, batch, dim)")
    cause = tr("the batch number of {} and {} must be equal: {} {} and {} {} read as {} have batch {} vs {}", a, b, a,
               tuple(x.shape), b, tuple(y.shape), axes, x.shape[axis], y.shape[axis])  # fmt: skip
    raise ShapeError(cause, f"batch_first={not batch_first}" if x.shape[1 - axis] == y.shape[1 - axis] else None, code=9)


def check_features(d_model: int, **tensors: Tensor) -> None:
    """Every tensor has d_model features."""
    for name, x in tensors.items():
        if x.shape[-1] != d_model:
            cause = tr("the feature number of src and tgt must be equal to d_model: {} {} has {} features, d_model={}", name,
                       tuple(x.shape), x.shape[-1], d_model)  # fmt: skip
            fix = tr("Transformer(d_model={}, ...), or nn.Linear({}, {}) before it", x.shape[-1], x.shape[-1], d_model)
            raise ShapeError(cause, fix)


def check_cache(cache: KeyValueCache, layers: int, mask: AnyMask | None, is_causal: bool) -> None:
    """A cache has as many layers as the decoder, and knows one tensor as a mask only: the causal one."""
    if len(cache) != layers:
        cause = tr("TransformerDecoder: a cache of {} layers for a decoder of {}", len(cache), layers)
        raise ArgumentError(cause, f"nn.KeyValueCache({layers}, max_length={cache.max_length})")
    if isinstance(mask, Tensor) and not is_causal:
        cause = tr("TransformerDecoder: a cache, and a tgt_mask that is not the causal one")
        raise ArgumentError(cause, "leave tgt_mask out: with a cache each token sees itself and all before it")
