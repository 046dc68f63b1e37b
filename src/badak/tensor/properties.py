"""What a tensor says about itself: sizes, dtype, layout."""

from typing import TYPE_CHECKING, Any

from badak.core import events
from badak.core.errors import IndexOutOfRangeError, NoDataError, tr
from badak.core.memory import is_shared, offset_of
from badak.tensor import dtypes
from badak.tensor.dtypes import Device
from badak.tensor.interface import Methods
from badak.tensor.layouts import RANKS, contiguous_format, lies_so, order_asked, strided
from badak.tensor.wrapped import is_wrapper, within

if TYPE_CHECKING:
    from badak.tensor.tensor import Tensor


def _steps(array: Any) -> tuple[int, ...]:
    """Elements between neighbours along each dim; as if in rows where NumPy says 0 of new dims or of a tensor without values."""
    shape = array.shape
    steps = [step // array.itemsize for step in array.strides]
    for dim in reversed(range(len(shape))):
        if not array.size or (shape[dim] == 1 and not steps[dim]):
            steps[dim] = steps[dim + 1] * max(shape[dim + 1], 1) if dim + 1 < len(shape) else 1
    return tuple(steps)


_new, _Size = tuple.__new__, dtypes.Size  # `dtypes.shape_of`, in two thirds of the time


class Always:
    """An attribute that is one for all tensors of a class: asked of the class it is a descriptor, as PyTorch's are."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __set_name__(self, kind: type, name: str) -> None:
        self.__name__ = name

    def __get__(self, tensor: Any, kind: type | None = None) -> Any:
        return self if tensor is None else self.value

    def __set__(self, tensor: Any, value: Any) -> None:
        raise AttributeError(f"attribute '{self.__name__}' of 'Tensor' objects is not writable")


class About(Methods):
    """The part of Tensor that reads its array and changes nothing; its fields stand in `tensor.py`."""

    @property
    def shape(self) -> dtypes.Size:
        try:
            return _new(_Size, self._array.shape)
        except NoDataError:
            return dtypes.shape_of(self._described.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        try:
            return dtypes.of_numpy(self._array.dtype)
        except NoDataError:
            return dtypes.of_numpy(self._described.dtype)

    @property
    def device(self) -> dtypes.device:
        if self._described is not None:
            return dtypes.META
        return within(self).device if is_wrapper(self) else dtypes.CPU

    @property
    def ndim(self) -> int:
        try:
            return self._array.ndim
        except NoDataError:
            return self._described.ndim

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return (self._array if self._described is None else self._described).nbytes

    @property
    def is_meta(self) -> bool:
        return self.device is dtypes.META

    @property
    def is_cpu(self) -> bool:
        return self.device is dtypes.CPU

    is_cuda, is_mps, is_xpu, is_sparse, is_sparse_csr, is_quantized, is_nested = (Always(False) for _ in range(7))
    is_ipu, is_maia, is_mkldnn, is_mtia, is_vulkan, is_xla = (Always(False) for _ in range(6))
    layout = Always(strided)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one dim.

        Args:
            dim: an axis; None for all

        Returns: the shape, or an int

        Example:
            >>> badak.ones(2, 3).size(1)
            3
        """
        if dim is None:
            return _new(_Size, self._array.shape)
        shape = self._array.shape
        if not -len(shape) <= dim < len(shape):
            raise dim_error(dim, len(shape))
        return shape[dim]

    def dim(self) -> int:
        return self._array.ndim

    ndimension = dim

    def numel(self) -> int:
        """How many values there are."""
        return self._array.size

    nelement = numel

    def element_size(self) -> int:
        return self._array.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """Steps between neighbours along each dim, in elements."""
        strides = _steps(self._array)
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """Elements between the start of the memory that is seen and this tensor's first one."""
        events.memory_asked(self)
        return within(self).offset if is_wrapper(self) else offset_of(self._array) // self._array.itemsize

    def data_ptr(self) -> int:
        """The address of the first value; 0 on the meta device."""
        events.memory_asked(self)
        return 0 if self._described is not None or is_wrapper(self) else self._array.ctypes.data

    const_data_ptr = data_ptr

    def is_contiguous(self, memory_format: Any = None) -> bool:
        if memory_format is None or memory_format is contiguous_format:
            return self._array.flags.c_contiguous
        if RANKS.get(memory_format, self._array.ndim) != self._array.ndim:
            return False
        if not (order := order_asked(memory_format, self._array.ndim)):
            return self._array.flags.c_contiguous
        return lies_so(self._array, order)

    def is_floating_point(self) -> bool:
        """Whether the dtype is a float of any size."""
        return self._array.dtype.kind == "f" or self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self._array.dtype.kind == "c"

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_inference(self) -> bool:
        """Whether it was made under inference_mode()."""
        return self._inference

    def is_distributed(self) -> bool:
        return False

    def is_set_to(self, tensor: "Tensor") -> bool:
        """Whether it is the same view of the same memory."""
        same = self.data_ptr() == tensor.data_ptr() and self.dtype is tensor.dtype
        return same and self.shape == tensor.shape and self.stride() == tensor.stride()

    def dim_order(self) -> tuple[int, ...]:
        """The axes, from the one with the largest step in memory to the one with the smallest."""
        if self.is_contiguous():
            return tuple(range(self.ndim))
        return tuple(sorted(range(self.ndim), key=lambda axis: (-self.stride(axis), -self.shape[axis], axis)))

    def get_device(self) -> int:
        """The number of the GPU it is on: -1, it is on the CPU."""
        return -1

    def is_shared(self) -> bool:
        events.memory_asked(self)
        return self._described is None and is_shared(self._array)

    def is_pinned(self) -> bool:
        return False

    def pin_memory(self, device: Device = None) -> Any:
        return self


def dim_error(dim: int, ndim: int) -> IndexOutOfRangeError:
    """The complaint about a dim that a tensor does not have."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    return IndexOutOfRangeError(
        tr("Dimension out of range (expected to be in range of [{}, {}], but got {})", low, high, dim),
        "the tensor has no dims: reduce without dim"
        if ndim == 0
        else tr("dims count from 0, or from -1 backwards; this tensor has {}", ndim),
    )
