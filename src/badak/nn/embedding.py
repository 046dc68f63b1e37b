"""Embedding: a table of vectors, one for each token."""

from typing import Any

from badak.autograd import no_grad
from badak.core.errors import ArgumentError, ArgumentTypeError, ShapeError, tr
from badak.nn import functional as F
from badak.nn import init
from badak.nn.errors import kind
from badak.nn.module import Module
from badak.nn.parameter import Parameter
from badak.tensor import Tensor, empty
from badak.tensor.dtypes import Device
from badak.tensor.dtypes import dtype as DType  # noqa: N812


class _TableError(ShapeError, AssertionError):
    """A table of the wrong shape (PyTorch asserts it)."""


class _Table(Module):
    padding_idx: int | None

    def reset_parameters(self) -> None:
        """Draw the table again."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """y = W[ids].

    ids (...) of integers in 0 .. num_embeddings - 1 -> y (..., embedding_dim). W starts normal(0, 1).

    Args:
        num_embeddings: rows V of the table
        embedding_dim: channels C of a row
        padding_idx: this row starts at 0 and gets no gradient
        max_norm, norm_type: rows that are looked up are first scaled, in place, to a norm of at most max_norm
        scale_grad_by_freq: the gradient of a row is divided by how often it occurs in ids
        sparse: the gradient of the table is a sparse tensor, for SGD, Adagrad and SparseAdam
        device, dtype: of the table; float32 on the CPU by default

    Returns: module; `forward` maps integer ids (...) to (..., C)

    Raises:
        IndexOutOfRangeError: from `forward`, for an id outside 0 .. V - 1

    Example:
        >>> table = nn.Embedding(10, 4)
        >>> tuple(table(badak.tensor([[1, 2, 3]])).shape)
        (1, 3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row(padding_idx, num_embeddings)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        if _weight is None:
            table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            _check_table(_weight, num_embeddings, embedding_dim)
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> "Embedding":
        """An Embedding with the given table (V, C), by default not trained."""
        rows, width = _sizes(embeddings)
        return cls(rows, width, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        defaults = {"padding_idx": None, "max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False, "sparse": False}
        changed = [f"{name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value]
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *changed])


class EmbeddingBag(_Table):
    """The sum, mean or max of the rows of each bag of ids: see nn.functional.embedding_bag."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.max_norm, self.norm_type, self.scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self.mode, self.sparse, self.include_last_offset = mode, sparse, include_last_offset
        self.padding_idx = _row(padding_idx, num_embeddings)
        if _weight is not None:
            _check_table(_weight, num_embeddings, embedding_dim)
        table = empty(num_embeddings, embedding_dim, device=device, dtype=dtype) if _weight is None else _weight
        self.weight = Parameter(table)
        if _weight is None:
            self.reset_parameters()

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> "EmbeddingBag":
        """An EmbeddingBag with the given table (V, C), by default not trained."""
        rows, width = _sizes(embeddings)
        made = cls(rows, width, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx)
        made.weight.requires_grad = not freeze
        return made

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        defaults = {"max_norm": None, "norm_type": 2.0, "scale_grad_by_freq": False}
        changed = [f"{name}={getattr(self, name)}" for name, value in defaults.items() if getattr(self, name) != value]
        rest = [] if self.padding_idx is None else [f"padding_idx={self.padding_idx}"]
        return ", ".join([str(self.num_embeddings), str(self.embedding_dim), *changed, f"mode={self.mode!r}", *rest])


def _row(padding_idx: int | None, rows: int) -> int | None:
    """`padding_idx` counted from the start."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        cause = tr("Padding_idx must be within num_embeddings: padding_idx={}, rows 0..{}", padding_idx, rows - 1)
        raise ArgumentError(cause, tr("num_embeddings={} or another padding_idx", padding_idx + 1))
    return padding_idx % rows


def _sizes(table: Tensor) -> tuple[int, int]:
    if not isinstance(table, Tensor):
        cause = tr("{} takes a tensor; got {}", "from_pretrained", kind(table))
        raise ArgumentTypeError(cause, "from_pretrained(badak.tensor(data))")
    if table.dim() != 2:
        cause = tr("Embeddings parameter is expected to be 2-dimensional (V, C), got {}", tuple(table.shape))
        raise _TableError(cause, "table[None] of one row")
    return table.shape[0], table.shape[1]


def _check_table(weight: Tensor, rows: int, width: int) -> None:
    if tuple(weight.shape) != (rows, width):
        cause = tr("Shape of weight does not match num_embeddings and embedding_dim: {} vs {}", tuple(weight.shape), (rows, width))
        raise _TableError(cause)
