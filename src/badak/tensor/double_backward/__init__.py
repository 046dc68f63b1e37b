"""Derivatives of derivatives: the walk back once more, with tensors in the place of arrays, so that it is itself recorded.

Every gradient is written once, in the `backward` of its operation. Where `create_graph=True` asks for a gradient that can be
differentiated, the same `backward` runs on `Recorded` arrays (`array.py`), which look like NumPy's and make an operation of
every use. What it asks of the kernels are functions over these (`kernels.py`); what the forward has left for it becomes a
function of the inputs again (`saved.py`); and of an operation whose `backward` writes into memory place by place, its
`double_backward` says the same in operations. What none of these covers is refused by its name (`walk.py`).

A first derivative knows nothing of this package and costs nothing more.
"""

from badak.kernels.reference._arrays import ARRAYS
from badak.tensor.double_backward import kernels
from badak.tensor.double_backward.array import Recorded
from badak.tensor.double_backward.walk import backpropagate as backpropagate

Recorded.kernels = kernels
ARRAYS.add(Recorded)
