"""PyTorch's place for these names; they stand in badak.nn.vision."""

from badak.nn.vision import Upsample as Upsample
