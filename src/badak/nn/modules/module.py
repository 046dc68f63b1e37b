"""PyTorch's name for badak.nn.module."""

from ..hooks import RemovableHandle as RemovableHandle
from ..module import Module as Module
from ..state import _IncompatibleKeys as _IncompatibleKeys
