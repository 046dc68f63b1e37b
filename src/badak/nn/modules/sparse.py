"""PyTorch's name for badak.nn.embedding."""

from badak.nn.embedding import Embedding as Embedding
