"""`torch.ops.aten`: PyTorch's own operators by the names of its C++ code, for programs that keep them in tables.

Called, one is the public function of that name: `torch.ops.aten.clone.default(x)`. `called` says which of them, and with which
arguments, a call of badak is.
"""

import operator
import sys
import threading
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

from badak.core.errors import NotSupportedError, tr
from badak.tensor import Tensor


class OpOverloadPacket:
    """aten.add: an operation, whatever it is called with."""

    def __init__(self, name: str, namespace: str = "aten") -> None:
        self.__name__, self._namespace = name, namespace
        self._qualified_op_name = f"{namespace}::{name}"

    def __getattr__(self, name: str) -> "OpOverload":
        if name.startswith("_"):
            raise AttributeError(name)
        return overload(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = RUNS.get(self.__name__) or _public(self.__name__)
        if function is None:
            raise NotSupportedError(tr("torch.ops.{}: badak has no such function", self), "call the public function")
        return function(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"

    def __reduce__(self) -> Any:
        return packet, (self.__name__, self._namespace)

    def __deepcopy__(self, memo: Any) -> "OpOverloadPacket":
        return self  # programs copy tables whose keys they are


def packet(name: str, namespace: str = "aten") -> OpOverloadPacket:
    """The one object for an operation: programs ask `func.overloadpacket is torch.ops.aten.mul`."""
    return _packet(name, namespace)


@cache
def _packet(name: str, namespace: str) -> OpOverloadPacket:
    return OpOverloadPacket(name, namespace)


def _public(name: str) -> Callable | None:
    badak = sys.modules["badak"]
    places = (badak, badak.nn.functional, Tensor)
    return next((getattr(place, name) for place in places if hasattr(place, name)), None)


class _Running(threading.local):
    calls: tuple = ()  # (overload, what it does) of those that somebody was asked for, the innermost last


_running = _Running()


class OpOverload:
    """aten.add.Tensor: what a mode is given. Calling it does what would have been done."""

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = self._overloadpacket = packet
        self._overloadname = overload
        self.namespace = packet._namespace
        self.__name__ = f"{packet.__name__}.{overload}"

    def name(self) -> str:
        """ "aten::add.Tensor"."""
        suffix = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.overloadpacket._qualified_op_name}{suffix}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        of, run = _running.calls[-1] if _running.calls else (None, None)
        return (run if run is not None and of is self else self.overloadpacket)(*args, **kwargs)

    @contextmanager
    def doing(self, run: Callable) -> Any:
        """A block in which calling it does this."""
        before, _running.calls = _running.calls, (*_running.calls, (self, run))
        try:
            yield
        finally:
            _running.calls = before

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __reduce__(self) -> Any:
        return overload, (self.overloadpacket, self._overloadname)

    def __deepcopy__(self, memo: Any) -> "OpOverload":
        return self


@cache
def overload(packet: OpOverloadPacket, name: str) -> OpOverload:
    """The one object for an overload: programs ask `func is torch.ops.aten.mul.Tensor`."""
    return OpOverload(packet, name)


# ---------------------------------------------------------------- which operator a call of badak is


class Called(NamedTuple):
    """An operator, what it does, and its arguments as PyTorch orders them."""

    overload: OpOverload
    run: Callable
    args: tuple
    kwargs: dict


_OPERATORS = {
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__invert__": "bitwise_not", "__truediv__": "div",
    "__floordiv__": "floor_divide", "__mod__": "remainder", "__setitem__": "index_put_", "__itruediv__": "div_",
    "__lshift__": "__lshift__", "__rshift__": "__rshift__", "__getitem__": "getitem",
}  # fmt: skip
_OVERLOADS = {
    **dict.fromkeys("add sub mul div add_ sub_ mul_ div_".split(), "Tensor"),
    "rsub": "Scalar", "transpose": "int", "where": "self", "unbind": "int", "index": "Tensor", "full": "default",
    "arange": "start_step", "std": "correction", "var": "correction", "split": "Tensor", "select": "int", "slice": "Tensor",
}  # fmt: skip
_BY_OTHER = frozenset(
    "eq ne lt le gt ge remainder fmod bitwise_and bitwise_or bitwise_xor masked_fill fill_ masked_fill_ remainder_ fmod_".split()
)  # whose overload says whether the last argument is a tensor


def _reduction(name: str) -> Callable:
    def form(x: Any, dim: Any = None, keepdim: bool = False, **more: Any) -> tuple:
        if dim is None and not keepdim:
            return name, "default", (x,), more
        dims = None if dim is None else [dim] if isinstance(dim, int) else list(dim)
        return name, "dim_IntList" if name == "sum" else "dim", (x, dims, *([True] if keepdim else [])), more

    return form


def _along(name: str) -> Callable:
    def form(x: Any, *args: Any, **kwargs: Any) -> tuple:
        kinds = {**dict(zip(("dim", "keepdim"), args)), **kwargs}
        way = "other" if isinstance(kinds.get("dim"), Tensor) or "other" in kinds else "dim" if "dim" in kinds else "default"
        return name, way, (x, *args), kwargs

    return form


def _pow(x: Any, y: Any) -> tuple:
    tensors = isinstance(x, Tensor), isinstance(y, Tensor)
    return "pow", {(True, True): "Tensor_Tensor", (True, False): "Tensor_Scalar"}.get(tensors, "Scalar"), (x, y), {}


def _splits(x: Any, sizes: Any, dim: int = 0) -> tuple:
    rest = (dim,) if dim else ()
    return ("split", "Tensor", (x, sizes, *rest), {}) if isinstance(sizes, int) else (
        "split_with_sizes", "default", (x, list(sizes), *rest), {})  # fmt: skip


def _chunks(x: Any, chunks: int, dim: int = 0) -> tuple:
    return _splits(x, max(1, -(-x.shape[dim] // chunks)), dim)


def _index(x: Any, key: Any) -> tuple:
    parts = [
        Tensor._of(part) if hasattr(part, "__array_interface__") else part for part in (key if isinstance(key, tuple) else (key,))
    ]
    if all(isinstance(part, Tensor) or part == slice(None) for part in parts):
        return "index", "Tensor", (x, [part if isinstance(part, Tensor) else None for part in parts]), {}
    return "getitem", "default", (x, tuple(parts)), {}  # which PyTorch cuts into several


def _spread(name: str) -> Callable:
    def form(x: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> tuple:
        args = (x,) if dim is None else (x, [dim] if isinstance(dim, int) else list(dim))
        return name, "correction", args, {"correction": correction} | ({"keepdim": True} if keepdim else {})

    return form


def _mse(x: Any, target: Any, reduction: str = "mean", **_: Any) -> tuple:
    return "mse_loss", "default", (x, target, *(() if reduction == "mean" else (_REDUCTIONS.index(reduction),))), {}


def _convolution(transposed: bool) -> Callable:
    def form(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, groups: int, output_padding: Any = None) -> tuple:
        more = [0] * len(stride) if output_padding is None else list(output_padding)
        args = (x, w, b, list(stride), list(padding), list(dilation), transposed, more, groups)
        return "convolution", "default", args, {}

    return form


_REDUCTIONS = ("none", "mean", "sum")
_FORMS: dict[str, Callable] = {
    "sum": _reduction("sum"),
    "mean": _reduction("mean"),
    "max": _along("max"),
    "min": _along("min"),
    "pow": _pow,
    "split": _splits,
    "chunk": _chunks,
    "permute": lambda x, *axes: ("permute", "default", (x, list(axes[0] if len(axes) == 1 else axes)), {}),
    "reshape": lambda x, *shape: ("view", "default", (x, _sizes(shape)), {}),
    "broadcast_to": lambda x, shape: ("expand", "default", (x, list(shape)), {}),
    "to": lambda x, dtype: ("_to_copy", "default", (x,), {"dtype": _dtype(dtype)}),
    "softmax": lambda x, dim: ("_softmax", "default", (x, dim, False), {}),
    "log_softmax": lambda x, dim: ("_log_softmax", "default", (x, dim, False), {}),
    "getitem": _index,
    "std": _spread("std"),
    "var": _spread("var"),
    "mse_loss": _mse,
    "embedding": lambda ids, w, padding_idx=None, scale_grad_by_freq=False: (
        "embedding", "default", (w, ids, *((-1 if padding_idx is None else padding_idx,) if padding_idx is not None else ())), {}),
    "item": lambda x: ("_local_scalar_dense", "default", (x,), {}),
    "pad": lambda x, pad, mode="constant", value=0.0: ("constant_pad_nd", "default", (x, list(pad), value), {}),
    "new_zeros": lambda x, *size, **more: ("new_zeros", "default", (x, _sizes(size)), more),
    "new_ones": lambda x, *size, **more: ("new_ones", "default", (x, _sizes(size)), more),
    "new_empty": lambda x, *size, **more: ("new_empty", "default", (x, _sizes(size)), more),
    "index_put_": lambda x, key, value, *more: ("index_put_", "default", (x, key, value, *more), {}),
    **{f"conv{n}d": lambda x, w, b, s, p, d, g: _convolution(False)(x, w, b, s, p, d, g) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": lambda x, w, b, s, p, o, g, d: _convolution(True)(x, w, b, s, p, d, g, o) for n in (1, 2, 3)},
}  # fmt: skip


def _sizes(size: tuple) -> list:
    return list(size[0] if len(size) == 1 and not isinstance(size[0], int) else size)


def _dtype(kind: Any) -> Any:
    dtypes = sys.modules["badak.tensor.dtypes"]
    return kind if isinstance(kind, dtypes.dtype) else dtypes.of_numpy(kind)


def _to_copy(x: Any, *, dtype: Any = None, memory_format: Any = None, **_: Any) -> Any:
    made = x.clone() if dtype is None or dtype is x.dtype else x.to(dtype)
    return made if memory_format is None else made.contiguous(memory_format=memory_format)


def _convolve(x: Any, w: Any, b: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, more: Any, groups: int) -> Any:
    functions = sys.modules["badak.nn.functional"]
    if transposed:
        return getattr(functions, f"conv_transpose{len(stride)}d")(x, w, b, stride, padding, more, groups, dilation)
    return getattr(functions, f"conv{len(stride)}d")(x, w, b, stride, padding, dilation, groups)


def _index_put_(x: Any, key: Any, value: Any, accumulate: bool = False) -> Any:
    if isinstance(key, list):
        return x.index_put_(key, value, accumulate)
    operator.setitem(x, key, value)
    return x


def _slice(x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)]


def _layer_norm(x: Any, shape: list, w: Any, b: Any, eps: float) -> tuple:
    badak, dims = sys.modules["badak"], tuple(range(-len(shape), 0))
    var, mean = badak.var_mean(x, dims, correction=0, keepdim=True)
    return badak.nn.functional.layer_norm(x, tuple(shape), w, b, eps), mean, (var + eps).rsqrt()


RUNS: dict[str, Callable] = {
    "native_layer_norm": _layer_norm,
    "getitem": operator.getitem,
    "view": lambda x, size: x.view(tuple(size)),
    "_unsafe_view": lambda x, size: x.reshape(tuple(size)),
    "expand": lambda x, size, implicit=False: x.expand(tuple(size)),
    "permute": lambda x, dims: x.permute(*dims) if dims else x,
    "split_with_sizes": lambda x, sizes, dim=0: x.split(list(sizes), dim),
    "split": lambda x, size, dim=0: x.split(size, dim),
    "_to_copy": _to_copy,
    "_softmax": lambda x, dim, half=False: x.softmax(dim),
    "_log_softmax": lambda x, dim, half=False: x.log_softmax(dim),
    "index": lambda x, indices: x[tuple(slice(None) if i is None else i for i in indices)],
    "index_put_": _index_put_,
    "select": lambda x, dim, index: x.select(dim, index),
    "slice": _slice,
    "embedding": lambda w, ids, padding_idx=-1, scale=False, sparse=False: sys.modules["badak.nn.functional"].embedding(
        ids, w, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale
    ),
    "mse_loss": lambda x, t, reduction=1: sys.modules["badak.nn.functional"].mse_loss(x, t, reduction=_REDUCTIONS[reduction]),
    "_local_scalar_dense": lambda x: x.item(),
    "constant_pad_nd": lambda x, pad, value=0: sys.modules["badak.nn.functional"].pad(x, list(pad), "constant", value),
    "convolution": _convolve,
    "alias": lambda x: x.view(x.shape),
    "lift_fresh": lambda x: x,
    "std": lambda x, dim=None, **more: sys.modules["badak"].std(x, dim, **more),
    "var": lambda x, dim=None, **more: sys.modules["badak"].var(x, dim, **more),
    **{
        f"new_{how}": lambda x, size, how=how, **more: getattr(x, f"new_{how}")(tuple(size), **more)
        for how in ("zeros", "ones", "empty")
    },
}


def called(name: str, function: Callable, args: tuple, kwargs: dict) -> Called:
    """The operator that a call of this name is."""
    if name.startswith("__"):
        if name.startswith("__r") and name not in ("__rshift__",):  # 1 + x: the tensor stands first, unless the order counts
            name = name.replace("__r", "__", 1)
            args = args if name in ("__add__", "__mul__", "__and__", "__or__", "__xor__") else args[::-1]
        name = _OPERATORS.get(name) or (f"{name[3:-2]}_" if name.startswith("__i") and name != "__iter__" else name[2:-2])
    run, form = function, _FORMS.get(name)
    if form is not None:
        name, how, args, kwargs = form(*args, **kwargs)
        run = RUNS.get(name, function)
    elif name in _BY_OTHER:
        how = "Tensor" if isinstance((*args, *kwargs.values())[-1], Tensor) else "Scalar"
    else:
        how = _OVERLOADS.get(name, "default")
        if name == "matmul":
            ranks = tuple(x.dim() for x in args)
            name = {(2, 2): "mm", (3, 3): "bmm", (2, 1): "mv", (1, 1): "dot"}.get(ranks, name)
    return Called(overload(packet(name), how), run, args, kwargs)
