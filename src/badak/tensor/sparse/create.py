"""Sparse tensors from their parts, from dense tensors and from each other, and back."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from badak.core.errors import ArgumentError, ArgumentTypeError, DTypeError, IndexOutOfRangeError, ShapeError, tr
from badak.core.public_api.taken import named
from badak.tensor import dtypes, layouts
from badak.tensor.create import as_tensor, zeros
from badak.tensor.dtypes import Device, check_place
from badak.tensor.dtypes import dtype as DType  # noqa: N812
from badak.tensor.index import index_add, index_put
from badak.tensor.sparse.layout import CompressedTensor, CooTensor, SparseTensor, compressed, coo, distinct, expect_coo
from badak.tensor.tensor import Tensor

_INTS = (dtypes.int64, dtypes.int32)


def sparse_coo_tensor(
    indices: Tensor | None = None,
    values: Tensor | None = None,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device = None,
    requires_grad: Any = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Tensor:
    """A sparse tensor that has values[k] at indices[:, k], sums where a place stands twice, and 0 elsewhere.

    Args:
        indices: integers (sparse dims, count)
        values: (count, *dense dims); a gradient that they want comes to them
        size: the whole shape; by default just large enough
        dtype: of the values
        device: accepted: "cpu"
        requires_grad: whether a gradient is wanted, with respect to the values of the new tensor
        check_invariants: accepted; indices are always checked
        is_coalesced: True says that the places are in order and none stands twice; nothing relies on it but what it is asked

    Returns: tensor of layout sparse_coo

    Raises:
        IndexOutOfRangeError: for an index outside of size

    Example:
        >>> x = badak.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
        >>> x.to_dense().tolist()
        [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]]
    """
    check_place(device)
    if values is None and (size is not None or indices is not None):
        shape = _size("sparse_coo_tensor", indices if size is None else size)
        place, filled = zeros(len(shape), 0, dtype=dtypes.int64), zeros(0, dtype=dtype)
    elif values is None or indices is None:
        raise ArgumentError("sparse_coo_tensor: expected indices and values, or a size", "sparse_coo_tensor(indices, values, size)")
    else:
        place, filled = _places(indices), _dense("sparse_coo_tensor", values, dtype)
        if filled.ndim == 0 and place.ndim == 2:
            filled = filled.expand(place.shape[1])
        if place.ndim != 2 or place.shape[1] != filled.shape[0]:
            cause = tr("sparse_coo_tensor: expected indices (dims, count) and values (count, ...); got {} and {}",
                       tuple(place.shape), tuple(filled.shape))  # fmt: skip
            raise ShapeError(cause, "one column of indices for each value")
        shape = _fitting(place._array, filled, size)
    tidy = filled.shape[0] < 2 or bool(is_coalesced and _tidy(place._array, shape))
    made: Any = _wanted(coo(place, filled, shape, tidy), filled, requires_grad)
    if is_coalesced:
        made._claimed = True
    return made


def sparse_csr_tensor(
    crow_indices: Tensor | int | Sequence[int],
    col_indices: Tensor | int | Sequence[float],
    values: Tensor | Sequence[float] | list,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse matrix by rows: row n has values[crow[n] : crow[n + 1]], in the columns col[crow[n] : crow[n + 1]].

    Args:
        crow_indices: integers (rows + 1,)
        col_indices: integers (count,)
        values: (count, ...), of which each may be a tensor; a gradient that they want comes to them
        size: (rows, columns, ...); by default as many columns as are needed
        dtype: of the values
        device: accepted: "cpu"
        pin_memory: accepted; no effect
        requires_grad: whether a gradient is wanted, with respect to the values of the new tensor
        check_invariants: accepted; indices are always checked

    Returns: tensor of layout sparse_csr

    Raises:
        ArgumentError: for crow_indices that do not rise from 0 to the count

    Example:
        >>> badak.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3)).to_dense().tolist()
        [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]]
    """
    check_place(device)
    return _by_lines("sparse_csr_tensor", layouts.sparse_csr, crow_indices, col_indices, values, size, dtype, requires_grad)


