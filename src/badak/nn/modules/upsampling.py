"""PyTorch's place for these names; they stand in badak.nn.vision."""

from ..vision import Upsample as Upsample
