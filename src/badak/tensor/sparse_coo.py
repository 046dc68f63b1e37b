"""Sparse tensors, as far as programs make them, look at them and turn them dense: badak computes with dense ones."""

from typing import Any, NoReturn

from badak.core.errors import ArgumentError, IndexOutOfRangeError, NotSupportedError, ShapeError
from badak.tensor import dtypes
from badak.tensor.create import as_tensor, zeros
from badak.tensor.index import index_put
from badak.tensor.layouts import sparse_coo
from badak.tensor.tensor import Tensor


class SparseTensor(Tensor):
    """values[i] at the place indices[:, i] and 0 elsewhere; what stands at one place twice counts as its sum."""

    is_sparse, layout = True, sparse_coo
    _size: dtypes.Size
    _indices: Tensor
    _values: Tensor

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]
        raise NotSupportedError("badak does not compute with sparse tensors", "x.to_dense()")

    @property
    def shape(self) -> dtypes.Size:
        return self._size

    @property
    def dtype(self) -> dtypes.dtype:
        return self._values.dtype

    @property
    def ndim(self) -> int:
        return len(self._size)

    def size(self, dim: int | None = None):
        """The shape, or the size of one dim."""
        return self._size if dim is None else self._size[dim]

    def dim(self) -> int:
        return len(self._size)

    def numel(self) -> int:
        """How many places there are."""
        return self._size.numel()

    def indices(self) -> Tensor:
        """(sparse dims, count): the places that hold a value."""
        return self._indices

    def values(self) -> Tensor:
        """(count, ...): the value of each place."""
        return self._values

    def sparse_dim(self) -> int:
        """How many dims the places count."""
        return self._indices.shape[0]

    def _nnz(self) -> int:
        return self._indices.shape[1]

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
        """All values, with the zeros. dvalues: the gradient at their places."""
        dense = index_put(zeros(self._size, dtype=self.dtype), tuple(self._indices), self._values, accumulate=True)
        return dense if dtype is None else dense.to(dtype)

    def __repr__(self, **options) -> str:
        about = f"size={tuple(self._size)}, nnz={self._nnz()}, layout={self.layout}"
        return f"tensor(indices={self._indices},\n       values={self._values},\n       {about})"


def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype=None, device=None, requires_grad=False, check_invariants=None, is_coalesced=None
) -> Tensor:
    """A sparse tensor that has values[i] at indices[:, i]. What it can do is `to_dense()`.

    indices: (sparse dims, count), values: (count, ...), size: by default just large enough. dvalues: see to_dense.
    """
    if requires_grad:
        raise NotSupportedError("sparse_coo_tensor: badak has no gradients that are sparse", "values that require gradients")
    if values is None and (size is not None or indices is not None):
        shape = tuple(indices if size is None else size)
        place, filled = zeros(len(shape), 0, dtype=dtypes.int64), zeros(0, dtype=dtype, device=device)
    elif values is None or indices is None:
        raise ArgumentError("sparse_coo_tensor: expected indices and values, or a size", "sparse_coo_tensor(indices, values, size)")
    else:
        place, filled = as_tensor(indices, dtype=dtypes.int64), as_tensor(values, dtype=dtype, device=device)
        if place.dim() != 2 or filled.dim() < 1 or place.shape[1] != filled.shape[0]:
            raise ShapeError(
                f"sparse_coo_tensor: expected indices (dims, count) and values (count, ...); got {tuple(place.shape)} and "
                f"{tuple(filled.shape)}",
                "one column of indices for each value",
            )
        most = [int(row.max()) + 1 if row.numel() else 0 for row in place]
        shape = (*most, *filled.shape[1:]) if size is None else tuple(size)
        if len(shape) != len(most) + filled.dim() - 1 or any(n > s for n, s in zip(most, shape)) or (place < 0).any():
            raise IndexOutOfRangeError(f"sparse_coo_tensor: indices up to {most} do not lie in size {list(shape)}", "a larger size")
    made = object.__new__(SparseTensor)
    made._size, made._indices, made._values = dtypes.Size(shape), place, filled
    return made
