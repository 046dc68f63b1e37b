"""Tensors: arrays with a history, and everything that can be done with them.

`tensor.py` says what a tensor is, `apply.py` how an operation is run and recorded; each other file is one family of
functions, and `methods.py` is the table of those that are also methods.
"""

from .apply import apply as apply
from .tensor import Tensor as Tensor
