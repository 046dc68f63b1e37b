"""PyTorch's legacy: FloatTensor, LongTensor, ..., which are names for a dtype, and functions of Python on each number."""

import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, DTypeError, GraphError, expect_kind, package, tr
from badak.core.public_api.door import door_to
from badak.tensor import dtypes
from badak.tensor.create import empty, once_more
from badak.tensor.data import as_array
from badak.tensor.dtypes import check_device
from badak.tensor.layouts import strided
from badak.tensor.storage import TypedStorage, UntypedStorage
from badak.tensor.tensor import Tensor


class _Legacy(type):
    """FloatTensor and its kin are names for a dtype: calling one makes a plain tensor, isinstance asks for the dtype."""

    kind: dtypes.dtype
    dtype = property(lambda cls: cls.kind)

    def __new__(mcls, name: str, bases: tuple[type, ...], content: dict[str, Any]) -> "_Legacy":
        if bases:
            raise ArgumentTypeError(tr("type '{}.{}' is not an acceptable base type", package(), bases[0].__name__), "badak.Tensor")
        return super().__new__(mcls, name, bases, content)

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


def _legacy(name: str, kind) -> _Legacy:
    return _Legacy(
        name, (), {"kind": kind, "__doc__": f"PyTorch's legacy constructor of {kind.name} tensors.", "__module__": "badak"}
    )


TENSORS = {f"{word}Tensor": _legacy(f"{word}Tensor", kind) for word, kind in dtypes.LEGACY.items() if not kind.is_complex}


class _LegacyStorage(type):
    """FloatStorage and its kin: calling one makes a TypedStorage of the dtype, isinstance asks for it."""

    dtype: dtypes.dtype

    def __call__(cls, *data, wrap_storage=None) -> TypedStorage:
        return TypedStorage(*data, wrap_storage=wrap_storage, dtype=cls.dtype)

    def from_buffer(cls, buffer, byte_order: str = "native") -> TypedStorage:
        """The numbers that lie in bytes."""
        return TypedStorage(wrap_storage=UntypedStorage.from_buffer(buffer, cls.dtype, byte_order), dtype=cls.dtype)

    def __instancecheck__(cls, x) -> bool:
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype


def _legacy_storage(name: str, kind) -> _LegacyStorage:
    said = f"PyTorch's legacy constructor of a storage of {kind.name} numbers."
    return _LegacyStorage(name, (), {"dtype": kind, "__doc__": said, "__module__": "badak"})


class _DefaultStorage(_LegacyStorage):
    """Storage: the class of storages of the default dtype."""

    dtype = property(lambda cls: dtypes.default_dtype())  # type: ignore[assignment]


Storage = _DefaultStorage(
    "Storage", (), {"__doc__": "PyTorch's legacy constructor of a storage of numbers of the default dtype.", "__module__": "badak"}
)
STORAGES = {f"{word}Storage": _legacy_storage(f"{word}Storage", kind) for word, kind in dtypes.LEGACY.items()}
_STORAGES = {each.dtype: each for each in STORAGES.values()}
__getattr__ = door_to(__name__, TENSORS | STORAGES)


def _dtype_to_storage_type_map() -> dict[dtypes.dtype, str]:
    """The name of the class of storages of each dtype that has one."""
    return {kind: each.__name__ for kind, each in _STORAGES.items()}


def storage_type(self: Tensor) -> type:
    """The class of its storage: badak.FloatStorage of a float32 tensor."""
    if self.dtype not in _STORAGES:
        raise DTypeError(tr("storage_type: PyTorch has no class of storages of {}", self.dtype), "x.untyped_storage()")
    return _STORAGES[self.dtype]


def set_default_tensor_type(t: Any) -> None:
    """PyTorch's old way to set the default dtype: set_default_tensor_type(badak.DoubleTensor)."""
    name = t if isinstance(t, str) else t.__name__
    kind = {"FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64}.get(name.rpartition(".")[2])
    if kind is None:
        cause = tr("set_default_tensor_type: expected FloatTensor or DoubleTensor; got {}", name)
        raise DTypeError(cause, "set_default_dtype(badak.float32)")
    dtypes.set_default_dtype(kind)


def apply_(self: Tensor, callable: Callable) -> Tensor:
    """y[i] = callable(y[i]), one number after the other, by Python; in place."""
    return _by_python("apply_", callable, self)


def map_(self: Any, tensor: Any, callable: Callable) -> Tensor:
    """y[i] = callable(y[i], tensor[i]), one number after the other, by Python; in place. The shapes broadcast."""
    return _by_python("map_", callable, self, tensor)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """self[i] = callable(self[i], x[i], y[i]), one number after the other, by Python; in place. The shapes broadcast."""
    return _by_python("map2_", callable, self, x, y)


def _by_python(name: str, callable: Callable[..., Any], target: Tensor, *others: Tensor) -> Tensor:
    for each in (target, *others):
        expect_kind(each, Tensor, "{}: expected a tensor; got {}", "badak.tensor(data)", name)
        if each.requires_grad:
            cause = tr("Can't call {}() on Variable that requires grad. Use var.detach().{}() instead.", name, name)
            raise GraphError(cause, "x.detach()")
        if each.dtype is not target.dtype:
            cause = tr("{}: expected tensors of one dtype; got {} and {}", name, target.dtype.word, each.dtype.word)
            raise DTypeError(cause, "x.to(y.dtype)")
    columns = [each.expand(target.shape).reshape(-1).tolist() for each in (target, *others)]
    values = [callable(*each) for each in zip(*columns)]
    if wrong := [one for one in values if not isinstance(one, numbers.Number | np.generic)]:
        cause = tr("{}: the function must give numbers; it gave {}", name, type(wrong[0]).__name__)
        raise ArgumentTypeError(cause, "return float(y)")
    made = np.array(values, target.dtype.numpy)
    return target.copy_(Tensor._of(made.reshape(target.shape)))
