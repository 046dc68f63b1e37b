"""`torch.autograd.forward_ad`: dual numbers, a value with a slope along a direction.

A slope is found by two walks backwards (`func.jvp`): J v = d/du (J^T u . v), exactly, for about three times the cost of a backward,
where PyTorch carries slopes along. So the graph must be recorded: under no_grad() there are no slopes, and that is an error.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from badak.compat.torch.func import _slopes, _wrap_tensor_for_grad
from badak.core.errors import ArgumentTypeError, GraphError, NotSupportedError, ShapeError, expect_kind, tr
from badak.core.modes import modes
from badak.core.public_api import door as _door
from badak.ops.observe import Observe
from badak.tensor import Tensor, apply

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
_current_level = -1  # PyTorch's name for the number of the level that is open
_levels: list[list["_Dual"]] = []  # of each level, the dual numbers that were made


class UnpackedDualTensor(NamedTuple):
    """A value, and its slope; None where it has none."""

    primal: Tensor
    tangent: Tensor | None


class _Dual(NamedTuple):
    """A dual number: where its gradient ends, its slope, and the tensor that a program has, with its history."""

    leaf: Tensor
    slope: Tensor
    seen: Tensor
    node: Any

    def is_whole(self, x: Tensor) -> bool:
        """Whether x is this number, and not changed."""
        return x is self.leaf or x is self.seen and x._node is self.node


class dual_level:  # noqa: N801  (PyTorch's name)
    """A block in which there are dual numbers; they end with it.

    Example:
        >>> import badak.compat.torch.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(badak.tensor([2.0]), badak.tensor([1.0]))
        ...     slope = fwAD.unpack_dual(x**3).tangent
        >>> slope.tolist()
        [12.0]
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *error: Any) -> None:
        exit_dual_level()


def enter_dual_level() -> int:
    """Begin a level; its number. There is one at a time, as in PyTorch."""
    if _levels:
        raise GraphError("Nested forward mode AD is not supported at the moment", "torch.func.jvp of jvp")
    global _current_level
    _levels.append([])
    _current_level = 0
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level."""
    if not _levels:
        raise GraphError("Trying to exit a forward AD level but no level was entered", "with dual_level(): ...")
    global _current_level
    _levels.pop()
    _current_level = -1


def _expect(function: Callable) -> list[_Dual]:
    if not _levels:
        raise GraphError(tr("{}: expected to be within a level of dual numbers", function.__name__), "with dual_level(): ...")
    if not modes.grad:
        cause = tr("{}: within no_grad() there are no slopes: badak finds them by the graph", function.__name__)
        raise GraphError(cause, "enable_grad()")
    return _levels[-1]


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The value with the slope `tangent`, which is copied where it lies in memory unlike the value.

    Args:
        tensor: floats
        tangent: of tensor's shape and dtype

    Returns: tensor that sees the memory of `tensor`

    Raises:
        GraphError: outside of a level, or within no_grad()
    """
    for name, x in (("primal", tensor), ("tangent", tangent)):
        expect_kind(x, Tensor, "make_dual: expected a tensor as {}; got {}", "torch.tensor(data)", name)
        if name == "primal" and x.is_complex():
            raise NotSupportedError(tr("make_dual: slopes of complex numbers are not known, got {}", x.dtype), "torch.func.vjp")
        if not (x.is_floating_point() or x.is_complex()):
            raise ArgumentTypeError(tr("Expected {} to be floating point or complex, got: {}", name, x.dtype), "x.float()")
    pairs = _expect(make_dual)
    if tensor.shape != tangent.shape or tensor.dtype != tangent.dtype:
        cause = tr("make_dual: expected a slope of {} {}; got {} {}", tuple(tensor.shape), tensor.dtype, tuple(tangent.shape),
                   tangent.dtype)  # fmt: skip
        raise ShapeError(cause, "torch.ones_like(x)")
    leaf = _wrap_tensor_for_grad(tensor, None)
    seen = apply(Observe, leaf, observer=_same)[0]  # the same memory; no leaf and no view: it may be changed in place
    seen._version_counter = tensor._watch()
    pairs.append(_Dual(leaf, tangent if _lies_alike(tensor, tangent) else tangent.clone(), seen, seen._node))
    return seen


def _same(*dys: Any) -> tuple:
    return dys


_same.of_tensors = lambda dys: dys  # type: ignore[attr-defined]


def _lies_alike(x: Tensor, y: Tensor) -> bool:
    """Whether both have the same steps and the same place, in as much memory."""
    where = [(each.stride(), each.storage_offset(), each.untyped_storage().nbytes()) for each in (x, y)]
    return where[0] == where[1] or not x.numel()


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(value, slope) of a tensor; the slope is None outside of a level, and where it depends on no dual number."""
    expect_kind(tensor, Tensor, "unpack_dual: expected a tensor; got {}", "torch.tensor(data)")
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    pairs = _expect(unpack_dual)
    found = next((dual.slope for dual in pairs if dual.is_whole(tensor)), None)
    if found is None and tensor.requires_grad and pairs:
        found = _slopes([tensor], [dual.leaf for dual in pairs], True)([dual.slope for dual in pairs])[0]
    return UnpackedDualTensor(tensor.view_as(tensor), found)


__getattr__, __dir__ = _door("badak.autograd.forward_ad")
