"""Reverse-mode differentiation over arrays: what a forward leaves behind, and the walk back through it.

Nothing here knows what a tensor is. `badak.autograd` is the PyTorch-named face over it.
"""

from badak.graph import effects as effects
from badak.graph.hooks import RemovableHandle as RemovableHandle
from badak.graph.modes import modes as modes
from badak.graph.node import Leaf as Leaf
from badak.graph.node import Node as Node
from badak.graph.node import Version as Version
from badak.graph.op import Op as Op
from badak.graph.op import Saved as Saved
from badak.graph.walk import backpropagate as backpropagate
