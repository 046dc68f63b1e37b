"""The table of the public functions that take sparse tensors: all others refuse them (`layout.py`)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.tensor.sparse import arithmetic, create, forms, parts, products, reductions
from badak.tensor.sparse.layout import FUNCTIONS, TAKE_DENSE, CooTensor, SparseTensor, as_dtype_of, become
from badak.tensor.tensor import Tensor

_NAMES = {
    parts: "indices values _indices _values crow_indices col_indices ccol_indices row_indices is_coalesced _coalesced_ sparse_dim"
    " dense_dim _nnz",
    arithmetic: "add sub mul div neg pow norm add_ sub_ mul_ div_ zero_",
    forms: "size to clone detach detach_ requires_grad_ transpose permute t index_select select unsqueeze stack zeros_like cat",
    create: "coalesce sparse_mask to_dense to_sparse to_sparse_coo to_sparse_csr to_sparse_csc",
    products: "matmul mv addmm linear",
    reductions: "softmax log_softmax",
}
_OTHER_NAMES = {
    "add": "__iadd__", "sub": "subtract", "mul": "multiply", "div": "divide true_divide", "neg": "negative", "pow": "__pow__",
    "sub_": "__isub__", "mul_": "__imul__", "div_": "__itruediv__", "cat": "concat concatenate", "t": "T",
    "transpose": "swapaxes swapdims", "zeros_like": "empty_like",
}  # fmt: skip
_EACH = (  # functions f with f(0) = 0
    "abs absolute asin arcsin asinh arcsinh atan arctan atanh arctanh ceil conj conj_physical deg2rad rad2deg erf erfinv expm1 "
    "floor frac log1p nan_to_num positive relu round sgn sign signbit sin sinh sqrt square tan tanh trunc fix isnan isinf isposinf "
    "isneginf"
)
_CONVERTED = "float double half bfloat16 int long short bool cpu"
_TOLD = "is_floating_point is_complex is_signed element_size get_device is_inference is_shared is_pinned"


def _of_each(name: str) -> Callable[..., Tensor]:
    """A function of each value, places that stand twice added up first."""

    def function(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
        x: Any = create.coalesce(input) if isinstance(input, CooTensor) else input
        return x.like(getattr(x._entries, name)(*args, **options))

    return function


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same, whose result the tensor then is."""

    def in_place(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
        return become(input, as_dtype_of(input, function(input, *args, **options)))

    return in_place


def _converted(name: str) -> Callable[..., Tensor]:
    """The values in another dtype."""

    def function(input: SparseTensor, *args: Any, **options: Any) -> Tensor:
        entries = getattr(input._entries, name)(*args, **options)
        return input if entries is input._entries else input.like(entries)

    return function


def _told(name: str) -> Callable[..., Any]:
    """What the values say, of the whole tensor."""
    return lambda input: getattr(input._entries, name)()


FUNCTIONS |= {name: getattr(module, name) for module, names in _NAMES.items() for name in names.split()}
FUNCTIONS |= {other: FUNCTIONS[name] for name, others in _OTHER_NAMES.items() for other in others.split()}
FUNCTIONS["__iadd__"] = arithmetic.add_
for _names, _make in ((_EACH, _of_each), (_CONVERTED, _converted), (_TOLD, _told)):
    FUNCTIONS |= {name: _make(name) for name in _names.split()}
FUNCTIONS |= {f"{name}_": _in_place(FUNCTIONS[name]) for name in (*_EACH.split(), "neg", "negative", "pow")}
FUNCTIONS |= {
    "mT": lambda input: forms.transpose(input, -2, -1),
    "mm": lambda input, mat2: products.mm(input, mat2),
    "__rmatmul__": lambda input, other: products.mm(Tensor._of(np.asarray(other)), input),
    "__getitem__": forms.getitem,
    "sum": arithmetic.whole_sum,
    **dict.fromkeys(("dim", "ndimension"), lambda input: input.ndim),
    **dict.fromkeys(("numel", "nelement"), lambda input: input._size.numel()),
    "is_same_size": lambda input, other: input.shape == other.shape,
}
TAKE_DENSE |= {
    *"add sub mul div add_ sub_ subtract multiply divide true_divide __iadd__ __isub__ mm matmul mv addmm linear".split(),
    *"is_same_size sparse_mask".split(),
}
