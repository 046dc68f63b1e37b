"""Which memory the tensors of a value see, and which part of it a file has to hold.

Tensors that see one piece of memory share one storage, and keep sharing it when they are loaded. The storage is the span from
the first to the last byte that any of them sees. That takes two looks at the value: `see` learns the spans, `place` tells.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from badak.core.errors import tr
from badak.core.memory import owner_of
from badak.io.errors import UnpicklableError
from badak.io.storage import NAMES, UNTYPED
from badak.tensor import Tensor


class _Span:
    """The part of one memory, seen as numbers of one dtype, that tensors use: addresses from start to stop."""

    __slots__ = ("key", "owner", "start", "stop")

    def __init__(self, owner: np.ndarray, start: int, stop: int):
        self.key, self.start, self.stop = "", start, stop
        self.owner = owner  # keeps the memory alive


class Placing:
    """Remembers the memory of every tensor it is shown."""

    def __init__(self) -> None:
        self.spans: dict[Any, _Span] = {}
        self.kinds: dict[int, np.dtype] = {}  # of the numbers that each memory is seen as
        self.copies: dict[int, tuple[Tensor, np.ndarray]] = {}  # of tensors whose memory has no strides in integers

    def see(self, tensor: Tensor) -> tuple[str, str, int, int, tuple[int, ...]]:
        """First look: widen the span of the tensor's memory."""
        array, token = self._array(tensor)
        start, stop = _extent(array)
        if start < stop and self.kinds.setdefault(token[0], array.dtype) != array.dtype:
            cause = tr("save: Cannot save multiple tensors or storages that view the same data as different types: {} and {}",
                       self.kinds[token[0]], array.dtype)  # fmt: skip
            raise UnpicklableError(cause, "save one of them, or a clone()")
        span = self.spans.get(token)
        if span is None:
            span = self.spans[token] = _Span(array, start, stop)
        span.start, span.stop = min(span.start, start), max(span.stop, stop)
        return "", NAMES.get(tensor.dtype, UNTYPED), 0, 0, ()

    def place(self, tensor: Tensor) -> tuple[str, str, int, int, tuple[int, ...]]:
        """Second look: (key, class of storage, its numbers, offset, stride) of a tensor that has been seen."""
        array, token = self._array(tensor)
        if token not in self.spans:  # made again by an object's own __reduce__
            self.see(tensor)
        span = self.spans[token]
        if not span.key:
            span.key = str(sum(1 for other in self.spans.values() if other.key))
        width = array.itemsize
        offset = (_extent(array)[0] - span.start) // width
        strides = tuple(step // width for step in array.strides)
        if not array.size:  # NumPy's are all 0
            strides = tuple(math.prod(max(n, 1) for n in array.shape[at + 1 :]) for at in range(array.ndim))
        storage, size = NAMES.get(tensor.dtype, UNTYPED), span.stop - span.start
        return span.key, storage, size if storage == UNTYPED else size // width, offset, strides

    def storages(self) -> Iterator[tuple[str, Callable[[Any], object], int]]:
        """(key, fill(file), bytes) of each storage, in the order of the keys."""
        for span in sorted((span for span in self.spans.values() if span.key), key=lambda span: int(span.key)):
            size = span.stop - span.start
            yield span.key, _filler(span, size), size

    def _array(self, tensor: Tensor) -> tuple[np.ndarray, Any]:
        """The array to store, and what its memory is known by."""
        array = tensor._array
        if array.dtype.byteorder == ">" or any(step < 0 or step % array.itemsize for step in array.strides) or not array.size:
            if id(tensor) not in self.copies:
                self.copies[id(tensor)] = tensor, np.ascontiguousarray(array).reshape(array.shape)
            array = self.copies[id(tensor)][1]
        aligned = _extent(array)[0] % array.itemsize == 0  # else its offset from the others is no integer
        return array, (id(owner_of(array) if aligned else array), array.dtype)


def _extent(array: np.ndarray) -> tuple[int, int]:
    """The addresses of the first byte and of the byte after the last one. No stride is negative."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    return start, start + sum((n - 1) * step for n, step in zip(array.shape, array.strides)) + array.itemsize


class _Memory:
    """Bytes at an address, for NumPy to see."""

    def __init__(self, start: int, size: int):
        self.__array_interface__ = {"data": (start, True), "shape": (size,), "typestr": "|u1", "version": 3}


def _filler(span: _Span, size: int) -> Callable[[Any], object]:
    def fill(file: Any) -> None:
        if size:  # the span keeps the memory alive
            file.write(np.asarray(_Memory(span.start, size)).data)

    return fill
