"""What several families of functions share."""

from typing import Any

from badak.core.errors import ArgumentTypeError, tr, warn_once
from badak.ops._check import expect_floats, expect_real
from badak.tensor import Tensor
from badak.tensor.inplace import write_


def tensor(x: Tensor, where: str, name: str = "input") -> Tensor:
    """x, which must be a tensor."""
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(tr("{}: expected a Tensor as {}; got {}", where, name, type(x).__name__), "badak.tensor(values)")
    return x


def real_tensor(x: Any, where: str, name: str = "input") -> Tensor:
    """x, which must be a tensor of real numbers."""
    if type(x) is not Tensor or x._array.dtype.kind == "c":
        expect_real(where, tensor(x, where, name))
    return x


def number_tensor(x: Any, where: str, name: str = "input") -> Tensor:
    """x, which must be a tensor, and none of booleans."""
    if type(x) is not Tensor or x._array.dtype.kind == "b":
        expect_floats(where, tensor(x, where, name), also="iu")
    return x


def float_tensor(x: Tensor, where: str, name: str = "input") -> Tensor:
    """x, which must be a tensor of floats."""
    if type(x) is not Tensor or x._array.dtype.kind in "iub":
        expect_floats(where, tensor(x, where, name))
    return x


def placed(y: Tensor, x: Tensor, inplace: bool, name: str) -> Tensor:
    """y, or x made to hold it where `inplace`."""
    return write_(x, y, name) if inplace else y


def original(x: Tensor, inplace: bool, where: str) -> Tensor:
    """x, or a copy of it where x is about to be overwritten and several operations still need its values."""
    return tensor(x, where).clone() if inplace else tensor(x, where)


def reduction_of(size_average: Any, reduce: Any, reduction: str) -> str:
    """PyTorch's older words for a reduction, if they were used; else the new one."""
    if size_average is None and reduce is None:
        return reduction
    size_average, reduce = size_average is not False, reduce is not False
    meant = "none" if not reduce else ("mean" if size_average else "sum")
    cause = tr("size_average and reduce are deprecated: here they mean reduction='{}'", meant)
    warn_once("size_average", cause, f"reduction='{meant}'")
    return meant
