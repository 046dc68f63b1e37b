"""Whose memory an array sees. Everything that asks so asks here: recordings, views, storages, counts of bytes."""

from typing import Any

import numpy as np


def holder_of(array: Any) -> Any:
    """The object that holds the memory of an array, be it an array or not: a file's bytes, say."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array


def owner_of(array: np.ndarray) -> np.ndarray:
    """The outermost array on the memory of this one, which sees all of it that NumPy knows of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def is_read_only(array: np.ndarray) -> bool:
    """Whether nobody may write the memory of an array: a table of a kernel, which stays as it is."""
    holder = holder_of(array)
    return isinstance(holder, np.ndarray) and not holder.flags.writeable


def address(array: Any) -> int:
    """Where the first entry of an array lies."""
    return array.__array_interface__["data"][0]


def offset_of(array: np.ndarray) -> int:
    """Bytes between the start of the memory that an array sees and its first entry."""
    return address(array) - address(owner_of(array))
