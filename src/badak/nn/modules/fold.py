"""PyTorch's place for these names; they stand in badak.nn.vision."""

from badak.nn.vision import Fold as Fold
from badak.nn.vision import Unfold as Unfold
