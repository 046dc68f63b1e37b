"""`torch.utils.dlpack`: tensors handed to and from other libraries without a copy."""

from typing import Any

from badak.core.errors import ArgumentTypeError, expect_kind, tr
from badak.tensor import Tensor
from badak.tensor.create import from_dlpack as _of_array

__all__ = ["from_dlpack", "to_dlpack"]


class _Held:
    """A capsule as an object that hands it out, once."""

    def __init__(self, capsule: Any):
        self._capsule = capsule

    def __dlpack__(self, **ignored: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


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


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor that shares the memory of a capsule, or of an array that speaks DLPack.

    Args:
        ext_tensor: a capsule of `to_dlpack`, or an array of NumPy, JAX, PyTorch ... on the CPU

    Returns: a tensor

    Example:
        >>> badak.utils.dlpack.from_dlpack(badak.ones(2)).tolist()
        [1.0, 1.0]
    """
    if type(ext_tensor).__name__ == "PyCapsule":
        return _of_array(_Held(ext_tensor))
    if not hasattr(ext_tensor, "__dlpack__"):
        cause = tr("from_dlpack: expected a capsule, or an array with __dlpack__; got {}", type(ext_tensor).__name__)
        raise ArgumentTypeError(cause, "badak.as_tensor(values)")
    return _of_array(ext_tensor)
