"""DLPack: tensors handed to and from other libraries without a copy; PyTorch's `torch.utils.dlpack`."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentTypeError, BadakError, ExportError, expect_kind, tr
from badak.tensor.dtypes import Device, check_device
from badak.tensor.tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


class _Held:
    """A capsule as an object that hands it out, once."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **ignored: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


class _Writable:
    """The memory of an array, to be written to."""

    def __init__(self, array: np.ndarray):
        self._array = array  # which keeps the memory
        self.__array_interface__ = array.__array_interface__ | {"data": (array.ctypes.data, False)}


def _of_capsule(capsule: Any) -> np.ndarray:
    """The array on the memory of a capsule. One without a version cannot say whether that is to be only read, and NumPy does."""
    array = np.from_dlpack(_Held(capsule))
    return array if "versioned" in repr(capsule) else np.asarray(_Writable(array))


def from_dlpack(ext_tensor: Any, *, device: Device = None, copy: bool | None = None) -> Tensor:
    """A tensor on the memory of a capsule, or of an array that speaks DLPack (NumPy, PyTorch, JAX on a CPU ...).

    Args:
        ext_tensor: a capsule of `badak.utils.dlpack.to_dlpack`, or an array with __dlpack__ on the CPU
        device: None or the CPU
        copy: True gives the tensor memory of its own

    Returns: a tensor

    Raises:
        ArgumentTypeError: for what does not speak DLPack
        ExportError: for memory that cannot be shared, such as that of bfloat16, which NumPy does not know

    Example:
        >>> badak.from_dlpack(badak.arange(3.0), copy=True).tolist()
        [0.0, 1.0, 2.0]
    """
    check_device(device)
    expect_kind(copy, (bool, type(None)), "from_dlpack: copy must be True, False or None; got {}", "copy=True")
    if isinstance(ext_tensor, Tensor) and ext_tensor._array.dtype.kind == "V":  # what NumPy does not know, badak does
        ext_tensor._expect_exportable()
        return ext_tensor.detach().clone() if copy else ext_tensor.detach()
    capsule = type(ext_tensor).__name__ == "PyCapsule"
    if not capsule and not hasattr(ext_tensor, "__dlpack__"):
        cause = tr("from_dlpack: expected a capsule, or an array with __dlpack__; got {}", type(ext_tensor).__name__)
        raise ArgumentTypeError(cause, "badak.as_tensor(values)")
    try:
        array = _of_capsule(ext_tensor) if capsule else np.from_dlpack(ext_tensor)
    except BadakError:
        raise
    except (BufferError, RuntimeError) as error:
        raise ExportError(tr("from_dlpack: NumPy cannot take it: {}", error), "badak.as_tensor(values)") from None
    return Tensor._fresh(array.copy(order="K") if copy else array)


def handed(data: Any) -> Any:
    """`data`, or the tensor on the memory of a capsule, or of an array that speaks DLPack and does not make NumPy's arrays."""
    held = type(data).__name__ == "PyCapsule" or (hasattr(data, "__dlpack__") and not hasattr(data, "__array__"))
    return from_dlpack(data) if held else data


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule of this tensor's memory, to be taken once.

    Args:
        tensor: a tensor that wants no gradient

    Returns: a capsule "dltensor"

    Example:
        >>> badak.utils.dlpack.from_dlpack(badak.utils.dlpack.to_dlpack(badak.ones(2))).tolist()
        [1.0, 1.0]
    """
    expect_kind(tensor, Tensor, "to_dlpack: expected a Tensor; got {}", "badak.as_tensor(values)")
    return tensor.__dlpack__(max_version=(1, 0))  # of an older capsule NumPy makes arrays that cannot be written to
