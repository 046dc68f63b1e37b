"""Coordinates of grids, and combinations of entries."""

import itertools

import numpy as np

from badak.core.errors import ArgumentError, DTypeError, ShapeError, tr
from badak.tensor.concat import stack
from badak.tensor.tensor import Tensor


def meshgrid(*tensors, indexing=None) -> tuple:
    """For vectors of lengths n0, n1, ...: one tensor of shape (n0, n1, ...) each, that runs along its own dim.

    indexing "xy" exchanges the first two dims; the default is "ij", as in PyTorch.
    """
    if len(tensors) == 1 and not isinstance(tensors[0], Tensor):
        tensors = tuple(tensors[0])
    if indexing not in (None, "ij", "xy"):
        raise ArgumentError(tr('meshgrid: indexing must be one of "xy" or "ij", but received: {}', indexing), None)
    if not tensors:
        raise ArgumentError("meshgrid expects a non-empty TensorList", "meshgrid(x, y)")
    _need_vectors("meshgrid", tensors, 1)
    if len({x.dtype for x in tensors}) > 1:
        raise DTypeError("meshgrid expects all tensors to have the same dtype", "x.to(y.dtype)")
    vectors = [x.reshape(-1) for x in tensors]
    shape = [x._array.size for x in vectors]
    n = len(vectors)
    grids = [x.reshape([-1 if a == k else 1 for a in range(n)]).expand(shape) for k, x in enumerate(vectors)]
    return tuple(g.transpose(0, 1) if indexing == "xy" and n > 1 else g for g in grids)


def _need_vectors(name: str, tensors: tuple, or_number: int) -> None:
    for i, x in enumerate(tensors):
        if not 1 - or_number <= x.dim() <= 1:
            raise ShapeError(
                tr("{}: expected {}1D tensors; tensor {} has shape {}", name, tr("scalar or ") if or_number else "", i,
                   tuple(x.shape)),
                "x.flatten()",
            )  # fmt: skip


def cartesian_prod(*tensors) -> Tensor:
    """All combinations of one entry from each vector, as rows."""
    _need_vectors("cartesian_prod", tensors, 0)
    if len(tensors) == 1:
        return tensors[0]
    return stack([g.reshape(-1) for g in meshgrid(*tensors)], dim=1)


def combinations(input, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All combinations of r entries of a vector, as rows."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = np.array(list(choose(range(input._array.size), r)), np.int64).reshape(-1, r)
    return input[Tensor._of(rows)]
