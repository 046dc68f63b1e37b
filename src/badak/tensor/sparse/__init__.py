"""torch.sparse: tensors that keep what is not 0, and where it stands.

`layout.py` says what they are, `create.py` makes them, `functions.py` lists what of badak takes them; whatever is not listed there
refuses them. Their gradients are those of their values: `values` is a dense tensor with a history of its own.
"""

from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.tensor.sparse import functions as functions
from badak.tensor.sparse.invariants import check_sparse_tensor_invariants as check_sparse_tensor_invariants
from badak.tensor.sparse.legacy import TENSORS as _TENSORS
from badak.tensor.sparse.products import addmm as addmm
from badak.tensor.sparse.products import mm as mm
from badak.tensor.sparse.products import sampled_addmm as sampled_addmm
from badak.tensor.sparse.reductions import log_softmax as log_softmax
from badak.tensor.sparse.reductions import softmax as softmax
from badak.tensor.sparse.reductions import sum as sum

__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax", "sum"]
__all__ += list(_TENSORS)
globals().update(_TENSORS)
__getattr__, __dir__ = _door("badak.sparse")
_guard_names(globals(), "badak.sparse")
