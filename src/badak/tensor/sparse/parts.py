"""What a sparse tensor says of itself: its places, its values, how many there are."""

from badak.core.errors import ArgumentError, ArgumentTypeError, tr
from badak.tensor import layouts
from badak.tensor.sparse.layout import CompressedTensor, CooTensor, SparseTensor, expect_compressed, expect_coo
from badak.tensor.tensor import Tensor


def indices(input: Tensor) -> Tensor:
    """(sparse dims, count): the places of a coalesced COO tensor."""
    return _coalesced("indices", input)._at


def values(input: Tensor) -> Tensor:
    """The values of a CSR tensor or a coalesced COO tensor, with their history."""
    if isinstance(input, CompressedTensor):
        return input._entries
    return _coalesced("values", input)._entries


def _indices(input: Tensor) -> Tensor:
    """(sparse dims, count): the places of a COO tensor, coalesced or not."""
    return expect_coo("_indices", input)._at


def _values(input: Tensor) -> Tensor:
    """The values of a COO tensor, coalesced or not, without history."""
    return expect_coo("_values", input)._entries.detach()


def _coalesced(name: str, input: Tensor) -> CooTensor:
    x = expect_coo(name, input)
    if not (x._tidy or x._claimed):
        cause = tr("Cannot get {} on an uncoalesced tensor, please call .coalesce() first", name)
        raise ArgumentError(cause, f"x.coalesce().{name}()")
    return x


def crow_indices(input: Tensor) -> Tensor:
    """Where the rows of a CSR tensor begin and end in its values."""
    return expect_compressed("crow_indices", input, layouts.sparse_csr)._starts


def col_indices(input: Tensor) -> Tensor:
    """The column of each value of a CSR tensor."""
    return expect_compressed("col_indices", input, layouts.sparse_csr)._places


def ccol_indices(input: Tensor) -> Tensor:
    """Where the columns of a CSC tensor begin and end in its values."""
    return expect_compressed("ccol_indices", input, layouts.sparse_csc)._starts


def row_indices(input: Tensor) -> Tensor:
    """The row of each value of a CSC tensor."""
    return expect_compressed("row_indices", input, layouts.sparse_csc)._places


def is_coalesced(input: Tensor) -> bool:
    """Whether the places of a COO tensor are known to be in order, none twice."""
    x = expect_coo("is_coalesced", input)
    return x._tidy or x._claimed


def _coalesced_(input: Tensor, coalesced: bool) -> Tensor:
    """Say of a COO tensor that its places are in order, none twice."""
    x = expect_coo("_coalesced_", input)
    x._claimed = bool(coalesced)
    return x


def sparse_dim(input: Tensor) -> int:
    """How many dims are sparse; 0 of a dense tensor."""
    return input._at.shape[0] if isinstance(input, CooTensor) else 2 if isinstance(input, CompressedTensor) else 0


def dense_dim(input: Tensor) -> int:
    """How many dims are dense."""
    return input.ndim - sparse_dim(input)


def _nnz(input: Tensor) -> int:
    """How many values a sparse tensor holds."""
    if not isinstance(input, SparseTensor):
        raise ArgumentTypeError(tr("_nnz: expected a sparse tensor; got layout {}", input.layout), "x.count_nonzero()")
    return input._entries.shape[0]
