"""PyTorch's place for these names; they stand in badak.nn.vision."""

from ..vision import PixelShuffle as PixelShuffle
from ..vision import PixelUnshuffle as PixelUnshuffle
