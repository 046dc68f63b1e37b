"""PyTorch's place for these names; they stand in badak.nn.batch_norm."""

from badak.nn.batch_norm import BatchNorm1d as BatchNorm1d
from badak.nn.batch_norm import BatchNorm2d as BatchNorm2d
from badak.nn.batch_norm import BatchNorm3d as BatchNorm3d
from badak.nn.batch_norm import _BatchNorm as _BatchNorm
from badak.nn.batch_norm import _NormBase as _NormBase
