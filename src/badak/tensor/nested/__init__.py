"""torch.nested: rows of different lengths as one tensor, without padding.

`layout.py` says what they are, `create.py` makes them, `functions.py` lists what of badak takes them, `reduce.py`, `shape.py` and
`products.py` how; whatever is not listed there refuses them. Their gradients are those of their values.
"""

from badak.core.public_api import door as _door
from badak.core.public_api import guard_names as _guard_names
from badak.tensor.nested import functions as functions
from badak.tensor.nested.create import as_nested_tensor as as_nested_tensor
from badak.tensor.nested.create import masked_select as masked_select
from badak.tensor.nested.create import nested_tensor as nested_tensor
from badak.tensor.nested.create import nested_tensor_from_jagged as nested_tensor_from_jagged
from badak.tensor.nested.layout import to_padded_tensor as to_padded_tensor

__all__ = ["as_nested_tensor", "masked_select", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]
__getattr__, __dir__ = _door("badak.nested")
_guard_names(globals(), "badak.nested")
