"""What a nested tensor is: B examples, of which one dim, the ragged one, has a length for each of them.

The values of all lie after one another along that dim: of shape (B, j, C) there are values (lengths[0] + ... + lengths[B-1], C).

B examples, L the largest length, n the ragged dim, N the sum of the lengths.
"""

from collections.abc import Callable
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from badak.core import events
from badak.core.errors import IndexOutOfRangeError, NotSupportedError, ShapeError, expect_kind, tr
from badak.tensor import dtypes, layouts
from badak.tensor.create import full
from badak.tensor.of_values import OfValues, made, name_of, tensors_among
from badak.tensor.properties import Always
from badak.tensor.tensor import Tensor

FUNCTIONS: dict[str, Callable[..., Any]] = {}  # the public functions that know nested tensors, by name
PADDED = tr("x.to_padded_tensor(0.0), or x.unbind()")


class RaggedSize:
    """The size of a ragged dim: as many numbers as there are examples. Equal lengths are the same size."""

    _known: WeakValueDictionary = WeakValueDictionary()
    _count = 0

    lengths: np.ndarray  # int64 (B,)
    name: str

    def __new__(cls, lengths: np.ndarray) -> "RaggedSize":
        size = cls._known.get(lengths.tobytes())
        if size is None:
            RaggedSize._count += 1
            size = object.__new__(cls)
            size.lengths, size.name = lengths, f"j{cls._count}"
            cls._known[lengths.tobytes()] = size
        return size

    def __reduce__(self):
        return RaggedSize, (self.lengths,)

    def __deepcopy__(self, memo: dict) -> "RaggedSize":
        return self

    def __repr__(self) -> str:
        return self.name

    def __ge__(self, other: Any) -> bool:
        if other in (0, 1, 2):  # PyTorch's: a ragged size passes for one of at least 2
            return True
        return self._refuse()

    def __gt__(self, other: Any) -> bool:
        return True if other in (0, 1) else self._refuse()

    def __index__(self) -> NoReturn:
        raise self._no_number()

    __int__ = __index__

    def _refuse(self) -> NoReturn:
        raise self._no_number()

    def _no_number(self) -> NotSupportedError:
        cause = tr("{} is the size of a ragged dim: no number, but one for each example", self.name)
        return NotSupportedError(cause, "x.offsets().diff()")

    def examples(self) -> np.ndarray:
        """(N,): to which example each row belongs."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def places(self) -> np.ndarray:
        """(N,): which row of its example each row is."""
        starts = np.cumsum(self.lengths) - self.lengths
        return np.arange(self.lengths.sum()) - np.repeat(starts, self.lengths)

    def longest(self) -> int:
        """L."""
        return int(self.lengths.max(initial=0))


class NestedTensor(OfValues):
    """Examples of different lengths (layout jagged)."""

    word, by_hand = "nested", "a nested tensor is used"
    is_nested = Always(True)
    layout = Always(layouts.jagged)
    _offsets: Tensor  # int64 (B + 1,): where each example begins
    _ragged: int  # n
    _lengths: RaggedSize

    @property
    def _array(self) -> NoReturn:  # type: ignore[override]
        raise NotSupportedError("this operation does not know nested tensors", PADDED)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = name_of(func)
        events.user_code(cls.by_hand)
        if name not in FUNCTIONS or func.__module__ not in ("badak", "badak.Tensor", "badak.nn.functional", "badak.special"):
            raise NotSupportedError(tr("{} does not know nested tensors", name), PADDED)
        kwargs = kwargs or {}
        if any(isinstance(x, NestedTensor) for x in tensors_among((), {"out": kwargs.get("out")})):
            raise NotSupportedError(tr("{}: out= takes no nested tensor", name), "x = f(x)")
        return FUNCTIONS[name](func, *args, **kwargs)

    def like(self, entries: Tensor, size: Any = None) -> "NestedTensor":
        """These values with the lengths of this tensor, along the same dim."""
        return nested(entries, self._offsets, self._ragged, self._lengths)

    def offsets(self) -> Tensor:
        """(B + 1,): where each example begins in the values, and where the last one ends."""
        return self._offsets

    def lengths(self) -> None:
        """None: the values have no gaps between examples."""

    def values(self) -> Tensor:
        """The values of all examples after one another, with their history."""
        return self._entries

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """See `nested.to_padded_tensor`."""
        return to_padded_tensor(self, padding, output_size)

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return self._ragged == 1 and self._entries.is_contiguous()

    @property
    def _max_seqlen(self) -> int:
        return self._lengths.longest()

    @property
    def _min_seqlen(self) -> int:
        return int(self._lengths.lengths.min())

    def __iter__(self):
        return iter(parts(self))

    def __repr__(self, **options) -> str:
        self._entries._read("str()")
        notes = ""
        if self._entries.grad_fn is not None:
            notes = f", grad_fn=<{self._entries.grad_fn.name()}>"
        elif self.requires_grad:
            notes = ", requires_grad=True"
        size = f"({', '.join(map(str, self._size))})"
        return f"NestedTensor(size={size}, offsets={self._offsets!r}{notes}, contiguous={self.is_contiguous()})"


NestedTensor._is_badaks = False  # so that public functions ask it


def nested(entries: Tensor, offsets: Tensor, ragged: int, lengths: RaggedSize | None = None) -> NestedTensor:
    """A nested tensor of parts that fit."""
    if lengths is None:
        lengths = RaggedSize(np.diff(offsets.numpy()).astype(np.int64))
    size = (offsets.shape[0] - 1, *entries.shape[: ragged - 1], lengths, *entries.shape[ragged:])
    return made(NestedTensor, _size=dtypes.Size(size), _entries=entries, _offsets=offsets, _ragged=ragged, _lengths=lengths)


def expect_nested(where: str, x: Any) -> NestedTensor:
    """x, which must be a nested tensor."""
    expect_kind(x, NestedTensor, "{}: expected a nested tensor; got {}", "nested.as_nested_tensor(tensors)", where)
    return x


def parts(x: NestedTensor) -> tuple[Tensor, ...]:
    """The examples, as views of the values."""
    return tuple(x._entries.split(x._lengths.lengths.tolist(), x._ragged - 1))


def dim_of(where: str, x: NestedTensor, dim: int, extra: int = 0) -> int:
    """The dim counted from the front."""
    count = x.ndim + extra
    if not -count <= dim < count:
        cause = tr("{}: Dimension out of range (expected to be in range of [{}, {}], but got {})", where, -count, count - 1, dim)
        raise IndexOutOfRangeError(cause, "an existing dim")
    return dim % count


def padded(x: NestedTensor, padding: Any) -> Tensor:
    """(B, ..., L, ...) with `padding` after the end of each example."""
    values = x._entries.movedim(x._ragged - 1, 0)
    size = x._lengths
    filled = full((len(size.lengths), size.longest(), *values.shape[1:]), padding, dtype=x.dtype)
    at = (Tensor._of(size.examples()), Tensor._of(size.places()))
    return filled.index_put(at, values).movedim(1, x._ragged)


def unpadded(y: Tensor, x: NestedTensor, ragged: int | None = None) -> NestedTensor:
    """The other way: of a tensor (B, ..., L, ...) the rows that x has, L standing at `ragged`."""
    at = x._ragged if ragged is None else ragged
    size = x._lengths
    rows = y.movedim(at, 1)[Tensor._of(size.examples()), Tensor._of(size.places())]
    return nested(rows.movedim(0, at - 1), x._offsets, at, size)


def to_padded_tensor(input: NestedTensor, padding: float, output_size: Any = None, out: Any = None) -> Tensor:
    """A dense tensor with a value after the end of each example.

    Args:
        input: nested (B, ..., j, ...)
        padding: the value
        output_size: a shape at least as large, or None: the smallest that holds all
        out: None

    Returns: (B, ..., L, ...)

    Raises:
        ShapeError: for an output_size that is too small

    Example:
        >>> import badak
        >>> x = badak.nested.nested_tensor([[1.0, 2.0], [3.0]], layout=badak.jagged)
        >>> badak.nested.to_padded_tensor(x, 0.0).tolist()
        [[1.0, 2.0], [3.0, 0.0]]
    """
    if out is not None:
        raise NotSupportedError("to_padded_tensor: out= is not supported", "y = to_padded_tensor(x, 0.0)")
    made = padded(expect_nested("to_padded_tensor", input), padding)
    return made if output_size is None else grown(made, output_size, padding)


def grown(x: Tensor, size: Any, padding: float) -> Tensor:
    """x with padding at the ends of its dims, up to this size."""
    if len(size) != x.dim() or any(n < m for n, m in zip(size, x.shape)):
        cause = tr("to_padded_tensor: output_size {} is too small for {}", tuple(size), tuple(x.shape))
        raise ShapeError(cause, f"output_size={tuple(x.shape)}")
    filled = full(tuple(size), padding, dtype=x.dtype)
    corner = tuple(slice(0, n) for n in x.shape)
    filled[corner] = x
    return filled
