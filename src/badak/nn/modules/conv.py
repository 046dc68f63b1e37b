"""PyTorch's place for these names; they stand in badak.nn.conv."""

from ..conv import Conv1d as Conv1d
from ..conv import Conv2d as Conv2d
from ..conv import Conv3d as Conv3d
from ..conv import ConvTranspose1d as ConvTranspose1d
from ..conv import ConvTranspose2d as ConvTranspose2d
from ..conv import _ConvNd as _ConvNd
