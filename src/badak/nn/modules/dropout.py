"""PyTorch's name for badak.nn.dropout."""

from badak.nn.dropout import AlphaDropout as AlphaDropout
from badak.nn.dropout import Dropout as Dropout
from badak.nn.dropout import Dropout1d as Dropout1d
from badak.nn.dropout import Dropout2d as Dropout2d
from badak.nn.dropout import Dropout3d as Dropout3d
