"""PyTorch's legacy constructors: FloatTensor, LongTensor, ... are names for a dtype."""

import numpy as np

from badak.core.errors import DTypeError
from badak.tensor import dtypes
from badak.tensor.create import empty
from badak.tensor.data import as_array
from badak.tensor.dtypes import check_device
from badak.tensor.tensor import Tensor


class _Legacy(type):
    """FloatTensor and its kin are names for a dtype: calling one makes a plain tensor, isinstance asks for the dtype."""

    kind: dtypes.dtype

    def __call__(cls, *data, device=None) -> Tensor:
        check_device(device)
        if len(data) == 1 and not (isinstance(data[0], int) and not isinstance(data[0], bool)):
            if isinstance(data[0], dtypes.Size):
                return empty(data[0], dtype=cls.kind, device="cpu")
            return Tensor._of(np.array(as_array(data[0], cls.kind.numpy)))
        return empty(*(data or (0,)), dtype=cls.kind, device="cpu")  # also within torch.device("meta"), as in PyTorch

    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.kind


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
