"""Parameter and Buffer: tensors that a module knows when they become its attributes."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.core.public_api import overriding
from badak.nn.errors import kind
from badak.tensor import Tensor, empty, get_default_dtype
from badak.tensor import device as device_type
from badak.tensor import dtype as dtype_type
from badak.tensor.dtypes import Device, to_dtype
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.printing import format_tensor


class _ParameterMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        """A tensor of a program's own class is a Parameter by its mark."""
        marked = cls is Parameter and isinstance(instance, Tensor) and instance.__dict__.get("_is_param", False)
        return marked or super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is trained: an attribute of this kind appears in `Module.parameters()`.

    data: a tensor, whose memory it shares (an empty one by default). requires_grad: whether it is trained at all.

    Args:
        data: the values; the memory is shared
        requires_grad: whether it is trained

    Returns: tensor that a Module registers when it is assigned to an attribute

    Example:
        >>> nn.Parameter(badak.zeros(2)).requires_grad
        True
    """

    _is_param = True

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True):
        if isinstance(data, Tensor) and not overriding.is_own(type(data)) and not issubclass(type(data), Parameter):
            return _of_own_class(data, requires_grad)
        parameter = same_memory(cls, data)
        parameter.requires_grad_(requires_grad)
        return parameter

    __torch_function__ = classmethod(overriding.disabled)  # what is computed from a parameter is a tensor

    def __deepcopy__(self, memo):
        """A parameter of the same values: as in PyTorch without .grad, and without what a program has set on this one."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self, **options) -> str:
        return f"Parameter containing:\n{format_tensor(self)}"


def _of_own_class(data: Tensor, requires_grad: bool) -> Any:
    """A tensor of a program's own class stays of that class, and is marked."""
    parameter: Any = data.detach().requires_grad_(requires_grad)
    if type(parameter) is not type(data):
        raise ArgumentTypeError(
            tr("Creating a Parameter from an instance of type {} requires that detach() returns an instance of "
               "the same type, but return type {} was found instead.", type(data).__name__, type(parameter).__name__),
            tr("{}.__torch_function__ returns {} for detach", type(data).__name__, type(data).__name__),
        )  # fmt: skip
    parameter._is_param = True  # type: ignore[attr-defined]
    return parameter


class Buffer(Tensor):
    """A tensor that belongs to a module without being trained: an attribute of this kind appears in `Module.buffers()`.

    persistent: whether it is part of the state_dict. Parity: a real class here, a mark on a plain tensor in PyTorch.
    """

    persistent = True

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True):
        buffer = same_memory(cls, data)
        buffer.persistent = persistent
        return buffer


def same_memory(cls: type, data: Tensor | None) -> Any:
    """A tensor of class `cls` around the memory of `data`; an empty one for None."""
    if data is None:
        return Tensor._of(np.empty(0, get_default_dtype().numpy), cls)
    if not isinstance(data, Tensor):
        raise ArgumentTypeError(tr("{} takes a tensor; got {}", cls.__name__, kind(data)), f"nn.{cls.__name__}(badak.tensor(data))")
    if data._described is not None:
        return Tensor._like_meta(data._described, cls)
    made = Tensor._of(data._array, cls)
    made._version_counter = data._watch()  # an in-place change through one is seen by the other's graph
    events.alias(made, data)
    return made


class UninitializedTensorMixin:
    """A tensor without a shape and without values: `materialize(shape)` gives it both. Whoever computes with it is told so."""

    cls_to_become: Any = None
    _dtype: Any
    _device: Any

    def materialize(self, shape: Sequence[int], device: Device = None, dtype: DType | None = None) -> None:
        """Become a tensor of this shape, whose values are what memory held."""
        made: Any = empty(shape, device=device or self._device, dtype=dtype or self._dtype)
        self.__class__ = self.cls_to_become
        self.data = made  # type: ignore[misc]

    def to(self, *target: Any, device: Device = None, dtype: DType | None = None, **others: Any) -> Any:
        """The same tensor: what it becomes will be on that device, and of that dtype."""
        for given in (*target, device, dtype):
            if isinstance(given, dtype_type):
                self._dtype = given
            elif isinstance(given, str | device_type):
                self._device = given
        return self

    def cpu(self, memory_format: Any = None) -> Any:
        """The same tensor: what it becomes will be on the CPU."""
        return self.to("cpu")

    @property
    def data(self) -> Any:
        """An empty tensor, as in PyTorch: filling it does nothing, the values come with the shape."""
        return empty(0, dtype=self._dtype, device=self._device)

    @data.setter
    def data(self, value: Tensor) -> None:
        if value is not self and value.numel():
            raise ArgumentError("Attempted to give data to an uninitialized parameter or buffer", "materialize(shape), then copy_")
        self._dtype = value.dtype

    @property
    def dtype(self) -> DType:
        """The dtype that it will have."""
        return self._dtype

    def is_floating_point(self) -> bool:
        return self._dtype.is_floating_point

    def is_complex(self) -> bool:
        return self._dtype.is_complex

    @property
    def shape(self) -> Any:
        raise ArgumentError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized module.",
            "call `forward` with a first input, which gives the shape",
        )

    def share_memory_(self) -> "Tensor":
        """Refused: there is no memory yet."""
        raise ArgumentError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward()` to initialize the parameters before "
            "calling `module.share_memory()`.",
            "module(x) first",
        )

    def __getattr__(self, name: str):
        if name == "_array":
            cause = tr("Attempted to use an uninitialized parameter or buffer, which has no values yet")
            raise ArgumentError(cause, "call `forward` of the lazy module with a first input, which gives them")
        return super().__getattr__(name)  # type: ignore[misc]

    def __repr__(self, **options) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self._device, self._dtype)  # type: ignore[attr-defined, call-arg]
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, self._device, self._dtype)  # type: ignore[attr-defined]


def _unset(cls: type, requires_grad: bool, device, dtype) -> Any:
    made: Any = object.__new__(cls)
    made._dtype, made._device = get_default_dtype() if dtype is None else to_dtype(dtype), device
    return made.requires_grad_(requires_grad)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter without a shape, as lazy layers have it before their first input."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device=None, dtype=None):
        return _unset(cls, requires_grad, device, dtype)

    def __init__(self, requires_grad: bool = True, device: Device = None, dtype: DType | None = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Buffer):
    """A buffer without a shape, as lazy layers have it before their first input."""

    cls_to_become = Buffer

    def __new__(cls, requires_grad: bool = False, device=None, dtype=None, persistent: bool = True):
        buffer = _unset(cls, requires_grad, device, dtype)
        buffer.persistent = persistent
        return buffer

    def __init__(
        self, requires_grad: bool = False, device: Device = None, dtype: DType | None = None, persistent: bool = True
    ) -> None:
        pass


def is_lazy(param: Any) -> bool:
    """Whether it has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)
