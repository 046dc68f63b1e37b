"""What a sparse tensor is: the tensor of its values, a dense one with a history of its own, and integers that say where they stand.

It has no array: what asks for one meets an error, so that no operation takes it for a dense tensor. Public functions are
answered by `__torch_function__`, from the table FUNCTIONS, which the other files of this folder fill.
"""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any, NoReturn

import numpy as np

from badak.core import events
from badak.core.errors import ArgumentTypeError, NotSupportedError, ShapeError, package, undefined
from badak.core.public_api import overriding
from badak.ops.rows import Rows
from badak.tensor import dtypes, layouts
from badak.tensor.attributes import held_by
from badak.tensor.printing import format_sparse
from badak.tensor.tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # the public functions that know sparse tensors, by name
TAKE_DENSE: set[str] = set()  # of these, those whose first argument may be dense where another one is sparse
DENSE = "x.to_dense()"
BY_HAND = "a sparse tensor is used"  # a recording of arrays does not see where its values stand


class SparseTensor(Tensor):
    """What the layouts have in common."""

    _size: dtypes.Size
    _entries: Tensor  # the values, (count, *dense dims)

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]
        raise NotSupportedError(f"this operation does not know sparse tensors (layout {self.layout})", DENSE)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = _name_of(func)
        events.user_code(BY_HAND)
        given = _all(args, kwargs)
        kind = next(x.layout for x in given if isinstance(x, SparseTensor))
        known = name in FUNCTIONS and func.__module__ in ("badak", "badak.Tensor", "badak.nn.functional")
        if known and (name in TAKE_DENSE or isinstance(given[0], SparseTensor)):
            return FUNCTIONS[name](*args, **(kwargs or {}))
        raise NotSupportedError(f"{name} does not know sparse tensors (layout {kind})", DENSE)

    def like(self, entries: Tensor, size: Any = None) -> "SparseTensor":
        """These values at the places of this tensor."""
        raise undefined(self, "def like(self, entries, size=None)")

    def parts(self) -> dict[str, Tensor]:
        """The integers by the names that they have when the tensor prints."""
        raise undefined(self, "def parts(self)")

    def same_values(self, dy: Tensor) -> "SparseTensor":
        """The gradient of this tensor, of the gradient of its values."""
        return self.like(dy)

    @property
    def shape(self) -> dtypes.Size:
        return self._size

    @property
    def dtype(self) -> dtypes.dtype:
        return self._entries.dtype

    @property
    def ndim(self) -> int:
        return len(self._size)

    @property
    def requires_grad(self) -> bool:
        return self._entries.requires_grad

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self._entries.requires_grad_(wanted)

    @property
    def is_leaf(self) -> bool:
        return self._entries.is_leaf

    @property
    def grad_fn(self):
        return self._entries.grad_fn

    @property
    def grad(self) -> Tensor | None:
        dy = self._entries.grad if self._entries.is_leaf else None
        return None if dy is None else self.same_values(dy)

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            raise NotSupportedError(
                "the gradient of a sparse tensor cannot be set", "x.grad = None, or values that require gradients"
            )
        self._entries.grad = None

    @property
    def data(self) -> Tensor:  # type: ignore[override]
        return self.like(self._entries.detach())

    @data.setter
    def data(self, value: Tensor) -> None:
        raise NotSupportedError("the data of a sparse tensor cannot be set", "y = badak.sparse_coo_tensor(indices, values, size)")

    def _edge(self):
        return self._entries._edge()

    def _accumulate(self, dy, owned: bool) -> None:
        self._entries._accumulate(dy, owned)

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            twin = self.like(deepcopy(self._entries, memo))
            vars(twin).update({name: deepcopy(part, memo) for name, part in held_by(self).items() if name != "_entries"})
            memo[id(self)] = twin
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return _again, (type(self), dict(held_by(self)))

    def __len__(self) -> int:
        return self._size[0]

    def __iter__(self):
        return (FUNCTIONS["select"](self, 0, i) for i in range(self._size[0]))

    def __format__(self, spec: str) -> str:
        return str(self)

    def __repr__(self, **options) -> str:
        self._entries._read("str()")
        return format_sparse(self)