def sparse_csc_tensor(
    ccol_indices: Tensor | int | Sequence[int],
    row_indices: Tensor | Sequence[float],
    values: Tensor | Sequence[float] | list,
    size: Sequence[int] | None = None,
    *,
    dtype: DType | None = None,
    device: Device = None,
    pin_memory: bool | None = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A sparse matrix by columns: as sparse_csr_tensor, rows and columns exchanged.

    Args:
        ccol_indices: integers (columns + 1,)
        row_indices: integers (count,)
        values: (count, ...), of which each may be a tensor; a gradient that they want comes to them
        size: (rows, columns, ...); by default as many rows as are needed
        dtype: of the values
        device: accepted: "cpu"
        pin_memory: accepted; no effect
        requires_grad: whether a gradient is wanted, with respect to the values of the new tensor
        check_invariants: accepted; indices are always checked

    Returns: tensor of layout sparse_csc

    Raises:
        ArgumentError: for ccol_indices that do not rise from 0 to the count

    Example:
        >>> badak.sparse_csc_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).to_dense().tolist()
        [[0.0, 4.0], [3.0, 0.0]]
    """
    check_place(device)
    return _by_lines("sparse_csc_tensor", layouts.sparse_csc, ccol_indices, row_indices, values, size, dtype, requires_grad)


def to_dense(input: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """All values, with the zeros; a dense tensor as it is. dvalues: the gradient at their places.

    Args:
        input: a tensor of any layout
        dtype: of the result
        masked_grad: accepted; the gradient is that of the values

    Returns: a strided tensor

    Example:
        >>> badak.eye(2).to_sparse().to_dense().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    if isinstance(input, SparseTensor):
        x = to_sparse_coo(input)
        if x._at.shape[0]:
            input = index_put(zeros(x._size, dtype=x.dtype), tuple(x._at), x._entries, accumulate=True)
        else:
            input = x._entries.sum(0, dtype=x.dtype)
    return input if dtype is None else input.to(dtype)


