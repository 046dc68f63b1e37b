"""PyTorch's place for these names; they stand in badak.nn.conv."""

from badak.nn.conv import Conv1d as Conv1d
from badak.nn.conv import Conv2d as Conv2d
from badak.nn.conv import Conv3d as Conv3d
from badak.nn.conv import ConvTranspose1d as ConvTranspose1d
from badak.nn.conv import ConvTranspose2d as ConvTranspose2d
from badak.nn.conv import _ConvNd as _ConvNd
