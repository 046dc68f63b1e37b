"""A storage: one piece of memory that several tensors of a file may see."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from badak.core.errors import BadakError, tr
from badak.io.errors import damaged, reason, shown
from badak.tensor import Tensor, dtypes
from badak.tensor.dtypes import Device
from badak.tensor.meta_storage import like
from badak.tensor.storage import TypedStorage, UntypedStorage

# The class that PyTorch names for a storage of each dtype.
CLASSES = {f"{word}Storage": kind for word, kind in dtypes.LEGACY.items()}
NAMES = {dtype: name for name, dtype in CLASSES.items()}
UNTYPED = "storage.UntypedStorage"  # of bytes: what PyTorch names for the dtypes that have no class
MAX_DIMS = 64


class Storage(TypedStorage):
    """A storage of a file, with the dtype that the file gives it. What `map_location` functions of torch.load get, too."""

    def __init__(self, raw: np.ndarray, dtype: Any, location: str, where: str, has_data: bool = True) -> None:
        super().__init__(wrap_storage=UntypedStorage._of(raw) if has_data else UntypedStorage._on_meta(raw.nbytes), dtype=dtype)
        self.raw = raw  # uint8
        self.location, self.where = location, where
        self.has_data = has_data  # else its tensors are on the meta device
        self.when_filled: list[Callable[[], object]] = []  # what to do where the bytes come after the tensors

    def to(self, device: Any) -> "Storage":
        """Itself, for a device that badak has; of one for the meta device, tensors have no memory."""
        if dtypes.device(device).type == "meta":
            return Storage(self.raw, self.dtype, self.location, self.where, has_data=False)
        dtypes.check_device(device)
        return self

    def cpu(self) -> "Storage":
        """Itself: badak's memory is the CPU's."""
        return self

    def cuda(self, device: Device = None, non_blocking: bool = False) -> "Storage":
        """Raises NotSupportedError: badak computes on the CPU."""
        dtypes.check_device("cuda")
        return self

    def check(self) -> None:
        """Raise FileError for truth values that are neither 0 nor 1: kernels would count them as more than one."""
        if self.dtype is dtypes.bool_ and self.raw.nbytes and self.raw.max() > 1:
            raise self._wrong(tr("a storage of truth values has other bytes than 0 and 1"))

    def tensor(self, offset: Any, size: Any, stride: Any, dtype: Any = None) -> Tensor:
        """The tensor that sees this memory from item `offset` on, after checking that all of it lies inside."""
        dtype = self.dtype if dtype is None else dtype
        size, stride = tuple(size), tuple(stride)
        if len(size) != len(stride) or len(size) > MAX_DIMS or not all(map(_is_count, (offset, *size, *stride))):
            raise self._wrong(tr("a tensor of size {}, stride {} and offset {} is none", shown(size), shown(stride), shown(offset)))
        items = self.raw.nbytes // dtype.itemsize
        last = offset + sum((n - 1) * step for n, step in zip(size, stride)) if math.prod(size) else offset - 1
        if last >= items or offset > items:
            cause = tr("a tensor of size {}, stride {} and offset {} reaches item {} of a storage of {}", shown(size),
                       shown(stride), offset, last, items)  # fmt: skip
            raise self._wrong(cause)
        steps = tuple(step * dtype.itemsize for step in stride)
        try:
            if not math.prod(size):
                array = np.empty(size, dtype.numpy)
            else:
                array = np.ndarray(size, dtype.numpy, self.raw, offset * dtype.itemsize, steps)
        except (ValueError, OverflowError, TypeError) as error:
            raise self._wrong(tr("a tensor of size {}: {}", shown(size), reason(error))) from error
        return Tensor._of(array) if self.has_data else Tensor._like_meta(like(array))

    def _wrong(self, what: str) -> BadakError:
        return damaged(self.where, what)


def described(said: Any, where: str) -> tuple[Any, str, str, int, tuple[str, int, int] | None]:
    """(dtype, key, location, count of numbers, part) from the persistent id of a storage, checked.

    part: (key, offset, count) of a part of the storage that is meant, as files before PyTorch 0.4 have it.
    """
    if type(said) is tuple and len(said) in (5, 6) and type(said[0]) is str and said[0] == "storage":
        dtype, key, location, count = said[1:5]
        if type(dtype) is dtypes.dtype and type(key) is type(location) is str and _is_count(count):
            part = said[5] if len(said) == 6 else None
            if part is None or (type(part) is tuple and len(part) == 3 and type(part[0]) is str and all(map(_is_count, part[1:]))):
                return dtype, key, location, count, part
    raise damaged(where, tr("{} describes no storage", shown(said)))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63
