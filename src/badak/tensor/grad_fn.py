"""`x.grad_fn`: a node of the graph as PyTorch shows it, to programs that walk the graph, name its operations, or hook into it."""

import importlib
import inspect
import re
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from badak.autograd.hooks import RemovableHandle, function
from badak.autograd.node import Leaf
from badak.core import events
from badak.core.errors import ArgumentTypeError, GraphError, package, tr
from badak.ops.rows import Rows

_SHOWN_AS = {  # what PyTorch calls them, with the number of the overload where it is not 0
    "AddMM": "Addmm", "AvgPool": "AvgPool2D", "BatchNorm": "NativeBatchNorm",
    "BCE": "BinaryCrossEntropy", "BCEWithLogits": "BinaryCrossEntropyWithLogits", "Cast": "ToCopy",
    "Cholesky": "LinalgCholeskyEx", "Clamp": "Clamp 1", "Conv": "Convolution", "ConvTranspose": "Convolution",
    "CrossEntropy": "NllLoss", "CumMax": "Cummax", "CumMin": "Cummin", "CumProd": "Cumprod", "CumSum": "Cumsum",
    "Det": "LinalgDet", "DivBy": "Div", "DivInto": "Mul", "Dropout": "Mul", "ELU": "Elu", "Eigh": "LinalgEigh", "Fourier": "FftC2C",
    "GELU": "Gelu", "GroupNorm": "NativeGroupNorm", "Huber": "HuberLoss", "Imag": "Select", "Inverse": "LinalgInvEx",
    "InverseRealFourier": "FftC2R", "LayerNorm": "NativeLayerNorm", "LeakyReLU": "LeakyRelu",
    "LerpBy": "Lerp", "Linear": "Addmm", "Log1p": "Log1P", "LogCumSumExp": "Logcumsumexp", "LogSumExp": "Logsumexp",
    "MSE": "MseLoss", "MatMul": "Mm", "MatrixExp": "LinalgMatrixExp", "MaxPool": "MaxPool2DWithIndices", "NLL": "NllLoss",
    "Norm": "LinalgVectorNorm", "Pad": "ConstantPadNd", "Pinv": "LinalgPinv", "Pow": "Pow 1", "PowBy": "Pow", "PowOf": "Pow 2",
    "PReLU": "PreluKernel",
    "QR": "LinalgQr", "RMSNorm": "Mul", "ReLU": "Relu", "Real": "Select", "RealFourier": "FftR2C", "SVD": "LinalgSvd",
    "Scale": "Mul", "ScatterFill": "Scatter 1", "Shift": "Add", "SiLU": "Silu", "SlogDet": "LinalgSlogdet",
    "SmoothL1": "SmoothL1Loss",
    "Solve": "LinalgSolveEx", "Square": "Pow", "SubFrom": "Rsub 1",
}  # fmt: skip


