"""Tensors: arrays with a history, and everything that can be done with them.

`tensor.py` says what a tensor is, `apply.py` how an operation is run and recorded; each other file is one family of
functions. `methods.py` gives Tensor its methods; `core/public_api/public.py` lists them all.
"""

from badak.core.public_api import public as _public
from badak.tensor import fft as fft
from badak.tensor import linalg as linalg
from badak.tensor import meta as meta
from badak.tensor import methods as methods
from badak.tensor import random as random
from badak.tensor import returns as returns
from badak.tensor import sparse as sparse
from badak.tensor.apply import apply as apply

globals().update(_public.functions("tensor."))
