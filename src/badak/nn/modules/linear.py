"""PyTorch's name for badak.nn.linear."""

from badak.nn.linear import Bilinear as Bilinear
from badak.nn.linear import Flatten as Flatten
from badak.nn.linear import Identity as Identity
from badak.nn.linear import Linear as Linear
from badak.nn.linear import NonDynamicallyQuantizableLinear as NonDynamicallyQuantizableLinear
from badak.nn.linear import Unflatten as Unflatten
