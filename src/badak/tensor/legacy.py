"""PyTorch's legacy: FloatTensor, LongTensor, ..., which are names for a dtype, and functions of Python on each number."""

from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, DTypeError, GraphError
from badak.tensor import dtypes
from badak.tensor.create import empty, once_more
from badak.tensor.data import as_array
from badak.tensor.dtypes import check_device
from badak.tensor.layouts import strided
from badak.tensor.tensor import Tensor


class _Legacy(type):
    """FloatTensor and its kin are names for a dtype: calling one makes a plain tensor, isinstance asks for the dtype."""

    kind: dtypes.dtype

    def __call__(cls, *data, device=None) -> Tensor:
        check_device(device)
        if len(data) == 1 and not (isinstance(data[0], int) and not isinstance(data[0], bool)):
            if isinstance(data[0], dtypes.Size):
                return empty(data[0], dtype=cls.kind, device="cpu")
            if isinstance(data[0], Tensor):
                return once_more(data[0], cls.kind, cls.__name__)
            return Tensor._of(np.array(as_array(data[0], cls.kind.numpy)))
        return empty(*(data or (0,)), dtype=cls.kind, device="cpu")  # also within torch.device("meta"), as in PyTorch

    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.kind and x.layout is strided


def _legacy(name: str, kind) -> type:
    return _Legacy(
        name,
        (),
        {"kind": kind, "__doc__": f"PyTorch's legacy constructor of {kind.name} tensors.", "__module__": "badak"},
    )


FloatTensor = _legacy("FloatTensor", dtypes.float32)
DoubleTensor = _legacy("DoubleTensor", dtypes.float64)
HalfTensor = _legacy("HalfTensor", dtypes.float16)
BFloat16Tensor = _legacy("BFloat16Tensor", dtypes.bfloat16)
LongTensor = _legacy("LongTensor", dtypes.int64)
IntTensor = _legacy("IntTensor", dtypes.int32)
ShortTensor = _legacy("ShortTensor", dtypes.int16)
CharTensor = _legacy("CharTensor", dtypes.int8)
ByteTensor = _legacy("ByteTensor", dtypes.uint8)
BoolTensor = _legacy("BoolTensor", dtypes.bool_)


def set_default_tensor_type(t) -> None:
    """PyTorch's old way to set the default dtype: set_default_tensor_type(badak.DoubleTensor)."""
    name = t if isinstance(t, str) else t.__name__
    kind = {"FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64}.get(name.rpartition(".")[2])
    if kind is None:
        raise DTypeError(
            f"set_default_tensor_type: expected FloatTensor or DoubleTensor; got {name}",
            "set_default_dtype(badak.float32)",
        )
    dtypes.set_default_dtype(kind)


def apply_(self, callable) -> Tensor:
    """y[i] = callable(y[i]), one number after the other, by Python; in place."""
    return _by_python("apply_", callable, self)


def map_(self, tensor, callable) -> Tensor:
    """y[i] = callable(y[i], tensor[i]), one number after the other, by Python; in place. The shapes broadcast."""
    return _by_python("map_", callable, self, tensor)


def map2_(self, x, y, callable) -> Tensor:
    """self[i] = callable(self[i], x[i], y[i]), one number after the other, by Python; in place. The shapes broadcast."""
    return _by_python("map2_", callable, self, x, y)


def _by_python(name: str, callable: Callable[..., Any], target: Tensor, *others: Tensor) -> Tensor:
    for each in (target, *others):
        if not isinstance(each, Tensor):
            raise ArgumentTypeError(f"{name}: expected a tensor; got {type(each).__name__}", "badak.tensor(data)")
        if each.requires_grad:
            raise GraphError(
                f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.", "x.detach()"
            )
        if each.dtype is not target.dtype:
            raise DTypeError(
                f"{name}: expected tensors of one dtype; got {target.dtype.word} and {each.dtype.word}", "x.to(y.dtype)"
            )
    columns = [each.expand(target.shape).reshape(-1).tolist() for each in (target, *others)]
    made = np.array([callable(*values) for values in zip(*columns)], target.dtype.numpy)
    return target.copy_(Tensor._of(made.reshape(target.shape)))
