"""Reverse-mode differentiation over arrays: what a forward leaves behind, and the walk back through it.

Nothing here knows what a tensor is. `badak.autograd` is the PyTorch-named face over it.
"""

from badak.graph.hooks import RemovableHandle as RemovableHandle
from badak.graph.modes import changes as changes
from badak.graph.modes import live as live
from badak.graph.modes import live_check as live_check
from badak.graph.modes import live_in_place as live_in_place
from badak.graph.modes import live_kernels as live_kernels
from badak.graph.modes import live_pure as live_pure
from badak.graph.modes import modes as modes
from badak.graph.node import Leaf as Leaf
from badak.graph.node import Node as Node
from badak.graph.node import Version as Version
from badak.graph.op import Op as Op
from badak.graph.op import Saved as Saved
from badak.graph.walk import backpropagate as backpropagate