class CooTensor(SparseTensor):
    """values[k] at the place indices[:, k] and 0 elsewhere; what stands at one place twice counts as its sum."""

    is_sparse = True  # PyTorch says so of this layout only
    layout = layouts.sparse_coo
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

    layout: Any  # sparse_csr or sparse_csc
    _starts: Tensor
    _places: Tensor

    def like(self, entries: Tensor, size: Any = None) -> "CompressedTensor":
        return compressed(self._starts, self._places, entries, self._size if size is None else size, self.layout)

    def parts(self) -> dict[str, Tensor]:
        names = ("crow_indices", "col_indices") if self.layout is layouts.sparse_csr else ("ccol_indices", "row_indices")
        return dict(zip(names, (self._starts, self._places)))


SparseTensor._is_badaks = CooTensor._is_badaks = CompressedTensor._is_badaks = False  # so that public functions ask them


def coo(at: Tensor, entries: Tensor, size: Any, tidy: bool) -> CooTensor:
    """A COO tensor of parts that fit."""
    return _made(CooTensor, _size=dtypes.Size(size), _at=at, _entries=entries, _tidy=tidy)


def compressed(starts: Tensor, places: Tensor, entries: Tensor, size: Any, layout: Any) -> CompressedTensor:
    """A CSR or CSC tensor of parts that fit."""
    return _made(
        CompressedTensor,
        _size=dtypes.Size(size),
        _starts=starts,
        _places=places,
        _entries=entries,
        layout=layout,
        is_sparse_csr=layout is layouts.sparse_csr,
    )


def _made(kind: type, **state: Any) -> Any:
    if kind not in overriding.active:
        overriding.add(kind)
    events.user_code(BY_HAND)
    made: Any = object.__new__(kind)
    held_by(made).update(state)
    return made


def _again(kind: type, state: dict) -> SparseTensor:
    return _made(kind, **state)


def distinct(at: np.ndarray, size: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the places in order, each once; where each first stands; for each column of `at` which place it is)."""
    keys = np.ravel_multi_index(tuple(at), size[: len(at)]) if at.size else np.zeros(at.shape[1], np.int64)
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return at[:, first], first, number.reshape(-1)


def expect_coo(where: str, x: Any) -> CooTensor:
    """x, which must be a COO tensor."""
    if not isinstance(x, CooTensor):
        found = x.layout if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(f"{where}: expected a tensor of layout {package()}.sparse_coo; got {found}", "x.to_sparse()")
    return x


def expect_compressed(where: str, x: Any, layout: Any) -> CompressedTensor:
    """x, which must be a CSR tensor, or a CSC one."""
    if not isinstance(x, CompressedTensor) or x.layout is not layout:
        found = x.layout if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(f"{where}: expected a tensor of layout {layout}; got {found}", f"x.to_{layout.name}()")
    return x


def need_matrix(where: str, x: SparseTensor) -> None:
    """Raise unless x has two dims, both sparse."""
    if len(x.shape) != 2 or x._entries.ndim != 1:
        raise ShapeError(
            f"{where}: expected a sparse matrix with two sparse dims; got {tuple(x.shape)}", "a matrix, or x.to_dense()"
        )


def _all(args: Any, kwargs: dict | None) -> list:
    found: list[Any] = []
    for value in (*args, *(kwargs or {}).values()):
        found += value if isinstance(value, list | tuple) else [value]
    return found


@cache
def _name_of(func: Callable) -> str:
    """The public name of a function: operators and properties do not carry theirs."""
    for name, value in vars(Tensor).items():
        if value is func or (isinstance(value, property) and func in (value.fget, value.fset)):
            return name
    return getattr(func, "__name__", str(func))


def _of_rows(rows: Rows) -> CooTensor:
    return coo(Tensor._of(rows.ids[None]), Tensor._of(rows.values), rows.shape, False)


Rows.as_tensor = staticmethod(_of_rows)
