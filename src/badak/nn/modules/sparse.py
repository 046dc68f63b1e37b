"""PyTorch's name for badak.nn.embedding."""

from ..embedding import Embedding as Embedding
