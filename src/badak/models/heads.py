"""What every Transformer asks of its sizes and of a mask."""

from typing import Any

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.io.config import Checked
from badak.nn.mask import Mask


def check_heads(config: Any) -> None:
    """Refuse a width that its heads do not divide, and name the numbers of heads that would do."""
    name, d_model, heads = type(config).__name__, config.d_model, config.heads
    if d_model % heads:
        divisors = [str(h) for h in range(1, min(d_model, 64) + 1) if d_model % h == 0]
        cause = tr("{}: d_model={} is not divisible by heads={}", name, d_model, heads)
        raise ArgumentError(cause, tr("heads in {{{}}}", ", ".join(divisors)))


class WithHeads(Checked):
    """The base of settings of a width and of heads that divide it."""

    def __post_init__(self):
        super().__post_init__()
        check_heads(self)


def expect_mask(mask: object) -> None:
    """Refuse what does not say itself whether True is seen or hidden."""
    if mask is not None and not isinstance(mask, Mask):
        cause = tr("mask: expected a badak.Mask; got {}", type(mask).__name__)
        raise ArgumentTypeError(cause, "badak.Mask.of(keep=x) where True = seen")
