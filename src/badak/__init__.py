"""badak: the Transformer from the bottom up, with PyTorch's API.

    import badak as bk
    from badak import nn, optim

The names are listed in `core/public_api/public.py`, each with its file. The packages, from the lowest layer: core, kernels, ops,
autograd, tensor, io, nn, optim, data, models, generation, training, inspect, compat, cli
(docs/explanation/architecture.md has all of them).
Read `tensor/tensor.py`, `ops/norm.py`, `nn/attention.py`, `models/gpt.py` and `training/loop.py` first.
"""

# ruff: noqa: E402  (what is imported below must not come from the current folder)

import sys as _sys

if _sys.argv[:1] == ["-m"] and not _sys.flags.safe_path:
    if _sys.orig_argv[-len(_sys.argv)].removeprefix("-m").split(".")[0] == "badak":  # `python -m badak`
        _sys.path[0] = __file__.rpartition("badak")[0]  # instead of the current folder

from badak.core import portable as _portable  # noqa: F401  (before NumPy is imported)

# isort: split

from badak import autograd as autograd
from badak import kernels as kernels
from badak import nn as nn
from badak import optim as optim
from badak.compat.torch import operators as ops  # noqa: F401  (the package of that name is imported from, never reached by attribute)
from badak.compat.torch import utils as utils
from badak.core import errors as errors
from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.core.public_api import public as _public
from badak.io import serialization as serialization
from badak.tensor import fft as fft
from badak.tensor import linalg as linalg
from badak.tensor import random as random
from badak.tensor import returns as return_types  # noqa: F401
from badak.tensor import sparse as sparse
from badak.tensor import special as special
from badak.tensor.foreach import FUNCTIONS as _foreach

_sys.modules |= {"badak.errors": errors, "badak.utils": utils, "badak.utils.data": utils.data}  # PyTorch's places
newaxis = None
globals().update(_public.functions())
globals().update(_foreach)
__getattr__, __dir__ = _door(__name__)  # what PyTorch has elsewhere, and words for what badak has not; __version__ is there too
_guard_names(globals(), __name__)
