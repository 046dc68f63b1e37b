"""PyTorch's place for these names; they stand in badak.nn.vision."""

from ..vision import Fold as Fold
from ..vision import Unfold as Unfold