_SAVED = {  # what an operation saves: PyTorch's word for it, as in grad_fn._saved_self
    "y": "result", "x": "self", "a": "self", "b": "other", "w": "weight", "lo": "min", "hi": "max", "target": "target",
}  # fmt: skip
_SAVED_BY = {
    "MmBackward0": {"b": "mat2"}, "BmmBackward0": {"b": "mat2"}, "MvBackward0": {"b": "vec"}, "DotBackward0": {"b": "tensor"},
    "PowBackward0": {"c": "exponent"}, "PowBackward1": {"b": "exponent"}, "PowBackward2": {"c": "self", "x": "exponent"},
    "AddmmBackward0": {"x": "mat1", "w": ""}, "ConvolutionBackward0": {"x": "input"}, "NativeLayerNormBackward0": {"x": "input"},
    "NativeGroupNormBackward0": {"x": "input", "groups": "group"},
    "NativeBatchNormBackward0": {"x": "input", "moving": "training", "eps": "eps"},
    "AddcmulBackward0": {"a": "tensor1", "b": "tensor2"}, "AddcdivBackward0": {"a": "tensor1", "b": "tensor2"},
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
    return kind.format(len(node.saved.x_shape) - 2)


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


_WITH_NUMBER = ("Shift", "Scale", "DivBy")  # which are an operation on two tensors in PyTorch: of a number no gradient is wanted


class GradFn:
    """What a node says of itself. The same object for as long as somebody holds it; its class has the operation's name."""

    def __init__(self, node: Any, tensor_of: Callable) -> None:
        self._node, self._tensor_of = node, tensor_of
        self._of_leaf: dict = {}

    @property
    def metadata(self) -> dict:
        """What programs keep with the node, for as long as it lives."""
        return self._of_leaf if type(self._node) is Leaf else vars(self._node).setdefault("metadata", {})

    def name(self) -> str:
        """ "AddBackward0"; "torch::autograd::AccumulateGrad" for the end of a path."""
        return "torch::autograd::AccumulateGrad" if type(self._node) is Leaf else type(self).__name__

    @property
    def next_functions(self) -> tuple:
        """For each input (what made it, which of its outputs it is); (None, 0) where no gradient is wanted."""
        op = getattr(self._node, "op", None)
        edges = self._node.edges
        if given := getattr(getattr(op, "inner", op), "shapes", None):  # a Function: what it was given that is no tensor has no end
            edges = [edge for edge, shape in zip(edges, given[1], strict=True) if shape is not None]
        ends = tuple((None, 0) if edge is None else (grad_fn(edge[0], self._tensor_of), edge[1]) for edge in edges)
        return (*ends, (None, 0)) if getattr(op, "__name__", "") in _WITH_NUMBER else ends

    def _sequence_nr(self) -> int:
        return self._node.order

    def register_prehook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_outputs) before this operation goes back; a tuple that it returns takes their place.

        At the end of a path, which adds to .grad, it is called before that.
        """
        return RemovableHandle(self._hooked().before, function(hook))

    def register_hook(self, hook: Callable) -> RemovableHandle:
        """Call hook(grad_inputs, grad_outputs) when it has gone back; a tuple that it returns takes the place of grad_inputs.

        At the end of a path, which has no inputs, it is called when the gradient has been added to .grad.
        """
        return RemovableHandle(self._hooked().after, function(hook))

    def _hooked(self) -> "_HookedOp | _HookedEnd":
        if type(self._node) is Leaf:
            if not isinstance(self._node.accumulate, _HookedEnd):
                self._node.accumulate = _HookedEnd(self._node.accumulate, self._tensor_of)
            return self._node.accumulate
        if not isinstance(self._node.op, _HookedOp):
            self._node.op = _HookedOp(self._node.op, self._tensor_of)
        return self._node.op

    def __getattr__(self, name: str) -> Any:
        if name[:2] != "__":
            node = self.__dict__["_node"]
            if name == "variable" and type(node) is Leaf:
                return node.accumulate.reference()  # type: ignore[attr-defined]
            if hasattr(getattr(node, "op", None), "of_tensors"):
                if node.saved is None:
                    node.check()
                return getattr(node.saved, name)  # of a Function it is the ctx
            if name.startswith(("_saved_", "_raw_saved_")) and type(node) is not Leaf:
                node.check()
                for ours, theirs in self._words().items():
                    if name.endswith(f"_saved_{theirs}") and hasattr(node.saved, ours):
                        return self._raw(ours) if name[1] == "r" else self._seen(ours, getattr(node.saved, ours))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        saved = getattr(self._node, "saved", None)
        kept = {f"_saved_{theirs}" for ours, theirs in self._words().items() if theirs and hasattr(saved, ours)} if saved else set()
        return sorted({*super().__dir__(), *kept})

    def _words(self) -> dict[str, str]:
        return {} if hasattr(getattr(self._node, "op", None), "of_tensors") else _SAVED | _SAVED_BY.get(type(self).__name__, {})

    def _seen(self, name: str, value: Any) -> Any:
        """What was saved by this name, an array as a tensor with its history."""
        node = self._node
        if not isinstance(value, np.ndarray | np.generic):
            return value
        made = self._tensor_of(np.asarray(value))
        op, at = getattr(node.op, "inner", node.op), self._place(name)
        made._version_counter = next((version for version, _, number in node.watched or () if number == at), None)
        if at is None:
            made._node, made._output_number, made._requires_grad = node, op.saved_outputs[name], True
        elif 0 <= at < len(node.edges) and node.edges[at] is not None:
            before, number = node.edges[at]
            if type(before) is Leaf:
                leaf = before.accumulate.reference()  # type: ignore[attr-defined]
                if leaf is not None and leaf._array is value:
                    return leaf
                made._leaf_end, made._requires_grad = (before, number), True
                return made
            made._node, made._output_number, made._requires_grad = before, number, True
        return made

    def _place(self, name: str) -> int | None:
        """Which input it is that was saved by this name; None for an output, -1 for neither."""
        op = getattr(self._node.op, "inner", self._node.op)
        inputs = [each for each in inspect.signature(op.forward).parameters if each != "save"]
        return None if name in op.saved_outputs else inputs.index(name) if name in inputs else -1

    def _raw(self, name: str) -> Any:
        """What was saved by this name, for hooks of its own."""
        value = getattr(self._node.saved, name)
        if not isinstance(value, np.ndarray | np.generic):
            raise AttributeError(f"'{type(self).__name__}' object has saved no tensor as {name}")
        saved = importlib.import_module("badak.autograd.saved")
        return saved.saved_by(self._node, name, self._place(name), self._seen(name, value))


class _HookedOp:
    """An operation whose way back somebody looks at, or changes."""

    owns_grads, overwrites, again = False, "", ()

    def __init__(self, op: Any, tensor_of: Callable):
        self.inner, self.tensor_of, self.__name__ = op, tensor_of, op.__name__
        self.before: dict[int, Callable] = {}
        self.after: dict[int, Callable] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def backward(self, saved, *dys):
        def back_of(given):
            made = self.inner.backward(saved, *(None if dy is None else dy._array for dy in given))
            return self._tensors(made if isinstance(made, tuple) else (made,))

        return tuple(None if dx is None else dx._array for dx in self.around(back_of, self._tensors(dys)))

    def around(self, back_of: Callable, given: tuple) -> tuple:
        """What `back_of` makes of the gradients that are given, each as the hooks leave it."""
        events.user_code(tr("a grad_fn has a hook"))
        for hook in list(self.before.values()):
            given = _replaced(hook(given), given)
        back = back_of(given)
        for hook in list(self.after.values()):
            back = _replaced(hook(back, given), back)
        return back

    def _tensors(self, arrays: tuple) -> tuple:
        return tuple(None if each is None else self.tensor_of(np.asarray(each)) for each in arrays)


class _HookedEnd:
    """What adds a gradient to .grad, where somebody looks at the gradient, or changes it."""

    def __init__(self, inner: Callable, tensor_of: Callable):
        self.inner, self.tensor_of, self.reference = inner, tensor_of, getattr(inner, "reference", None)
        self.before: dict[int, Callable] = {}
        self.after: dict[int, Callable] = {}

    def __call__(self, dy: Any, owned: bool) -> None:
        events.user_code(tr("a grad_fn has a hook"))
        shown = given = (Rows.as_tensor(dy) if type(dy) is Rows else self.tensor_of(dy) if type(dy) is np.ndarray else dy,)
        for hook in list(self.before.values()):
            given = _replaced(hook(given), given)
        if given[0] is None:
            return
        if given[0] is not shown[0]:
            dy = given[0] if given[0]._node is not None or given[0].is_sparse else given[0]._array.copy("K")
            given, owned = (self.tensor_of(dy) if type(dy) is np.ndarray else dy,), True
        self.inner(dy, owned)
        for hook in list(self.after.values()):
            hook((), given)


def _replaced(answer: Any, before: tuple) -> tuple:
    if answer is None:
        return before
    if not isinstance(answer, tuple):
        cause = tr("expected tuple, but hook returned '{}'", type(answer).__name__)
        raise ArgumentTypeError(cause, "return None, or a tuple of as many gradients")
    if wrong := [each for each in answer if each is not None and not hasattr(each, "_edge")]:
        cause = tr("expected Variable, but hook returned '{}'", type(wrong[0]).__name__)
        raise ArgumentTypeError(cause, "return tensors, or None for no gradient")
    if len(answer) != len(before):
        raise GraphError(tr("a hook of a grad_fn gave {} gradients in the place of {}", len(answer), len(before)), "return as many")
    return answer


@cache
def _class_of(name: str) -> type[GradFn]:
    """PyTorch's classes of its own operations stand in no module; those of a Function in that of Function."""
    module = "builtins" if name[-1].isdigit() or name == "AccumulateGrad" else f"{package()}.autograd.function"
    return type(name, (GradFn,), {"__module__": module})


class NodeClasses:
    """`torch._C._functions`: the classes of nodes by their names, `AccumulateGrad` and `MulBackward0`."""

    def __getattr__(self, name: str) -> type[GradFn]:
        if name != "AccumulateGrad" and not re.fullmatch(r"[A-Z]\w*Backward\d+", name):
            raise AttributeError(name)
        return _class_of(name)


def name_of(node: Any) -> str:
    """ "MulBackward0", "AccumulateGrad"; "MineBackward" for a Function `Mine`."""
    op = getattr(node, "op", None)
    if op is None:
        return "AccumulateGrad"
    if hasattr(getattr(op, "inner", op), "of_tensors"):
        return f"{getattr(op, 'shown', op.__name__)}Backward"
    if "shown" in vars(node):  # the last operation of a function that is one in PyTorch
        return f"{vars(node)['shown']}Backward0"
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
