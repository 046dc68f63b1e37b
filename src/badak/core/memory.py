"""Whose memory an array sees. Everything that asks so asks here: recordings, views, storages, counts of bytes.

And memory that several processes see. Python's multiprocessing sends arrays on it as what they see, and others as copies.
"""

import ctypes
import math
import mmap
import os
import pickle
import sys
from contextlib import suppress
from multiprocessing import reduction
from typing import Any

import numpy as np

from badak.core.errors import NotSupportedError, StateError, tr


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


def copied_with_others(array: np.ndarray, memo: dict) -> np.ndarray:
    """A copy within a `copy.deepcopy`: arrays that see one memory see one copy of it afterwards, as storages do in PyTorch."""
    owner = owner_of(array)
    if owner.base is not None or not (owner.flags.c_contiguous or owner.flags.f_contiguous) or not array.size:
        return array.copy("K")
    key = "memory", id(owner)
    if key not in memo:
        memo[key] = owner, owner.copy("K")  # the owner lives as long as its id counts
    whole = memo[key][1]
    return whole if array is owner else np.ndarray(array.shape, array.dtype, whole, offset_of(array), array.strides)


def memory_of(array: np.ndarray) -> np.ndarray:
    """All bytes of the memory that an array sees a part of."""
    owner = owner_of(array)
    dense = owner.ravel("K")
    if not np.may_share_memory(dense, owner) or not owner.size:  # gaps: a part of memory that is not NumPy's
        low, high = np.lib.array_utils.byte_bounds(owner)
        flat = np.lib.stride_tricks.as_strided(owner.reshape(-1)[:1].view(np.uint8), (high - low,), (1,))
        return flat if owner.size else np.empty(0, np.uint8)
    return dense.view(np.uint8)


def reach(array: np.ndarray) -> int:
    """Bytes from the first to the last entry of an array."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return high - low if array.size else 0


def lies_in(array: np.ndarray, memory: np.ndarray, offset: int) -> np.ndarray:
    """An array like this one that begins so many bytes behind the first entry of another one, within what that reaches."""
    if not memory.flags.c_contiguous:
        first = memory[(slice(1),) * memory.ndim].view(np.uint8)
        memory = np.lib.stride_tricks.as_strided(first, (reach(memory),), (1,), writeable=memory.flags.writeable)
    made = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    if not array.flags.writeable:
        made.flags.writeable = False
    return made


def opened(array: np.ndarray) -> np.ndarray:
    """The array, or one on the same places that may be written: NumPy lets nobody write a broadcast array, nor any view of it.

    Where two entries may see one place, or nobody may write what they see, it is the array as it is.
    """
    dense = array.itemsize  # bytes that the dims up to here reach over
    for stride, size in sorted((abs(stride), size) for stride, size in zip(array.strides, array.shape) if size > 1):
        if stride < dense:
            return array
        dense += stride * (size - 1)
    if array.flags.writeable or not owner_of(array).flags.writeable:
        return array
    made = lies_in(array, memory_of(array), offset_of(array))
    made.flags.writeable = True
    return made


ITS_OWN = 2  # references to an object that only one place has, as sys.getrefcount counts: it adds its own


class OwnMemory(mmap.mmap):
    """Bytes that only the arrays of this process on them see."""


def is_alone(held: dict, name: str) -> bool:
    """Whether nobody but `held[name]` sees the memory of that array, which may thus be written."""
    if name not in held or sys.getrefcount(held[name]) > ITS_OWN or not held[name].flags.writeable:
        return False
    if type(held[name].base) is not np.ndarray:
        return held[name].base is None or type(held[name].base) is OwnMemory and sys.getrefcount(held[name].base) <= ITS_OWN
    if sys.getrefcount(held[name].base) > ITS_OWN:
        return False
    whole = type(held[name].base.base)
    return held[name].base.base is None or whole is OwnMemory and sys.getrefcount(held[name].base.base) <= ITS_OWN


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


CAN_SHARE = hasattr(os, "memfd_create")


class SharedMemory(mmap.mmap):
    """Bytes that other processes see as well: those forked from this one, and those that were sent an array on it."""

    file: int  # is open as long as the memory is mapped here: others find it by its number

    def __del__(self) -> None:
        os.close(self.file)


def map_shared(file: int, count: int) -> np.ndarray:
    """The first bytes of an open file, in memory that all who map it see; the memory closes the file."""
    memory = SharedMemory(file, max(count, 1))
    memory.file = file
    send_shared()
    return np.ndarray((count,), np.uint8, memory)


def send_shared() -> None:
    """Let multiprocessing send arrays on such memory as what they see."""
    reduction.ForkingPickler.register(np.ndarray, _sent)


def new_shared(count: int) -> np.ndarray:
    """So many bytes, all 0, in memory that other processes can see."""
    if not CAN_SHARE:
        raise NotSupportedError("share_memory_: badak shares memory between processes on Linux only", "q.put(x) sends a copy")
    try:
        file = os.memfd_create("badak")
        os.truncate(file, max(count, 1))
        return map_shared(file, count)
    except OSError as error:
        cause = tr("share_memory_: the system gives no {:,} bytes of shared memory ({})", count, error.strerror)
        raise StateError(cause, "ulimit -n 4096, where too many files are open: each tensor takes two; or share fewer") from error


def is_shared(array: Any) -> bool:
    """Whether other processes may see, and write, the memory of an array."""
    return isinstance(holder_of(array), SharedMemory)


def _sent(array: np.ndarray, to_children: bool = False) -> Any:
    """How multiprocessing sends an array: the file of its memory, if that is shared, and its bytes otherwise.

    The file waits for who takes it. to_children: its name in this process, which lives and has it for as long as they do.
    """
    memory = holder_of(array)
    if not isinstance(memory, SharedMemory):
        return array.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
    file = f"/proc/{os.getpid()}/fd/{memory.file}" if to_children else reduction.DupFd(memory.file)
    start = address(np.ndarray((1,), np.uint8, memory))
    return _received, (file, len(memory), array.dtype, array.shape, address(array) - start, array.strides)


def sent_to_children(array: np.ndarray) -> Any:
    """The same for processes that this one starts, waits for, and does not know as Python's multiprocessing knows its own."""
    return _sent(array, to_children=True)


def _received(place: Any, count: int, *seen: Any) -> np.ndarray:
    """An array on the memory of the process that sent it."""
    try:
        file = os.open(place, os.O_RDWR) if isinstance(place, str) else place.detach()
    except (OSError, EOFError) as error:
        cause = tr("a tensor in shared memory came from a process that has ended, or is not of this machine and user")
        raise StateError(cause, "let the sender live until its tensors have arrived; or send x.clone(), a copy") from error
    dtype, shape, offset, strides = seen
    return np.ndarray(shape, dtype, holder_of(map_shared(file, count)), offset, strides)


def mapped(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array in memory of its own, which the system has back when the array goes: for one that is large next to all others.

    Fragments that malloc keeps free go back first: together they can be as large.
    """
    give_back()
    count = math.prod(shape) * np.dtype(dtype).itemsize
    memory = OwnMemory(-1, max(count, 1), **({"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}))
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without them
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.ndarray(shape, dtype, memory)


_trim: Any = None
with suppress(OSError, AttributeError, TypeError):  # a system without glibc has no such function
    _trim = ctypes.CDLL(None).malloc_trim


def give_back() -> None:
    """Give the system what is freed and not needed soon: malloc keeps it (`kernels/numba/_memory.py`)."""
    if _trim is not None:
        _trim(0)
