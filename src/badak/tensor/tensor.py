"""Tensor: an array, and where it came from.

What a tensor can *do* stands in the files beside this one, one family each; `methods.py` is the table of contents that
binds them here. What this file holds is what a tensor *is*:

    _array      the ndarray with the values (also for 0-d)
    _node       the graph.Node that made it, _slot which of its outputs; None for a leaf
    _counter    counts in-place changes; shared by all tensors that see the same memory
    _base       for a view: the tensor whose memory it sees, _steps the view operations that lead there

`history.py` is the part of the class that handles these, `about.py` what it says of itself, `values.py` how its values
get out to Python and NumPy.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from badak.errors import GraphError
from badak.naming import absent_attribute
from badak.tensor import dtypes
from badak.tensor.about import About
from badak.tensor.history import History
from badak.tensor.values import Values

_new = object.__new__


class Tensor(History, About, Values):
    """An n-dimensional array that can be differentiated through, with PyTorch's face.

    `Tensor(2, 3)` makes an uninitialised float32 tensor of that shape, `Tensor([2, 3])` one of those values (PyTorch's
    legacy constructor); `badak.tensor(data)` is the usual way in.
    """

    __array_priority__ = 1000  # NumPy on the left defers to us

    def __init__(self, *data, device=None):
        dtypes.check_device(device)
        if len(data) == 1 and not isinstance(data[0], int):
            values = data[0]._array if isinstance(data[0], Tensor) else data[0]
            if isinstance(values, dtypes.Size):
                values = np.empty(values, np.float32)
            self._array = np.array(values, dtypes.default_dtype().numpy)
        else:
            self._array = np.empty(data, dtypes.default_dtype().numpy)

    @classmethod
    def _of(cls, array, kind=None) -> "Tensor":
        """A tensor around this very array, with no history."""
        tensor = _new(kind or Tensor)
        tensor._array = array if type(array) is np.ndarray else np.asarray(array)
        return tensor

    def __deepcopy__(self, memo):
        if self._node is not None:
            raise GraphError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.",
                "copy x.detach() instead",
            )
        if id(self) in memo:
            return memo[id(self)]
        twin = Tensor._of(self._array.copy(), type(self))
        twin._requires_grad = self._requires_grad
        if self._grad is not None:
            twin._grad = Tensor._of(self._grad._array.copy())
        for name, value in self.__dict__.items():
            if not name.startswith("_"):
                setattr(twin, name, value)
        memo[id(self)] = twin
        return twin

    def __reduce_ex__(self, protocol):
        if self._node is not None:
            raise GraphError("a tensor that has a history cannot be pickled", "pickle x.detach()")
        return _rebuild, (type(self), self._array, self._requires_grad)

    if TYPE_CHECKING:  # what methods.py binds
        __add__: Any
        __radd__: Any
        __iadd__: Any
        __sub__: Any
        __rsub__: Any
        __mul__: Any
        __rmul__: Any
        __truediv__: Any
        __rtruediv__: Any
        __floordiv__: Any
        __rfloordiv__: Any
        __mod__: Any
        __rmod__: Any
        __pow__: Any
        __rpow__: Any
        __matmul__: Any
        __rmatmul__: Any
        __neg__: Any
        __pos__: Any
        __abs__: Any
        __invert__: Any
        __and__: Any
        __or__: Any
        __xor__: Any
        __lt__: Any
        __le__: Any
        __gt__: Any
        __ge__: Any
        __eq__: Any
        __ne__: Any
        __getitem__: Any
        __setitem__: Any

    def __getattr__(self, name: str) -> Any:
        # Reached only for what a tensor has not.
        raise absent_attribute("Tensor", name, self)


def _rebuild(kind, array, requires_grad: bool) -> Tensor:
    tensor = Tensor._of(array, kind)
    tensor._requires_grad = requires_grad
    return tensor
