"""PyTorch's name for badak.nn.norm."""

from badak.nn.norm import GroupNorm as GroupNorm
from badak.nn.norm import LayerNorm as LayerNorm
from badak.nn.norm import RMSNorm as RMSNorm
