"""Reverse-mode differentiation over arrays: what a forward leaves behind, and the walk back through it.

Nothing here knows what a tensor is. `badak.autograd` is the PyTorch-named face over it.
"""

from .modes import changes as changes
from .modes import live as live
from .modes import live_check as live_check
from .modes import live_in_place as live_in_place
from .modes import live_kernels as live_kernels
from .modes import live_pure as live_pure
from .modes import modes as modes
from .node import Leaf as Leaf
from .node import Node as Node
from .node import Version as Version
from .op import Op as Op
from .op import Saved as Saved
from .walk import backpropagate as backpropagate
