"""Inverted dropout with a given mask."""

from badak import kernels
from badak.ops.batching import stacked
from badak.ops.operation import operation

Dropout = operation(
    "Dropout", "y = x keep / (1 - p);   dx = dy keep / (1 - p).    keep bool of x's shape, True = kept.",
    lambda x, keep, p: kernels.of(x).dropout(x, keep, p),
    lambda dy, keep, p: kernels.of(dy).dropout(dy, keep, p),
    None,
    capturable=True, supports_bf16=True, keeps_finite=True, batching=stacked,
)  # fmt: skip
