"""What is equal in two forwards of one model: before a position, in a row, apart from padding, to rounding.

Which axis of an inner tensor is the position or the row is not known: it counts as clean if any axis of that length is. An axis of
B T or B H elements is looked at as two. Each comparison gives True, False, or None where the tensor has no such axis and differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

ROUNDING = 1e-4  # largest change, by the size of the values, that other shapes and kernels explain
HIDDEN = -1e3  # what is hidden has scores that are at most this


@dataclass
class Places:
    """The positions of a text, and of what is made of it with fewer or more of them, as logits[:, :-1] or behind a class token.

    others: {length: the position that stands first there}, negative where something stands before the text.
    """

    length: int
    others: dict[int, int] = field(default_factory=dict)

    @property
    def all(self) -> dict[int, int]:
        return {self.length: 0, **self.others}

    def moved(self, mask: np.ndarray, length: int) -> np.ndarray:
        """(B, T) of the text as (B, length): False where the text has no such position."""
        at = np.arange(length) + self.all[length]
        known = (at >= 0) & (at < self.length)
        out = np.zeros((len(mask), length), bool)
        out[:, known] = mask[:, at[known]]
        return out

    def masks(self, mask: np.ndarray) -> list[np.ndarray]:
        """The same for all lengths."""
        return [self.moved(mask, length) for length in self.all]


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in every value; NaN equals NaN."""
    if a.shape != b.shape:
        return False
    return a is b or bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


def near(a: np.ndarray, b: np.ndarray, tolerance: float = ROUNDING) -> bool:
    return change(a, b) <= tolerance