def to_sparse(
    input: Tensor, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Tensor:
    """The tensor as a sparse one: what is not 0 and where it stands.

    Args:
        input: a tensor of any layout
        sparse_dim: how many dims are sparse, from the first on (COO); a layout is taken for `layout`
        layout: sparse_coo (None), sparse_csr or sparse_csc
        blocksize: refused: badak has no layouts of blocks
        dense_dim: refused but for 0 and None

    Returns: tensor of that layout

    Example:
        >>> badak.tensor([0.0, 5.0]).to_sparse().indices().tolist()
        [[1]]
    """
    if isinstance(sparse_dim, layouts.layout):
        sparse_dim, layout = None, sparse_dim
    if blocksize is not None or dense_dim:
        cause = tr("to_sparse: badak has no layouts of blocks, and no dense dims but of sparse_coo")
        raise ArgumentError(cause, "to_sparse(sparse_dim)")
    if layout in (None, layouts.sparse_coo):
        return _coo_of(input, sparse_dim)
    if layout not in (layouts.sparse_csr, layouts.sparse_csc):
        raise ArgumentError(tr("to_sparse: expected a sparse layout; got {}", layout), "layout=badak.sparse_csr")
    return _lines_of(input, layout)


def to_sparse_coo(input: Tensor) -> CooTensor:
    """to_sparse of layout sparse_coo.

    Args:
        input: a tensor of any layout

    Returns: tensor of layout sparse_coo

    Example:
        >>> badak.eye(2).to_sparse_csr().to_sparse_coo().indices().tolist()
        [[0, 1], [0, 1]]
    """
    return _coo_of(input, None)


def _to_lines(layout: str, indices: str) -> Callable[..., Tensor]:
    kind = getattr(layouts, layout)

    def function(input: Tensor, dense_dim: int | None = None) -> Tensor:
        return to_sparse(input, layout=kind, dense_dim=dense_dim)

    return named(function, f"to_{layout}", _TO_LINES.format(layout=layout, indices=indices))


_TO_LINES = """A matrix as a sparse one of layout {layout}.

Args:
    input: a matrix of any layout
    dense_dim: refused but for 0 and None

Returns: tensor of layout {layout}

Example:
    >>> badak.eye(2).to_{layout}().{indices}().tolist()
    [0, 1, 2]
"""
to_sparse_csr, to_sparse_csc = _to_lines("sparse_csr", "crow_indices"), _to_lines("sparse_csc", "ccol_indices")


def coalesce(input: Tensor) -> Tensor:
    """The same COO tensor with its places in order, each once, and their values added up.

    Args:
        input: a tensor of layout sparse_coo

    Returns: a coalesced tensor

    Example:
        >>> badak.sparse_coo_tensor([[1, 1]], [1.0, 2.0]).coalesce().values().tolist()
        [3.0]
    """
    x = expect_coo("coalesce", input)
    if x._tidy:
        return x
    places, first, number = distinct(x._at._array, x._size)
    entries = x._entries
    if entries.dtype is dtypes.bool_:
        summed = index_add(zeros(len(first), *entries.shape[1:], dtype=dtypes.int64), 0, Tensor._of(number), entries.long()).bool()
    else:
        summed = index_add(zeros(len(first), *entries.shape[1:], dtype=x.dtype), 0, Tensor._of(number), entries)
    return coo(Tensor._of(np.ascontiguousarray(places)), summed, x._size, True)


def sparse_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The values of input at the places of a sparse tensor.

    Args:
        input: a dense tensor, or a sparse one
        mask: a sparse tensor of input's shape

    Returns: a tensor with mask's layout and places

    Example:
        >>> badak.ones(2, 2).sparse_mask(badak.eye(2).to_sparse()).values().tolist()
        [1.0, 1.0]
    """
    if not isinstance(mask, SparseTensor):
        raise ArgumentTypeError(tr("sparse_mask: expected a sparse mask; got layout {}", mask.layout), "mask.to_sparse()")
    if input.shape != mask.shape:
        cause = tr("sparse_mask: expected a mask of input's shape {}; got {}", tuple(input.shape), tuple(mask.shape))
        raise ShapeError(cause, "a mask of that shape")
    return mask.like(to_dense(input)[tuple(to_sparse_coo(mask)._at)])


def _convert_indices_from_coo_to_csr(input: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of `size` rows begins, and the last one ends, among row indices in order."""
    count = np.bincount(input._array, minlength=size)
    if count.size > size:
        raise IndexOutOfRangeError(tr("expected row indices in 0 .. {}; got {}", size - 1, count.size - 1), f"size={count.size}")
    return Tensor._of(np.concatenate([[0], np.cumsum(count)]).astype(np.int32 if out_int32 else np.int64))


def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """(2, count): the row and the column of each value of a CSR tensor; the other way round where `transpose`."""
    kind = np.int32 if out_int32 else np.int64
    both = [np.repeat(np.arange(crow_indices.numel() - 1), np.diff(crow_indices._array)), col_indices._array]
    return Tensor._of(np.stack(both[:: -1 if transpose else 1]).astype(kind))


def _size(where: str, size: Any) -> tuple[int, ...]:
    try:
        shape = tuple(int(n) for n in size)
    except (TypeError, ValueError):
        raise ArgumentTypeError(tr("{}: expected a size of integers; got {!r}", where, size), "size=(rows, columns)") from None
    if any(n < 0 for n in shape) or dtypes.Size(shape).numel() >= 2**63:
        cause = tr("{}: expected sizes from 0 on and fewer than 2^63 places; got {}", where, list(shape))
        raise ShapeError(cause, "size=(rows, columns)")
    return shape


def _places(indices: Any) -> Tensor:
    """Indices (dims, count) as int64; floats where they are integers, which PyTorch takes, too."""
    made = as_tensor(indices)
    if not isinstance(made, SparseTensor) and made.is_floating_point() and bool((made == made.long()).all()):
        made = made.long()
    return _integers("sparse_coo_tensor", "indices", made).long()


def _integers(where: str, name: str, data: Any) -> Tensor:
    made = as_tensor(data)
    if isinstance(made, SparseTensor) or (made.dtype not in _INTS and made.numel()):
        cause = tr("{}: expected {} of dtype int64 or int32; got {}, {}", where, name, made.dtype, made.layout)
        raise DTypeError(cause, f"{name}.long()")
    return made if made.dtype in _INTS else made.long()


def _dense(where: str, data: Any, dtype: Any) -> Tensor:
    made = as_tensor(data, dtype=dtype)
    if isinstance(made, SparseTensor):
        raise ArgumentTypeError(tr("{}: expected dense values; got layout {}", where, made.layout), "x.values()")
    return made


def _fitting(place: np.ndarray, filled: Tensor, size: Any) -> tuple[int, ...]:
    """The size, checked against the places."""
    least = place.min(1).tolist() if place.shape[1] else [0] * len(place)
    most = (place.max(1) + 1).tolist() if place.shape[1] else [0] * len(place)
    shape = _size("sparse_coo_tensor", (*most, *filled.shape[1:]) if size is None else size)
    if len(shape) != len(most) + filled.ndim - 1 or shape[len(most) :] != tuple(filled.shape[1:]):
        cause = tr("sparse_coo_tensor: number of dimensions must be sparse_dim ({}) + dense_dim ({}), the last "
                   "ones as those of the values {}; got size={}", len(most), filled.ndim - 1, tuple(filled.shape),
                   list(shape))  # fmt: skip
        raise ShapeError(cause, "size=(sparse sizes, dense sizes)")
    for dim, (low, high, n) in enumerate(zip(least, most, shape)):
        if low < 0:
            raise IndexOutOfRangeError(tr("sparse_coo_tensor: found negative index {} for dim {}", low, dim), "indices from 0")
        if high > n:
            cause = tr(
                "sparse_coo_tensor: size is inconsistent with indices: for dim {}, size is {} but found index {}", dim, n, high - 1
            )
            raise IndexOutOfRangeError(cause, "a larger size, or none")
    return shape


def _tidy(place: np.ndarray, size: tuple[int, ...]) -> bool:
    """Whether the places are in order and none stands twice."""
    if place.shape[1] < 2:
        return True
    keys = np.ravel_multi_index(tuple(place), size[: len(place)]) if len(place) else np.zeros(place.shape[1])
    return bool((np.diff(keys) > 0).all())


def _wanted(made: SparseTensor, filled: Tensor, requires_grad: bool) -> SparseTensor:
    """The new tensor, not a leaf where its values want a gradient, a leaf with a gradient of its own where that is asked for."""
    if filled.requires_grad:
        made._entries = filled.view_as(filled)
    elif requires_grad:
        made._entries = filled.detach().requires_grad_()
    return made


def _by_lines(where: str, layout: Any, starts: Any, places: Any, values: Any, size: Any, dtype: Any, requires_grad: bool):
    lines, across, filled = _integers(where, "starts", starts), _integers(where, "places", places), _dense(where, values, dtype)
    by_rows = layout is layouts.sparse_csr
    if lines.ndim != 1 or across.ndim != 1 or filled.ndim < 1 or lines.shape[0] < 1 or across.shape[0] != filled.shape[0]:
        raise ShapeError(
            tr("{}: expected compressed indices (lines + 1,), plain indices (count,) and values (count, ...); got {}, {} and {}",
               where, tuple(lines.shape), tuple(across.shape), tuple(filled.shape)),
            "one matrix, with one index for each value",
        )  # fmt: skip
    n = int(across.max()) + 1 if across.numel() else 0
    inferred = ((lines.shape[0] - 1, n) if by_rows else (n, lines.shape[0] - 1)) + filled.shape[1:]
    shape = _size(where, inferred if size is None else size)
    along, over = (*shape, 0, 0)[:2] if by_rows else (*shape, 0, 0)[1::-1]
    if len(shape) < 2 or shape[2:] != filled.shape[1:] or along != lines.shape[0] - 1:
        cause = tr("{}: expected a size of two dims and those of a value {}, and one compressed index more than lines; got size={} "
                   "and {} of them", where, tuple(filled.shape[1:]), list(shape), lines.shape[0])  # fmt: skip
        raise ShapeError(cause, f"size={inferred}")
    steps = np.diff(lines._array)
    if lines[0] != 0 or lines[-1] != filled.shape[0] or (steps < 0).any():
        cause = tr("{}: compressed indices must rise from 0 to the count of values, {}; got {}", where, filled.shape[0],
                   lines._array[:8].tolist())  # fmt: skip
        raise ArgumentError(cause, "running sums of the count of each line, from 0")
    if across.numel() and (int(across.min()) < 0 or n > over):
        cause = tr("{}: expected plain indices in 0 .. {}; got {} .. {}", where, over - 1, int(across.min()), n - 1)
        raise IndexOutOfRangeError(cause, f"size={inferred}")
    inside = np.repeat(np.arange(along), steps)
    if (np.diff(across._array)[np.diff(inside) == 0] <= 0).any():
        raise ArgumentError(tr("{}: plain indices must rise within each line", where), "sparse_coo_tensor(...).to_sparse_csr()")
    return _wanted(compressed(lines, across, filled, shape, layout), filled, requires_grad)


def _coo_of(input: Tensor, sparse_dim: Any) -> CooTensor:
    if isinstance(input, CooTensor):
        if sparse_dim not in (None, input._at.shape[0]):
            cause = tr("to_sparse: it has {} sparse dims; {} asked for", input._at.shape[0], sparse_dim)
            raise ArgumentError(cause, "x.to_dense() first")
        return input
    if isinstance(input, CompressedTensor):
        tidy = input.layout is layouts.sparse_csr
        at = _convert_indices_from_csr_to_coo(input._starts, input._places, transpose=not tidy)
        return coo(at, input._entries, input._size, tidy)
    ndim = input.ndim
    sparse = ndim if sparse_dim is None else sparse_dim
    if not isinstance(sparse, int) or not 0 <= sparse <= ndim or (ndim and not sparse):
        raise ArgumentError(tr("to_sparse: expected sparse_dim in 1 .. {}; got {!r}", ndim, sparse), f"sparse_dim={ndim}")
    array = input._array
    there = array.astype(bool) if array.dtype.kind == "V" else array != 0
    place = np.stack(np.nonzero(there.any(axis=tuple(range(sparse, ndim))))) if ndim else np.empty((0, int(there)), np.int64)
    at = Tensor._of(place.astype(np.int64))
    return coo(at, input[tuple(at)] if ndim else input.reshape(1)[: int(there)], input.shape, True)


def _lines_of(input: Tensor, layout: Any) -> Tensor:
    if isinstance(input, CompressedTensor) and input.layout is layout:
        return input
    x: Any = coalesce(_coo_of(input, None))
    if x._at.shape[0] != 2:
        raise ShapeError(tr("to_sparse: layout {} is that of matrices; got {}", layout, tuple(input.shape)), "to_sparse()")
    along, across = x._at._array if layout is layouts.sparse_csr else x._at._array[::-1]
    entries = x._entries
    if layout is layouts.sparse_csc:
        order = np.argsort(along, kind="stable")
        along, across, entries = along[order], across[order], entries[Tensor._of(order)]
    starts = _convert_indices_from_coo_to_csr(Tensor._of(along), input.shape[0 if layout is layouts.sparse_csr else 1])
    return compressed(starts, Tensor._of(np.ascontiguousarray(across)), entries, input.shape, layout)
