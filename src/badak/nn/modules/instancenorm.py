"""PyTorch's place for these names; they stand in badak.nn.batch_norm."""

from badak.nn.batch_norm import InstanceNorm1d as InstanceNorm1d
from badak.nn.batch_norm import InstanceNorm2d as InstanceNorm2d
