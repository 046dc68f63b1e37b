"""`x.grad_fn`: a node of the graph as PyTorch shows it, to programs that walk the graph, name its operations, or hook into it."""

import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from badak.autograd.hooks import RemovableHandle, function
from badak.autograd.node import Leaf
from badak.core import events
from badak.core.errors import ArgumentTypeError, GraphError, package

_SHOWN_AS = {  # what PyTorch calls them, with the number of the overload where it is not 0
    "AddMM": "Addmm", "AvgPool": "AvgPool2D", "BCEWithLogits": "BinaryCrossEntropyWithLogits", "Cast": "ToCopy",
    "Cholesky": "LinalgCholeskyEx", "Clamp": "Clamp 1", "Conv": "Convolution", "ConvTranspose": "Convolution",
    "CrossEntropy": "NllLoss", "CumMax": "Cummax", "CumMin": "Cummin", "CumProd": "Cumprod", "CumSum": "Cumsum",
    "Det": "LinalgDet", "DivBy": "Div", "DivInto": "Mul",
    "Dropout": "Mul", "Eigh": "LinalgEigh", "GELU": "Gelu", "Inverse": "LinalgInvEx", "LayerNorm": "NativeLayerNorm",
    "LerpBy": "Lerp", "Linear": "Addmm", "Log1p": "Log1P", "LogSumExp": "Logsumexp", "MSE": "MseLoss", "MatMul": "Mm",
    "MaxPool": "MaxPool2DWithIndices", "NLL": "NllLoss", "Norm": "LinalgVectorNorm", "Pad": "ConstantPadNd", "Pow": "Pow 1",
    "PowBy": "Pow", "PowOf": "Pow 2", "QR": "LinalgQr", "RMSNorm": "Mul", "ReLU": "Relu", "SVD": "LinalgSvd", "Scale": "Mul",
    "ScatterFill": "Scatter 1", "Shift": "Add", "SiLU": "Silu", "Solve": "LinalgSolveEx", "Square": "Pow",
    "SubFrom": "Rsub 1",
}  # fmt: skip


def _reduced(node: Any) -> str:
    return node.op.__name__ if node.saved.axis is None else f"{node.op.__name__} 1"


def _product(node: Any) -> str:
    ndims = node.saved.a.ndim, node.saved.b.ndim
    return {(1, 1): "Dot", (2, 1): "Mv", (2, 2): "Mm", (3, 3): "Bmm"}.get(ndims, "UnsafeView")


def _linear(node: Any) -> str:
    biased = node.edges[2] is not None
    if node.saved.x.ndim == 2:
        return "Addmm" if biased else "Mm"
    return "View" if biased else "UnsafeView"


def _pool(node: Any) -> str:
    kind = "MaxPool{}DWithIndices" if node.op.__name__ == "MaxPool" else "AvgPool{}D"
    return kind.format(len(node.saved.size))


def _selected(node: Any) -> str:
    """The last of the views that x[key] is made of."""
    key = node.saved.key
    views = [part for part in (key if type(key) is tuple else (key,)) if part is not Ellipsis and part != slice(None)]
    if not views:
        return "Alias"
    return "Unsqueeze" if views[-1] is None else "Slice" if type(views[-1]) is slice else "Select"


_BY_NODE = {  # what PyTorch calls them depends on shapes or dims
    "Sum": _reduced, "Mean": _reduced, "Prod": _reduced, "MatMul": _product, "Linear": _linear, "MaxPool": _pool, "AvgPool": _pool,
    "Select": _selected,
}  # fmt: skip


