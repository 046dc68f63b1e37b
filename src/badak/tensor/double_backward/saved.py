"""What a forward has left for its backward, as functions of its inputs."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from badak.autograd.node import Leaf, Node
from badak.ops import attention, factors, linalg, loss, mixed, norm, reduce
from badak.tensor.double_backward.array import NotRecordable, Recorded
from badak.tensor.tensor import Tensor

# Where an attribute is neither an input, which has the name of a parameter of `forward`, nor the first output, y:

OUTPUTS = {
    (linalg.Solve, "x"): 0, (linalg.Cholesky, "l"): 0, (linalg.QR, "q"): 0, (linalg.QR, "r"): 1,
    (linalg.Eigh, "w"): 0, (linalg.Eigh, "v"): 1,
    (factors.LU, "lu"): 0, (factors.Eig, "w"): 0, (factors.Eig, "v"): 1,
}  # fmt: skip

CONSTANTS = {  # arrays that the formulas of this package only look at
    (attention.Attention, "lse"), (loss.CrossEntropy, "lse"), (loss.CrossEntropy, "count"), (loss.CrossEntropySoft, "lse"),
    (linalg.SlogDet, "sign"), (mixed.MixedCrossEntropy, "lse"), (mixed.MixedCrossEntropy, "count"),
}  # fmt: skip


def _row_mean(saved):
    return saved.x.mean(axis=saved.axis, keepdims=True)


def _layer_mean(saved):
    return _flat(saved.x, saved.axes).mean(axis=-1)


def _layer_rstd(saved):
    """1 / sqrt(var + eps); eps is what its value lacks to that."""
    x = _flat(saved.x, saved.axes)
    d = x - x.mean(axis=-1, keepdims=True)
    return _inverse_root((d * d).mean(axis=-1), saved.array("rstd"))


def _rms_rstd(saved):
    x = _flat(saved.x, saved.axes)
    return _inverse_root((x * x).mean(axis=-1), saved.array("rstd"))


def _inverse_root(squares: Recorded, rstd: np.ndarray) -> Recorded:
    eps = 1 / (rstd.astype(np.float64) ** 2) - squares.values
    return 1 / np.sqrt(squares + eps.astype(squares.dtype))


def _flat(x: Recorded, axes: int) -> Recorded:
    return x if axes == 1 else x.reshape(*x.shape[: x.ndim - axes], -1)


DERIVED: dict[tuple, Callable[["SavedAgain"], Recorded]] = {  # made of the inputs by the forward
    (reduce.Var, "mean"): _row_mean,
    (reduce.Std, "mean"): _row_mean,
    (norm.LayerNorm, "mean"): _layer_mean,
    (norm.LayerNorm, "rstd"): _layer_rstd,
    (norm.RMSNorm, "rstd"): _rms_rstd,
}


class SavedAgain:
    """As Saved, its float arrays recorded: an input or an output with its history, or computed from these."""

    def __init__(self, node: Node):
        self._node = node
        self.needs = node.saved.needs

    def array(self, name: str) -> Any:
        """The attribute as the forward has left it."""
        return getattr(self._node.saved, name)

    def __getattr__(self, name: str) -> Any:
        value, op = self.array(name), self._node.op
        if (op, name) in DERIVED and isinstance(value, np.ndarray | np.generic):
            made = DERIVED[op, name](self)
        else:
            made = self._with_history(name, value)
        setattr(self, name, made)
        return made

    def _with_history(self, name: str, value):
        op = self._node.op
        if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind in "biu" or (op, name) in CONSTANTS:
            return value  # a size, a mask, an index; a number of NumPy's is the value of an array of shape ()
        place = _parameters(op).get(name)
        if place is not None:
            return Recorded(self._input(place, value)) if place < len(self._node.edges) else value
        if name == "y" or (op, name) in OUTPUTS:
            return Recorded(_joined(value, (self._node, OUTPUTS.get((op, name), 0))))
        raise NotRecordable(f"its {name}")

    def _input(self, place: int, value) -> Tensor:
        tensor = _joined(value, self._node.edges[place])
        for version, _, number in self._node.watched or ():
            if number == place:
                tensor._counter = version
        return tensor


@cache
def _parameters(op) -> dict[str, int]:
    """The names of forward's arrays, and their places among the inputs."""
    names = list(inspect.signature(op.forward).parameters)[1:]
    return {name: place for place, name in enumerate(names)}


def _joined(array, edge) -> Tensor:
    """A tensor around the array whose gradient goes along this edge, if there is one."""
    tensor = Tensor._of(array)
    if edge is not None:
        tensor._requires_grad = True
        if type(edge[0]) is Leaf:
            tensor._end = edge
        else:
            tensor._node, tensor._slot = edge
    return tensor
