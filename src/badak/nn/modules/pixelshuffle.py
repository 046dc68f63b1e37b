"""PyTorch's place for these names; they stand in badak.nn.vision."""

from badak.nn.vision import PixelShuffle as PixelShuffle
from badak.nn.vision import PixelUnshuffle as PixelUnshuffle