def change(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference, by the root mean square of the values; what is hidden in both, at -1e4, says nothing of their size."""
    if a.shape != b.shape:
        return np.inf
    if same(a, b):
        return 0.0
    if a.dtype.kind == "c":
        a, b = (np.stack([x.real, x.imag]) for x in (a, b))
    a, b = a.astype(np.float64), b.astype(np.float64)
    fine = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(fine, np.isfinite(a) | np.isfinite(b)):
        return np.inf
    fine &= (a != b) | (a > HIDDEN)
    if not fine.any():
        return 0.0
    size = np.sqrt(np.mean(np.square(np.where(fine, a, 0.0)))) or 1.0
    return float(np.max(np.abs(np.where(fine, a, 0.0) - np.where(fine, b, 0.0))) / size)


def along(shape: tuple, places: Places, rows: int) -> Iterator[tuple[tuple, int, int]]:
    """(shape to look at it in, axis, first position) for each axis that can be of positions; of `rows` times that many, too."""
    for length, first in places.all.items():
        for axis, n in enumerate(shape):
            if _wide_by_chance(shape, axis, length, rows):
                continue
            if n == length:
                yield shape, axis, first
            elif axis < len(shape) - 1 and n in (2 * length, 3 * length) and n != rows * length:  # several of each position in turn
                yield (*shape[:axis], length, n // length, *shape[axis + 1 :]), axis, first
            elif rows > 1 and n == rows * length:
                yield (*shape[:axis], rows, length, *shape[axis + 1 :]), axis + 1, first
                yield (*shape[:axis], length, rows, *shape[axis + 1 :]), axis, first


def _wide_by_chance(shape: tuple, axis: int, length: int, rows: int) -> bool:
    """Whether the last axis is of numbers, though it is as long as a text, or as all of them: that of a state (layers, B, C)."""
    first, rest = shape[0], shape[:-1]
    if axis == 0 or axis != len(rest) or rows == 1:
        return False
    return shape[axis] == rows * length or rows in rest and first != rows and length not in rest


def before(a: np.ndarray, b: np.ndarray, t: int, places: Places, rows: int, tolerance: float = 0.0) -> bool | None:
    """Whether nothing before position t differs."""
    alike = (lambda x, y: near(x, y, tolerance)) if tolerance else same
    if same(a, b):
        return True
    if a.shape != b.shape:
        return None
    looked = False
    for shape, axis, first in along(a.shape, places, rows):
        if t <= first:
            continue
        looked = True
        moved = first if a.dtype.kind in "fc" else max(first, 0)  # ids may be those of the text, before they were moved
        early = (slice(None),) * axis + (slice(0, t - moved),)
        if alike(a.reshape(shape)[early], b.reshape(shape)[early]):
            return True
    return False if looked else None


def kept(a: np.ndarray, b: np.ndarray, row: int, rows: int, tolerance: float = 0.0) -> bool | None:
    """Whether one row of the batch does not differ."""
    alike = (lambda x, y: near(x, y, tolerance)) if tolerance else same
    if same(a, b):
        return True
    if a.shape != b.shape:
        return None
    if a.shape == (rows, rows):  # each row next to each, as in a contrastive loss
        return alike(a[row, row], b[row, row])
    looked = False
    for shape, axis in batches(a.shape, rows):
        looked = True
        one = (slice(None),) * axis + (row,)
        if alike(a.reshape(shape)[one], b.reshape(shape)[one]):
            return True
    return False if looked else None


def batches(shape: tuple, rows: int) -> Iterator[tuple[tuple, int]]:
    for axis, n in enumerate(shape):
        if n == rows:
            yield shape, axis
        elif n > rows and n % rows == 0:
            yield (*shape[:axis], rows, n // rows, *shape[axis + 1 :]), axis
            yield (*shape[:axis], n // rows, rows, *shape[axis + 1 :]), axis + 1


def pairs(shape: tuple, rows: int, length: int) -> Iterator[tuple[tuple, int, int]]:
    """(shape to look at it in, axis of rows, axis of positions)."""
    for i, n in enumerate(shape):
        for j, m in enumerate(shape):
            if i != j and n == rows and m == length:
                yield shape, i, j
        if n == rows * length and rows > 1 and length > 1:
            yield (*shape[:i], rows, length, *shape[i + 1 :]), i, i + 1
            yield (*shape[:i], length, rows, *shape[i + 1 :]), i + 1, i


def real(a: np.ndarray, b: np.ndarray, paddings: list[np.ndarray], tolerance: float = 0.0) -> bool | None:
    """Whether nothing differs but at padding (each (B, T), True where padding). A row as a whole may not differ at all."""
    if same(a, b) or (tolerance and near(a, b, tolerance)):
        return True
    if a.shape != b.shape:
        return None
    looked = False
    for padding in paddings:
        for shape, i, j in pairs(a.shape, *padding.shape):
            looked = True
            x, y = (np.moveaxis(z.reshape(shape), (i, j), (0, 1))[~padding] for z in (a, b))
            if near(x, y, tolerance) if tolerance else same(x, y):
                return True
    return False if looked or (a.ndim >= 1 and paddings[0].shape[0] in a.shape) else None


def shortened(a: np.ndarray, shape: tuple, taken: np.ndarray, rows: int, lengths: dict[int, int], first: bool) -> np.ndarray | None:
    """`a` as it is in a batch of some of the rows, cut to fewer positions, of `shape`; None where that cannot be told.

    lengths: {positions before: positions now}; first: the batch comes before the positions where they share an axis.
    """
    if a.ndim != len(shape):
        return None
    either = [i for i, (n, now) in enumerate(zip(a.shape, shape)) if n == rows and now == len(taken) and lengths.get(n) == now != n]
    places = either[1:] if first else either[:-1]  # of as many rows as there are positions one axis is that of the rows
    for axis, now in enumerate(shape):
        n = a.shape[axis]
        at: tuple = (slice(None),) * axis
        if n == now:
            continue
        if n == rows and now == len(taken) and axis not in places:
            a = a[(*at, taken)]
        elif lengths.get(n) == now:
            a = a[(*at, slice(0, now))]
        else:
            found = _both(n, now, rows, len(taken), lengths)
            if found is None:
                return None
            wide = a.reshape(*a.shape[:axis], *((rows, n // rows) if first else (n // rows, rows)), *a.shape[axis + 1 :])
            wide = wide[(*at, taken)] if first else wide[(*at, slice(None), taken)]
            wide = wide[(*at, slice(None), slice(0, found))] if first else wide[(*at, slice(0, found))]
            a = wide.reshape(*a.shape[:axis], now, *a.shape[axis + 1 :])
    return a


def _both(n: int, now: int, rows: int, taken: int, lengths: dict[int, int]) -> int | None:
    """How much of the second part of an axis of rows x something is left."""
    if n % rows or now % taken:
        return None
    part, left = n // rows, now // taken
    return left if lengths.get(part, part) == left else None