class GradFn:
    """What a node says of itself. The same object for as long as somebody holds it; its class has the operation's name."""

    def __init__(self, node: Any, tensor_of: Callable):
        self._node, self._tensor_of = node, tensor_of
        self.metadata: dict = {}

    def name(self) -> str:
        """ "AddBackward0"; "torch::autograd::AccumulateGrad" for the end of a path."""
        return "torch::autograd::AccumulateGrad" if type(self._node) is Leaf else type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """For each input (what made it, which of its outputs it is); (None, 0) where no gradient is wanted."""
        return tuple((None, 0) if edge is None else (grad_fn(edge[0], self._tensor_of), edge[1]) for edge in self._node.edges)

    def _sequence_nr(self) -> int:
        return self._node.order

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_outputs) before this operation goes back; a tuple that it returns takes their place."""
        return RemovableHandle(self._hooked().before, function(hook))

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_inputs, grad_outputs) when it has gone back; a tuple that it returns takes the place of grad_inputs."""
        return RemovableHandle(self._hooked().after, function(hook))

    def _hooked(self) -> "_HookedOp":
        if type(self._node) is Leaf:
            raise ArgumentTypeError("the end of a path has no operation to hook into", "x.register_hook(fn) on the leaf")
        if not isinstance(self._node.op, _HookedOp):
            self._node.op = _HookedOp(self._node.op, self._tensor_of)
        return self._node.op

    def __getattr__(self, name: str) -> Any:
        if name[:2] != "__":
            node = self.__dict__["_node"]
            if name == "variable" and type(node) is Leaf:
                return node.accumulate.reference()  # type: ignore[attr-defined]
            if hasattr(getattr(node, "op", None), "of_tensors"):
                return getattr(node.saved, name)  # of a Function it is the ctx
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class _HookedOp:
    """An operation whose way back somebody looks at, or changes."""

    owns_grads = False

    def __init__(self, op: Any, tensor_of: Callable):
        self.inner, self.tensor_of = op, tensor_of
        self.name, self.__name__, self.saves_no_tensors, self.view = op.name, op.__name__, op.saves_no_tensors, op.view
        self.overwrites, self.again = "", ()
        self.light_for = op.light_for
        self.before: dict[int, Callable] = {}
        self.after: dict[int, Callable] = {}

    def backward(self, saved, *dys):
        if any(dy is not None and type(dy) is not np.ndarray for dy in dys):
            raise GraphError("create_graph=True does not run the hooks of a grad_fn", "x.register_hook(fn) on the tensor")
        events.user_code("a grad_fn has a hook")
        given = self._tensors(dys)
        for hook in list(self.before.values()):
            given = _replaced(hook(given), given)
        made = self.inner.backward(saved, *(None if dy is None else dy._array for dy in given))
        back = self._tensors(made if isinstance(made, tuple) else (made,))
        for hook in list(self.after.values()):
            back = _replaced(hook(back, given), back)
        return tuple(None if dx is None else dx._array for dx in back)

    def _tensors(self, arrays: tuple) -> tuple:
        return tuple(None if each is None else self.tensor_of(np.asarray(each)) for each in arrays)


def _replaced(answer: Any, before: tuple) -> tuple:
    if answer is None:
        return before
    answer = answer if isinstance(answer, tuple) else (answer,)
    if len(answer) != len(before):
        raise GraphError(f"a hook of a grad_fn gave {len(answer)} gradients in the place of {len(before)}", "return as many")
    return answer


@cache
def _class_of(name: str) -> type[GradFn]:
    """PyTorch's classes of its own operations stand in no module; those of a Function in that of Function."""
    module = "builtins" if name[-1].isdigit() or name == "AccumulateGrad" else f"{package()}.autograd.function"
    return type(name, (GradFn,), {"__module__": module})


def name_of(node: Any) -> str:
    """ "MulBackward0", "AccumulateGrad"; "MineBackward" for a Function `Mine`."""
    op = getattr(node, "op", None)
    if op is None:
        return "AccumulateGrad"
    if hasattr(getattr(op, "inner", op), "of_tensors"):
        return f"{op.__name__}Backward"
    by_node = _BY_NODE.get(op.__name__)
    found = by_node(node) if by_node and node.saved is not None else _SHOWN_AS.get(op.__name__, op.__name__)
    name, _, number = found.partition(" ")
    return f"{name}Backward{number or 0}"


_shown: "weakref.WeakValueDictionary[int, GradFn]" = weakref.WeakValueDictionary()  # by the id of the node, which it holds


def grad_fn(node: Any, tensor_of: Callable) -> GradFn:
    """The face of a node; the same object while somebody holds it."""
    shown = _shown.get(id(node))
    if shown is None:
        shown = _shown[id(node)] = _class_of(name_of(node))(node, tensor_of)
    return shown
