"""PyTorch's name for badak.nn.linear."""

from ..linear import Bilinear as Bilinear
from ..linear import Flatten as Flatten
from ..linear import Identity as Identity
from ..linear import Linear as Linear
from ..linear import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear
from ..linear import Unflatten as Unflatten
