"""PyTorch's name for badak.nn.module."""

from badak.graph import RemovableHandle as RemovableHandle
from badak.nn.module import Module as Module
from badak.nn.state import _IncompatibleKeys as _IncompatibleKeys
