"""PyTorch's name for badak.nn.norm."""

from ..norm import GroupNorm as GroupNorm
from ..norm import LayerNorm as LayerNorm
from ..norm import RMSNorm as RMSNorm
