"""What a sparse tensor is: the tensor of its values, a dense one with a history of its own, and integers that say where they stand.

It has no array: what asks for one meets an error, so that no operation takes it for a dense tensor. Public functions are
answered by `__torch_function__`, from the table FUNCTIONS, which the other files of this folder fill.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, NoReturn

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentTypeError, DTypeError, GraphError, NotSupportedError, ShapeError, package, tr, undefined
from badak.core.modes import modes
from badak.ops.rows import Rows
from badak.tensor import dtypes, layouts
from badak.tensor.attributes import held_by
from badak.tensor.of_values import OfValues, made, name_of, tensors_among
from badak.tensor.printing import format_sparse
from badak.tensor.promote import can_cast, into
from badak.tensor.properties import Always
from badak.tensor.tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # the public functions that know sparse tensors, by name
TAKE_DENSE: set[str] = set()  # of these, those whose first argument may be dense where another one is sparse
DENSE = "x.to_dense()"


def expect_arguments(name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> None:
    """Raise ArgumentTypeError where a function of sparse tensors does not take these arguments."""
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as wrong:
        cause = tr("{} of a sparse tensor: {}", name, wrong)
        raise ArgumentTypeError(cause, "x.to_dense() takes whatever a dense tensor does") from None


class SparseTensor(OfValues):
    """What the layouts have in common."""

    word, by_hand = "sparse", "a sparse tensor is used"

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]
        raise NotSupportedError(tr("this operation does not know sparse tensors (layout {})", self.layout), DENSE)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = name_of(func)
        events.user_code(cls.by_hand)
        given = tensors_among(args, kwargs)
        kind = next(x.layout for x in given if isinstance(x, SparseTensor))
        known = name in FUNCTIONS and func.__module__ in ("badak", "badak.Tensor", "badak.nn.functional")
        if known and (name in TAKE_DENSE or isinstance(given[0], SparseTensor)):
            named = dict(kwargs or {})
            out = named.pop("out", None)
            try:
                made = FUNCTIONS[name](*args, **named)
            except TypeError as error:
                expect_arguments(name, FUNCTIONS[name], args, named)
                raise error
            return made if out is None else written(name, out, made, given)
        raise NotSupportedError(tr("{} does not know sparse tensors (layout {})", name, kind), DENSE)

    def parts(self) -> dict[str, Tensor]:
        """The integers by the names that they have when the tensor prints."""
        raise undefined(self, "def parts(self)")

    def __iter__(self):
        return (FUNCTIONS["select"](self, 0, i) for i in range(self._size[0]))

    def __repr__(self, **options) -> str:
        self._entries._read("str()")
        return format_sparse(self)


def become(x: Any, made: Any) -> Tensor:
    """x, which is what was made."""
    if not isinstance(x, SparseTensor) or type(made) is not type(x) or made.layout is not x.layout or made.dtype is not x.dtype:
        raise NotSupportedError("an operation in place must keep layout and dtype; this one would change them", "y = x * other")
    if x.requires_grad and x.is_leaf:
        raise NotSupportedError("a leaf that requires grad, and is sparse, is not changed in place", "x = x * other")
    held_by(x).update(held_by(made))
    return x


def as_dtype_of(x: Tensor, made: Tensor) -> Tensor:
    """What was made, in x's dtype where it may go there."""
    if not can_cast(made.dtype, x.dtype):
        raise DTypeError(tr("result type {} can't be cast to the desired output type {}", made.dtype, x.dtype), "x = x.sin()")
    return made.to(x.dtype)


def written(name: str, out: Any, made: Any, given: list[Any]) -> Tensor:
    """`out`, which holds what was made."""
    if modes.grad and any(getattr(x, "requires_grad", False) for x in given):
        cause = tr("{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
                   "requires grad.", name)  # fmt: skip
        raise GraphError(cause, "with badak.no_grad(), or without out=")
    if not isinstance(out, Tensor) or out.layout is not made.layout:
        cause = tr("{}: the result is {}, and out= is not", name, made.layout)
        raise NotSupportedError(cause, "without out=")
    if not isinstance(out, SparseTensor):
        return into(out, made)
    return become(out, as_dtype_of(out, made))


