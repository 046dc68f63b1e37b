"""Storages: the memory of tensors as a row of bytes. Two tensors see the same memory where their storages have one address."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from badak.core import events, memory
from badak.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    DTypeError,
    FileError,
    IndexOutOfRangeError,
    NoDataError,
    NotSupportedError,
    package,
    tr,
)  # fmt: skip
from badak.core.memory import ITS_OWN, address, copied_with_others, is_shared, memory_of
from badak.core.public_api import guard_types
from badak.tensor import dtypes
from badak.tensor.attributes import held_by
from badak.tensor.data import as_array, unlike_storage
from badak.tensor.dtypes import device as Device
from badak.tensor.tensor import Tensor


class UntypedStorage:
    """Bytes in memory. UntypedStorage(n) makes n of them, an iterable gives their values; see also from_file, from_buffer.

    On the meta device there is a number of bytes, and none of them: what would read them raises NoDataError.
    """

    _array: np.ndarray | None = None  # the bytes; None on the meta device
    _count = 0  # how many there would be there

    is_cuda = False

    def __init__(self, size: Any = 0, *, device: Any = None) -> None:
        if device is not None and Device(device).type == "meta":
            self._count = size if isinstance(size, int) else len(list(size))
            return
        dtypes.check_device(device)
        self._array = np.empty(size, np.uint8) if isinstance(size, int) else np.array(list(size), np.uint8)

    @property
    def _bytes(self) -> np.ndarray:
        if self._array is None:
            raise NoDataError(
                "Not available for 'meta' device type: this storage has no bytes", "the storage of a tensor on the CPU"
            )
        return self._array

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    @classmethod
    def _of(cls, array: np.ndarray) -> "UntypedStorage":
        """The storage of this very array of bytes."""
        storage = cls.__new__(cls)
        storage._array = array
        return storage

    @classmethod
    def _on_meta(cls, count: int) -> "UntypedStorage":
        """A storage of so many bytes on the meta device."""
        return cls(count, device=dtypes.META)

    @classmethod
    def from_file(cls, filename: str | os.PathLike, shared: bool = False, nbytes: int = 0) -> "UntypedStorage":
        """The first bytes of a file, mapped into memory: read where they are looked at. shared: changes go to the file."""
        try:
            if not nbytes:
                return cls(0)
            if shared:
                file = os.open(filename, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
                if os.fstat(file).st_size < nbytes:
                    os.ftruncate(file, nbytes)
                return cls._of(memory.map_shared(file, nbytes))
            return cls._of(np.memmap(filename, np.uint8, "c", shape=(nbytes,)).view(np.ndarray))
        except (OSError, ValueError) as error:
            raise FileError(tr("UntypedStorage.from_file: {}: {}", filename, error), "a file of at least nbytes") from error

    @classmethod
    def from_buffer(cls, buffer: Any, dtype: Any = None, byte_order: str = "native") -> "UntypedStorage":
        """A copy of the bytes of a buffer: numbers of a dtype, the higher byte first where byte_order is "big"."""
        if byte_order not in ("native", "little", "big"):
            cause = tr("invalid byte_order '{}' (expected 'native', 'little' or 'big')", byte_order)
            raise ArgumentError(cause, "byte_order='native'")
        made, kind = np.frombuffer(buffer, np.uint8).copy(), dtypes.to_dtype(dtype or dtypes.uint8)
        if made.size % kind.itemsize:
            cause = tr("buffer size ({}) must be a multiple of element size ({})", made.size, kind.itemsize)
            raise ArgumentError(cause, "more bytes, or fewer")
        if byte_order not in ("native", sys.byteorder):
            step = kind.itemsize // (2 if kind.is_complex else 1)
            made = made.reshape(-1, step)[:, ::-1].reshape(-1).copy()
        return cls._of(made)

    def data_ptr(self) -> int:
        """The address of the first byte; 0 where there are none."""
        return self._bytes.ctypes.data if self._array is not None and self._array.size else 0

    _cdata = property(data_ptr)

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._count if self._array is None else self._array.size

    size = __len__ = nbytes

    def element_size(self) -> int:
        """1."""
        return 1

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise IndexOutOfRangeError(tr("storage[{}]: a slice of a storage has step 1", key), "storage[start:stop]")
            return UntypedStorage._of(np.asarray(self._bytes[key].data))  # where `memory_of` is to stop
        numbers = self._bytes
        if not -len(self) <= key < len(self):
            raise IndexOutOfRangeError(tr("index {} out of range for storage of size {}", key, len(self)), "len(storage) bytes")
        return int(numbers[key])

    @events.state
    def __setitem__(self, key: Any, value: Any) -> None:
        if self._array is not None:
            self._array[key] = value

    def __iter__(self):
        return iter(self._bytes.tolist())

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        return self._bytes.tolist()

    @events.state
    def fill_(self, value: int) -> "UntypedStorage":
        """Every byte = value."""
        if self._array is not None:
            self._array[...] = value
        return self

    @events.state
    def copy_(self, source: "UntypedStorage", non_blocking: bool = False) -> "UntypedStorage":
        """The bytes of another storage of the same size."""
        if not isinstance(source, UntypedStorage):
            raise ArgumentTypeError(tr("copy_: expected an UntypedStorage; got {}", type(source).__name__), "x.untyped_storage()")
        if self._array is not None:
            self._array[...] = source._here()
        return self

    def clone(self) -> "UntypedStorage":
        """A copy in memory of its own."""
        return UntypedStorage._on_meta(self._count) if self._array is None else UntypedStorage._of(self._array.copy())

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> "UntypedStorage":
        if id(self) not in memo:
            memo[id(self)] = self.clone() if self._array is None else UntypedStorage._of(copied_with_others(self._array, memo))
        return memo[id(self)]

    def untyped(self) -> "UntypedStorage":
        """Itself."""
        return self

    def _here(self) -> np.ndarray:
        """The bytes, which are to be copied elsewhere."""
        if self._array is None:
            raise NoDataError("Cannot copy out of meta tensor; no data!", "the storage of a tensor on the CPU")
        return self._array

    def cpu(self) -> "UntypedStorage":
        """Itself. Raises NoDataError on the meta device, which has no bytes to copy."""
        self._here()
        return self

    def pin_memory(self, device: Any = None) -> "UntypedStorage":
        """Itself. Raises NoDataError on the meta device."""
        if self._array is None:
            raise NoDataError("cannot pin 'UntypedStorage': only CPU memory can be pinned", "the storage of a tensor on the CPU")
        return self

    def share_memory_(self) -> "UntypedStorage":
        """Itself, in memory that other processes see, with all tensors that see it. Raises NoDataError on the meta device."""
        share([self])
        return self

    @classmethod
    def _new_shared(cls, size: int, *, device: Any = "cpu") -> "UntypedStorage":
        """So many bytes, in memory that other processes see."""
        return cls(size, device=device).share_memory_()

    def cuda(self, *args: Any, **kwargs: Any) -> "UntypedStorage":
        """Raises: badak computes on the CPU."""
        dtypes.check_device("cuda")
        return self

    def resize_(self, size: int) -> "UntypedStorage":
        """Another number of bytes on the meta device. Elsewhere NotSupportedError: tensors that see the memory could not follow."""
        if self._array is None:
            self._count = size
            return self
        raise NotSupportedError("a storage cannot be resized: tensors see its memory", "a new tensor, or x.resize_(shape)")

    def is_shared(self) -> bool:
        """Whether other processes see the memory."""
        return is_shared(self._array)

    def is_pinned(self) -> bool:
        """False."""
        return False

    def resizable(self) -> bool:
        """Whether resize_ works: on the meta device."""
        return self._array is None

    @property
    def device(self) -> Device:
        """Where the bytes are: the CPU, or the meta device, which has none."""
        return dtypes.META if self._array is None else dtypes.CPU

    def __repr__(self) -> str:
        shown = "...\n" if self._array is None else "".join(f" {byte}\n" for byte in self._array[:1000].tolist())
        return f"{shown}[{package()}.storage.UntypedStorage(device={self.device}) of size {len(self)}]"


class TypedStorage:
    """The same memory as numbers of a dtype, which older programs ask for: of a storage, of a number of them, or of a list."""

    def __init__(
        self, *data: Any, wrap_storage: UntypedStorage | None = None, dtype: Any = None, device: Any = None, _internal: bool = False
    ) -> None:
        if len(data) > 1 or (wrap_storage is not None and (data or device is not None or dtype is None)):
            raise ArgumentError(
                "TypedStorage.__init__ received an invalid combination of arguments",
                "TypedStorage(n, dtype=...), TypedStorage([1, 2], dtype=...) or TypedStorage(wrap_storage=..., dtype=...)",
            )
        self.dtype = dtypes.default_dtype() if dtype is None else dtypes.to_dtype(dtype)
        if wrap_storage is not None:
            if not isinstance(wrap_storage, UntypedStorage):
                cause = tr("TypedStorage: expected wrap_storage=UntypedStorage; got {}", type(wrap_storage).__name__)
                raise ArgumentTypeError(cause, "x.untyped_storage()")
            self._untyped_storage = wrap_storage
        elif not data or isinstance(data[0], int):
            self._untyped_storage = UntypedStorage(self.dtype.itemsize * (data[0] if data else 0), device=device)
        elif isinstance(data[0], Sequence) and not isinstance(data[0], str):
            numbers = as_array(list(data[0]), self.dtype.numpy)
            self._untyped_storage = UntypedStorage(numbers.nbytes, device=device)
            if self._untyped_storage._array is not None:
                self._numbers[...] = numbers
        else:
            got = type(data[0]).__name__
            raise ArgumentTypeError(tr("TypedStorage: expected a size or a list; got {}", got), "a list of numbers")

    @property
    def _numbers(self) -> np.ndarray:
        return self._untyped_storage._bytes.view(self.dtype.numpy)

    def untyped(self) -> UntypedStorage:
        """The memory as bytes."""
        return self._untyped_storage

    def size(self) -> int:
        """How many numbers there are."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = _size = size

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._untyped_storage.nbytes()

    def data_ptr(self) -> int:
        """The address of the first number."""
        return self._untyped_storage.data_ptr()

    _data_ptr = data_ptr
    _cdata = property(data_ptr)

    def element_size(self) -> int:
        """Bytes of one number."""
        return self.dtype.itemsize

    _element_size = element_size

    def __getitem__(self, key: int) -> Any:
        if isinstance(key, slice):
            raise NotSupportedError("slices are only supported in UntypedStorage.__getitem__", "storage.untyped()[...]")
        return self._numbers[self._place(key)].item()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, UntypedStorage | TypedStorage):
            raise ArgumentError(tr("cannot set item with value type {}", type(value)), "storage.copy_(other)")
        Tensor._of(self._numbers)[key if isinstance(key, slice) else self._place(key)] = value

    def _place(self, key: Any) -> int:
        if not isinstance(key, int):
            raise ArgumentError(tr("can't index a {} with {}", type(self), type(key)), "an int")
        if not -self.size() <= key < self.size():
            raise IndexOutOfRangeError(tr("index {} out of range for storage of size {}", key, self.size()), None)
        return key

    def __sizeof__(self) -> int:
        return super().__sizeof__() + self.nbytes()

    def fill_(self, value: Any) -> "TypedStorage":
        """Every number = value."""
        self[:] = value
        return self

    def copy_(self, source: "TypedStorage", non_blocking: bool = False) -> "TypedStorage":
        """The numbers of another storage of this size."""
        self[:] = Tensor._of(source._numbers)
        return self

    def clone(self) -> "TypedStorage":
        """The same numbers in new memory."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def tolist(self) -> list:
        """The numbers."""
        return self._numbers.tolist()

    @property
    def device(self) -> Device:
        """Where the memory is: the CPU, or the meta device, which has none."""
        return self._untyped_storage.device

    def is_shared(self) -> bool:
        """Whether other processes see the memory."""
        return self._untyped_storage.is_shared()

    def is_pinned(self) -> bool:
        """False."""
        return False

    def cpu(self) -> "TypedStorage":
        """Itself. Raises NoDataError on the meta device."""
        self._untyped_storage.cpu()
        return self

    def share_memory_(self) -> "TypedStorage":
        """Itself, in memory that other processes see. Raises NoDataError on the meta device."""
        self._untyped_storage.share_memory_()
        return self

    def __repr__(self) -> str:
        known = self.device != dtypes.META
        shown = "".join(f" {number}\n" for number in self._numbers[:1000].tolist()) if known else "...\n"
        return f"{shown}[{package()}.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


def untyped_storage(input: Tensor) -> UntypedStorage:
    """The memory that input sees, all of it, as bytes."""
    if input._described is not None:
        return UntypedStorage._on_meta(memory.reach(input._described))
    events.memory_asked(input)
    events.read(tr("the storage of a tensor"))
    return UntypedStorage._of(memory_of(input._array))


def share_memory_(input: Tensor) -> Tensor:
    """Move the memory that input sees to where other processes see it too, with all tensors that see it.

    A process that is forked afterwards, or that is sent input by multiprocessing, reads and writes the same numbers.
    """
    share([input])
    return input


def share(several: list[Any]) -> None:
    """Move the memory of tensors and storages to where other processes see it, and all that see it with them."""
    moved: list[tuple[int, int, np.ndarray]] = []  # first byte, first byte behind, the new place
    alone = True  # nobody else sees these tensors' memory
    for each in several:
        if each._array is None:
            raise NoDataError("share_memory_: only available on CPU", "the storage of a tensor on the CPU")
        if not is_shared(each._array) and not any(low <= address(each._array) < high for low, high, _ in moved):
            old = memory_of(each._array)
            new = memory.new_shared(old.nbytes)
            new[...] = old
            low = address(old if old.size else each._array)
            moved.append((low, low + max(old.nbytes, 1), new))
            del old
            alone = alone and each._array.base is None and sys.getrefcount(each._array) <= ITS_OWN
    kinds = [Tensor, UntypedStorage]
    for kind in kinds:
        kinds += kind.__subclasses__()
    classes = set(kinds)
    for each in (several if alone else [each for each in gc.get_objects() if type(each) in classes]) if moved else ():
        array = held_by(each).get("_array")
        for low, high, new in moved if isinstance(array, np.ndarray) else ():
            if low <= address(array) < high:
                if isinstance(each, Tensor):
                    events.redefine(each, tr("share_memory_ of a tensor"))
                each._array = np.ndarray(array.shape, array.dtype, new, address(array) - low, array.strides)


def storage(input: Tensor) -> TypedStorage:
    """The memory that input sees, as numbers of its dtype."""
    return TypedStorage(wrap_storage=untyped_storage(input), dtype=input.dtype)


def set_(input: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Let input see other memory: that of a tensor, or a part of a storage from the number at storage_offset on."""
    if isinstance(source, Tensor):
        array = source._array
    else:
        if isinstance(source, TypedStorage) and source.dtype is not input.dtype:
            raise unlike_storage(input.dtype, source.dtype)
        memory = UntypedStorage(0) if source is None else source.untyped()
        kind = input._array.dtype
        count = memory.nbytes() // kind.itemsize
        shape = (count - storage_offset,) if size is None else tuple(size)
        steps = tuple(int(np.prod(shape[i + 1 :])) for i in range(len(shape))) if stride is None else tuple(stride)
        last = storage_offset + sum((n - 1) * step for n, step in zip(shape, steps)) if 0 not in shape else -1
        if last >= count or min((*shape, *steps, storage_offset), default=0) < 0:
            cause = tr("setStorage: sizes {}, strides {}, storage offset {} are out of bounds for storage of size {}", list(shape),
                       list(steps), storage_offset, memory.nbytes())  # fmt: skip
            raise IndexOutOfRangeError(cause, "a part that lies inside")
        places = tuple(step * kind.itemsize for step in steps)
        array = (
            np.ndarray(shape, kind, memory._bytes, storage_offset * kind.itemsize, places)
            if 0 not in shape
            else (np.empty(shape, kind))
        )
    if array.dtype != input._array.dtype:
        cause = tr("Could not set tensor of type {} to a tensor of type {}", dtypes.of_numpy(array.dtype), input.dtype)
        raise DTypeError(cause, "the same dtype")
    events.redefine(input, tr("set_ of a tensor"))
    input._array, input._whole, input._view_steps, input._version_counter = array, None, (), None
    return input


guard_types(globals(), "badak")
