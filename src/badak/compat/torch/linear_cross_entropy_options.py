"""How PyTorch cuts the work of linear_cross_entropy: taken, checked, and without effect here."""

import re
from dataclasses import dataclass

from badak.core.errors import ArgumentError, tr
from badak.tensor import bfloat16, float16, float32, float64
from badak.tensor import dtype as dtype_type


@dataclass(frozen=True, slots=True)
class LinearCrossEntropyOptions:
    """`options` of linear_cross_entropy: badak makes the logits as a whole, whatever they say.

    Args:
        allow_retain_graph: more than one backward, which is always allowed here
        batch_chunk_size: rows at a time, or None
        chunking_method: "auto", "aspect_ratio", "aspect_ratio:N" or None
        acc_policy: "auto", "accurate", "balanced" or "compact"
        acc_dtype: of the sums, or None

    Raises:
        ArgumentError: for another value

    Example:
        >>> nn.LinearCrossEntropyOptions(batch_chunk_size=64).acc_policy
        'auto'
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: dtype_type | None = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ArgumentError(tr("invalid acc_policy: {!r}", self.acc_policy), 'acc_policy="auto"')
        if self.chunking_method not in (None, "auto") and not re.fullmatch("aspect_ratio(:0*[1-9][0-9]*)?", self.chunking_method):
            raise ArgumentError(tr("invalid chunking_method: {!r}", self.chunking_method), 'chunking_method="auto"')
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ArgumentError(tr("batch_chunk_size must be positive int or None, got {!r}", size), "batch_chunk_size=None")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            cause = tr("acc_dtype must be one of (None, torch.float16, torch.bfloat16, torch.float32, torch.float64), got {!r}",
                       self.acc_dtype)  # fmt: skip
            raise ArgumentError(cause, "acc_dtype=None")
