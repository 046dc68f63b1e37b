"""`torch.nn.common_types`, `torch.nn._reduction`, and small names of PyTorch's modules that programs import."""

from typing import TypeVar

from badak.core.errors import ArgumentError, tr, warn
from badak.nn import Module
from badak.tensor import Tensor

T = TypeVar("T", bound=Module)
_scalar_or_tuple_any_t = int | tuple[int, ...]
_scalar_or_tuple_1_t = _size_1_t = int | tuple[int]
_scalar_or_tuple_2_t = _size_2_t = int | tuple[int, int]
_scalar_or_tuple_3_t = _size_3_t = int | tuple[int, int, int]
_scalar_or_tuple_4_t = _size_4_t = int | tuple[int, int, int, int]
_scalar_or_tuple_5_t = _size_5_t = int | tuple[int, int, int, int, int]
_scalar_or_tuple_6_t = _size_6_t = int | tuple[int, int, int, int, int, int]
_size_any_t = _scalar_or_tuple_any_t
_size_any_opt_t = tuple[int | None, ...]
_size_2_opt_t, _size_3_opt_t = tuple[int | None, int | None], tuple[int | None, int | None, int | None]
_ratio_2_t, _ratio_3_t, _ratio_any_t = float | tuple[float, float], float | tuple[float, float, float], float | tuple[float, ...]
_tensor_list_t = Tensor | list[Tensor]
_maybe_indices_t = Tensor | tuple[Tensor, Tensor]
_REDUCTIONS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """0, 1 or 2: the number of a reduction in PyTorch's C++ code.

    Args:
        reduction: "none", "mean" or "sum"

    Raises:
        ArgumentError: another word

    Example:
        >>> get_enum("mean")
        1
    """
    if reduction not in _REDUCTIONS:
        raise ArgumentError(tr("{} is not a valid value for reduction", reduction), "reduction='mean'")
    return _REDUCTIONS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for the older arguments size_average and reduce, which are True where they are None."""
    word = "none" if reduce is False else "sum" if size_average is False else "mean"
    if emit_warning:
        warn("size_average and reduce args will be deprecated", f"reduction={word!r}", kind=UserWarning)
    return word


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of that word."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The entries along dim in this order."""
    warn("`apply_permutation` is deprecated", "tensor.index_select(dim, permutation)", kind=FutureWarning)
    return tensor.index_select(dim, permutation)