class CooTensor(SparseTensor):
    """values[k] at the place indices[:, k] and 0 elsewhere; what stands at one place twice counts as its sum."""

    is_sparse = Always(True)  # PyTorch says so of this layout only
    layout = Always(layouts.sparse_coo)
    _at: Tensor  # int64 (sparse dims, count)
    _tidy: bool  # coalesced: places in order, none twice
    _claimed: bool = False  # the program says so, by `_coalesced_`: it may read the places, and nothing relies on it

    def like(self, entries: Tensor, size: Any = None) -> "CooTensor":
        return coo(self._at, entries, self._size if size is None else size, self._tidy)

    def parts(self) -> dict[str, Tensor]:
        return {"indices": self._at}

    def as_rows(self) -> Rows | None:
        """As what a gradient of a table is in the walk back; None where more than the first dim is sparse."""
        return Rows(self._at._array[0], self._entries._array, tuple(self._size)) if self._at.shape[0] == 1 else None

    def same_values(self, dy: Tensor) -> "CooTensor":
        """Of a place that stands there more than once each entry has the gradient of the place: one of them is it."""
        if self._tidy:
            return self.like(dy)
        places, first, _ = distinct(self._at._array, self._size)
        return coo(Tensor._of(places), dy[Tensor._of(first)], self._size, True)


class CompressedTensor(SparseTensor):
    """A matrix by rows (CSR) or by columns (CSC): line n has the values starts[n] .. starts[n + 1] - 1, each at its place there."""

    _layout: Any  # sparse_csr or sparse_csc
    _starts: Tensor
    _places: Tensor

    layout = property(lambda self: self._layout)  # type: ignore[assignment]
    is_sparse_csr = property(lambda self: self._layout is layouts.sparse_csr)  # type: ignore[assignment]

    def like(self, entries: Tensor, size: Any = None) -> "CompressedTensor":
        return compressed(self._starts, self._places, entries, self._size if size is None else size, self.layout)

    def parts(self) -> dict[str, Tensor]:
        names = ("crow_indices", "col_indices") if self.layout is layouts.sparse_csr else ("ccol_indices", "row_indices")
        return dict(zip(names, (self._starts, self._places)))


SparseTensor._is_badaks = CooTensor._is_badaks = CompressedTensor._is_badaks = False  # so that public functions ask them


def coo(at: Tensor, entries: Tensor, size: Any, tidy: bool) -> CooTensor:
    """A COO tensor of parts that fit."""
    return made(CooTensor, _size=dtypes.Size(size), _at=at, _entries=entries, _tidy=tidy)


def compressed(starts: Tensor, places: Tensor, entries: Tensor, size: Any, layout: Any) -> CompressedTensor:
    """A CSR or CSC tensor of parts that fit."""
    return made(
        CompressedTensor,
        _size=dtypes.Size(size),
        _starts=starts,
        _places=places,
        _entries=entries,
        _layout=layout,
    )


def distinct(at: np.ndarray, size: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the places in order, each once; where each first stands; for each column of `at` which place it is)."""
    keys = np.ravel_multi_index(tuple(at), size[: len(at)]) if at.size else np.zeros(at.shape[1], np.int64)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return at[:, first], first, number.reshape(-1)


def expect_coo(where: str, x: Any) -> CooTensor:
    """x, which must be a COO tensor."""
    if not isinstance(x, CooTensor):
        found = x.layout if isinstance(x, Tensor) else type(x).__name__
        cause = tr("{}: expected a tensor of layout {}.sparse_coo; got {}", where, package(), found)
        raise ArgumentTypeError(cause, "x.to_sparse()")
    return x


def expect_compressed(where: str, x: Any, layout: Any) -> CompressedTensor:
    """x, which must be a CSR tensor, or a CSC one."""
    if not isinstance(x, CompressedTensor) or x.layout is not layout:
        found = x.layout if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(tr("{}: expected a tensor of layout {}; got {}", where, layout, found), f"x.to_{layout.name}()")
    return x


def need_matrix(where: str, x: SparseTensor) -> None:
    """Raise unless x has two dims, both sparse."""
    if len(x.shape) != 2 or x._entries.ndim != 1:
        cause = tr("{}: expected a sparse matrix with two sparse dims; got {}", where, tuple(x.shape))
        raise ShapeError(cause, "a matrix, or x.to_dense()")


def _of_rows(rows: Rows) -> CooTensor:
    return coo(Tensor._of(rows.ids[None]), Tensor._of(rows.values), rows.shape, False)


Rows.as_tensor = staticmethod(_of_rows)
