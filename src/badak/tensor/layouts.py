"""Layouts and memory formats: words for how a tensor lies in memory. badak's are strided, and every order is accepted."""

import importlib
from typing import Any

import numpy as np

from badak.core.errors import ShapeError, package, tr


class _Word:
    """One named word."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return f"{package()}.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class layout(_Word):  # noqa: N801  (PyTorch's name)
    """How the values of a tensor are kept: `strided` is dense, see `tensor/sparse/` for the others."""


class memory_format(_Word):  # noqa: N801
    """In which order the dims of a dense tensor lie in memory. Layers of images keep it, as in PyTorch."""


strided = layout("strided")
sparse_coo = layout("sparse_coo")
sparse_csr = layout("sparse_csr")
sparse_csc = layout("sparse_csc")
jagged = layout("jagged")
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")


RANKS = {channels_last: 4, channels_last_3d: 5}  # dims of a tensor that can lie so


def order_asked(memory_format: Any, ndim: int) -> str | None:
    """The order that this format asks for, a word for `Clone`: "rows" or "channels"; None to keep the old one."""
    if memory_format is None or memory_format is preserve_format:
        return None
    if memory_format is contiguous_format:
        return "rows"
    rank = RANKS[memory_format]
    if ndim != rank:
        cause = tr("required rank {} tensor to use {} format; got {} dims", rank, memory_format.name, ndim)
        raise ShapeError(cause, "contiguous_format")
    return "channels"


def lies_so(array: np.ndarray, order: str) -> bool:
    """Whether the array lies in this order already, without gaps."""
    return (array if order == "rows" else np.moveaxis(array, 1, -1)).flags.c_contiguous


def no_values(shape: tuple, options: dict) -> Any:
    """What zeros and empty give for layout=sparse_coo: a sparse tensor that says nothing but its shape."""
    options = {name: value for name, value in options.items() if name != "layout"}
    return importlib.import_module("badak.tensor.sparse.create").sparse_coo_tensor(size=shape, **options)
