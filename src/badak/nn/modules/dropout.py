"""PyTorch's name for badak.nn.dropout."""

from ..dropout import AlphaDropout as AlphaDropout
from ..dropout import Dropout as Dropout
from ..dropout import Dropout1d as Dropout1d
from ..dropout import Dropout2d as Dropout2d
from ..dropout import Dropout3d as Dropout3d
