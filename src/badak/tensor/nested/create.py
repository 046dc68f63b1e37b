"""What makes nested tensors."""

from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, NotSupportedError, ShapeError, expect_kind, tr
from badak.tensor import dtypes, layouts
from badak.tensor.concat import cat
from badak.tensor.create import as_tensor, tensor
from badak.tensor.nested.layout import NestedTensor, RaggedSize, nested
from badak.tensor.tensor import Tensor

_ONE_RAGGED = tr("examples that differ in one dim only, or padded tensors with a mask")


def nested_tensor(
    tensor_list: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedTensor:
    """A new nested tensor, a leaf, that holds copies of examples.

    Args:
        tensor_list: examples (tensors or lists of numbers) that differ in the size of at most one dim
        dtype: of the values; None: that of the examples
        layout: jagged; the default of PyTorch, strided, is not supported
        device: taken for PyTorch's sake
        requires_grad: whether gradients arrive in it
        pin_memory: no effect

    Returns: nested (B, j, ...)

    Raises:
        NotSupportedError: for the strided layout, or where more than one dim differs
        ArgumentError: for no examples, or ones without a dim

    Example:
        >>> import badak
        >>> x = badak.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=badak.jagged)
        >>> x.offsets().tolist(), x.sum(1).tolist()
        ([0, 2, 3], [3.0, 3.0])
    """
    expect_kind(tensor_list, list | tuple, "nested_tensor(): expected a list of tensors; got {}", "[x, y]")
    examples = [each.detach() if isinstance(each, Tensor) else tensor(each, dtype=dtype) for each in tensor_list]
    made = _joined("nested_tensor", examples, dtype, layout)
    made._entries = made._entries.detach().clone()
    made.requires_grad_(requires_grad)
    return made


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> NestedTensor:
    """A nested tensor of examples whose gradients arrive in the examples.

    Args:
        ts: examples that differ in the size of at most one dim, or a tensor (B, T, ...)
        dtype: of the values; None: that of the examples
        device: taken for PyTorch's sake
        layout: jagged

    Returns: nested (B, j, ...); ts itself where it is nested

    Raises:
        NotSupportedError: for the strided layout, or where more than one dim differs
        ArgumentError: for no examples, or ones without a dim

    Example:
        >>> import badak
        >>> x = badak.ones(2, requires_grad=True)
        >>> badak.nested.as_nested_tensor([x, badak.ones(3)], layout=badak.jagged).sum().backward()
        >>> x.grad.tolist()
        [1.0, 1.0]
    """
    if isinstance(ts, NestedTensor):
        return ts if dtype is None else ts.like(ts._entries.to(dtype))
    examples = list(ts.unbind()) if isinstance(ts, Tensor) else [as_tensor(each) for each in ts]
    return _joined("as_nested_tensor", examples, dtype, layout)


def _joined(where: str, examples: list[Tensor], dtype: Any, layout: Any) -> NestedTensor:
    if layout is not layouts.jagged:
        raise NotSupportedError(tr("{}(): nested tensors of the strided layout are not supported", where), "layout=torch.jagged")
    if not examples:
        raise ArgumentError("Cannot construct a nested tensor from an empty tensor list", "a list of tensors")
    if any(each.dim() == 0 for each in examples):
        raise ArgumentError("Cannot construct a nested tensor from a list of zero-dim tensors", "x.reshape(1)")
    if len({each.dim() for each in examples}) > 1 or len({each.dtype for each in examples}) > 1:
        cause = tr("{}(): expected examples of as many dims, and of one dtype", where)
        raise ArgumentError(cause, "x.unsqueeze(0), or x.to(dtype)")
    sizes = np.array([each.shape for each in examples])
    differ = np.flatnonzero((sizes != sizes[0]).any(0))
    if len(differ) > 1:
        cause = tr("Cannot represent given tensor list as a nested tensor with the jagged layout: "
                   "dims {} of the examples differ in size", differ.tolist())  # fmt: skip
        raise NotSupportedError(cause, _ONE_RAGGED)
    at = int(differ[0]) if len(differ) else 0
    offsets = _offsets_of(sizes[:, at])
    values = cat(examples, at)
    return nested(values if dtype is None else values.to(dtype), offsets, at + 1)


def _offsets_of(lengths: np.ndarray) -> Tensor:
    return Tensor._of(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> NestedTensor:
    """A nested tensor that sees the values of all examples, which lie after one another.

    Args:
        values: (N, ...)
        offsets: integers (B + 1,), where each example begins, the last one N
        lengths: integers (B,), in place of offsets; both, for gaps between examples, are not supported
        jagged_dim: the ragged dim of the result, 1 or more; None: 1
        min_seqlen, max_seqlen: known lengths; no effect

    Returns: nested (B, j, ...)

    Raises:
        ArgumentError: for neither offsets nor lengths, or ones that do not fit the values
        NotSupportedError: for both

    Example:
        >>> import badak
        >>> x = badak.nested.nested_tensor_from_jagged(badak.arange(5.0), badak.tensor([0, 2, 5]))
        >>> [each.tolist() for each in x.unbind()]
        [[0.0, 1.0], [2.0, 3.0, 4.0]]
    """
    if offsets is not None and lengths is not None:
        cause = tr("nested_tensor_from_jagged(): offsets with lengths, values with gaps between examples, are not supported")
        raise NotSupportedError(cause, "values without gaps, and offsets")
    if offsets is None and lengths is None:
        raise ArgumentError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.", "offsets=")
    at = 1 if jagged_dim is None else int(jagged_dim)
    given: Any = offsets if lengths is None else lengths
    if given.is_floating_point() or given.dim() != 1:
        cause = tr("nested_tensor_from_jagged(): expected integers (B + 1,); got {} {}", given.dtype, tuple(given.shape))
        raise ArgumentError(cause, "int64")
    if not 1 <= at <= values.dim():
        cause = tr("nested_tensor_from_jagged(): jagged_dim={} of values {}", at, tuple(values.shape))
        raise ShapeError(cause, f"1 to {values.dim()}")
    where: Any = offsets if lengths is None else _offsets_of(lengths.numpy())
    numbers = where.numpy()
    if len(numbers) < 1 or numbers[0] != 0 or (np.diff(numbers) < 0).any() or numbers[-1] != values.shape[at - 1]:
        cause = tr(
            "nested_tensor_from_jagged(): expected offsets that rise from 0 to {}; got {}", values.shape[at - 1], numbers.tolist()
        )
        raise ArgumentError(cause, "offsets of these values")
    return nested(values.view(values.shape), where, at)


def masked_select(tensor: Tensor, mask: Tensor) -> NestedTensor:
    """Of each row of a matrix the values where a mask is True.

    Args:
        tensor: (B, T)
        mask: bool (B, T), or one that broadcasts to it

    Returns: nested (B, j)

    Raises:
        ArgumentError: for a mask that is not bool, or another number of dims

    Example:
        >>> import badak
        >>> x, mask = badak.arange(4.0).reshape(2, 2), badak.tensor([[True, False], [True, True]])
        >>> badak.nested.masked_select(x, mask).values().tolist()
        [0.0, 2.0, 3.0]
    """
    if tensor.layout is not layouts.strided or tensor.dim() != 2 or mask.dtype is not dtypes.bool_:
        cause = tr("masked_select: expected a dense matrix and a bool mask; got {}, {}", tensor.layout, mask.dtype)
        raise ArgumentError(cause, "mask.bool()")
    seen = mask.expand(tensor.shape)
    offsets = _offsets_of(seen.sum(1).numpy())
    return nested(tensor.masked_select(seen), offsets, 1, RaggedSize(np.diff(offsets.numpy())))
