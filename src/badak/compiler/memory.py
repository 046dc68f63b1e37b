"""One piece of memory for what a replay makes and needs no longer a little later, used again and again as it is run through.

A replay knows when each array is touched for the first and for the last time: before and after, its place is free for others.
So is the memory of a .grad from where the step lets go of it to where it is computed again: large ones are lent out meanwhile.

Only memory that nothing but kept calls of kernels touches is moved: not what Python reads, what the step returns, or .grad.
"""

import ctypes
import mmap
import sys
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from badak.compiler.entries import Backward, Grads
from badak.compiler.provenance import Part, Place, arrays_in
from badak.core.machine import machine_memory
from badak.core.memory import give_back, holder_of

_LINE = 64  # bytes: places start at lines of the cache
_LEAST = 1 << 29  # bytes that recordings may hold on any machine
_WORTH = 0.98  # of the memory that spans take as they come: how much they must take at most, to be ordered by their size
_MUCH = 1 << 22  # bytes of gradients that a recording makes room for
_MANY = 10_000  # spans that are not ordered by their size: it takes seconds


def most_bytes() -> int:
    """Bytes that recordings may hold, all together."""
    return max(_LEAST, (machine_memory() or 0) // 4)


def room_to_record() -> int:
    """Bytes that one recording may make, all of which stay until it is over: half of what nobody has taken yet."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))
        return max(_LEAST, min(most_bytes(), free // 2))
    return most_bytes()


def _move(made, array) -> None:
    """Copy what nobody needs afterwards. What has been read of much memory goes back to the system: both are not there together."""
    if array.nbytes < _MUCH or not hasattr(mmap, "MADV_DONTNEED") or not sys.platform.startswith("linux"):
        made[...] = array
        return
    to, of, begin = made.reshape(-1).view(np.uint8), array.reshape(-1).view(np.uint8), array.ctypes.data
    for start in range(0, of.size, _MUCH):
        end = min(start + _MUCH, of.size)
        to[start:end] = of[start:end]
        first = -(-(begin + start) // mmap.PAGESIZE) * mmap.PAGESIZE  # whole pages alone
        size = (begin + end) // mmap.PAGESIZE * mmap.PAGESIZE - first
        with suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(size), mmap.MADV_DONTNEED)


class Span(NamedTuple):
    """Memory that is in use from one entry to another, both included."""

    first: int
    last: int
    size: int


class Gradients:
    """The memory of all .grad that a step makes, side by side: what comes first lies last.

    Until they come, their places are free; and the later they come, the longer. `before`: the `found` of the first recording.
    """

    def __init__(self, origins, before: list[tuple[int, int]]):
        self.origins = origins
        self.found: list[tuple[int, int]] = []  # (when it came, its size) of each gradient that a leaf keeps
        self.sizes = [size for _, size in before]
        order = sorted(range(len(before)), key=lambda number: -before[number][0])
        begins = dict(zip(order, accumulate((_whole_lines(before[number][1]) for number in order), initial=0)))
        self.starts = [begins[number] for number in range(len(before))]
        self.size = sum(map(_whole_lines, self.sizes))
        self.memory: Any = None  # once the first comes: then the backward has freed as much
        self.taken: dict = {}  # number: the owner of the memory
        self._left = 0  # bytes that may be taken before memory is given back
        self._stay: set = set()  # numbers of the memory that something else than kept calls works on

    def let_stay(self, arrays) -> None:
        """These arrays stay where they are."""
        self._stay.update(map(self.origins.key, arrays))

    def keep(self, dy):
        """A gradient that its leaf keeps: in its place; where it is, if something else works on it, or it was another before."""
        kind, *when = self.origins.of(dy)
        self.found.append((when[0] if kind == "made" else 0, dy.nbytes))
        number = len(self.found) - 1
        alike = number < len(self.sizes) and self.sizes[number] == dy.nbytes > 0
        if not alike or self.origins.key(dy) in self._stay:
            return dy
        made = self._place(number, dy)
        if not self.origins.goes_to(dy, made):
            return dy
        self.taken[number] = holder_of(made)
        _move(made, dy)
        return made

    def _place(self, number: int, array):
        """An array as this one in the place of this number. Its memory is known by itself.

        Where there is much of it, what the backward has freed so far goes back to the system: both need not be there together.
        """
        if self.memory is None:
            self.memory = _lines(np.empty(self.size + _LINE, np.uint8))
        self._left -= array.nbytes
        if self._left < 0 and self.size >= _MUCH:
            give_back()
            self._left = self.size // 8
        start = self.starts[number]
        return np.ndarray(array.shape, array.dtype, np.asarray(Part(self.memory[start : start + array.nbytes])))

    def hole(self, entries, anew) -> "Hole":
        """What of it is free until when. again: ids of the leaves whose .grad each replay makes, whatever was there."""
        numbers = {id(owner): number for number, owner in self.taken.items()}
        comes = [len(entries) if number in self.taken else 0 for number in range(len(self.starts))]
        given: dict = {}  # id of a leaf: (entry, number or None) of each time that its .grad is set
        for at, entry in enumerate(entries):
            for owner in _owners(entry):
                if (number := numbers.get(id(owner))) is not None:
                    comes[number] = min(at, comes[number])
            for leaf, grad in entry.pairs if isinstance(entry, Grads) else ():
                given.setdefault(id(leaf), []).append((at, numbers.get(id(holder_of(grad._array))) if grad is not None else None))
        opens = 0
        for leaf, times in given.items():
            (let_go, first), mine = times[0], {number for _, number in times if number is not None}
            if leaf in anew and first is None and mine:
                opens = max(opens, let_go + 1)
            else:
                comes = [0 if number in mine else entry for number, entry in enumerate(comes)]
        return Hole(opens, sorted(zip(self.starts, comes)), self.size)


class Hole:
    """Memory that is free from entry `opens` on; from each of `starts` on until an entry needs it: [(start, entry)]."""

    def __init__(self, opens: int, starts: list[tuple[int, int]], size: int):
        self.opens, self.starts = opens, [*(start for start, _ in starts), size]
        self._until = [-until for until in accumulate((entry for _, entry in starts), min)]

    def reach(self, last: int) -> int:
        """How many bytes from its beginning nobody needs up to the entry `last`."""
        return self.starts[bisect_left(self._until, -last)]


def settle(entries, kept, origins, anew=frozenset(), gradients: Gradients | None = None) -> int:
    """Give entries with kept calls arrays for their places. `kept`: arrays that must stay where they are; `again`: ids of the
    leaves whose .grad each replay makes, whatever was there.

    Gives the bytes that are held then.
    """
    fixed = {id(owner): owner for array in [*kept, *_arrays(entries)] if (owner := holder_of(array)) is not None}
    spans = _spans(entries, fixed)
    over = _written_over(entries, spans)
    hole = None if gradients is None else gradients.hole(entries, anew)
    places, size = find_places(spans, hole)
    places |= {made: places[saved] for made, saved in over.items()}
    arena = _lines(np.empty(size + _LINE, np.uint8))
    others: dict = {}  # memory that no call touches, or that stays

    def array(x):
        """The array of a place, or the one that it is."""
        if not isinstance(x, Place):
            return x
        if x.memory in places:
            lent, start = places[x.memory]
            return x.on(gradients.memory if lent else arena, start)  # type: ignore[union-attr]
        if x.memory not in others:
            owner = x.memory.stays if x.memory.stays is not None else x.memory.owner()
            others[x.memory] = np.empty(x.memory.size, np.uint8) if owner is None else as_bytes(owner)
        return x.on(others[x.memory])

    for entry in entries:
        if entry.calls is not None and not entry.stays:  # it works on places
            entry.move(array)
    made = [owner for owner in fixed.values() if origins.knows(owner) and origins.of(owner)[0] == "made"]
    return size + sum(getattr(owner, "nbytes", 0) for owner in made)


def _arrays(entries) -> list:
    """All arrays that entries have; places are none."""
    found = [array for entry in entries for array in entry.touched()]
    return found + [array for entry in entries for *_, arguments in entry.calls or () for array in arrays_in(list(arguments))]


def _places(entry) -> Iterator[Place]:
    """The places that the calls of an entry work on."""
    return (place for *_, arguments in entry.calls or () for place in arrays_in(list(arguments), Place))


def _owners(entry) -> list:
    """The owners of all memory that an entry touches; of what may move, those that are still there."""
    places = [place.memory.owner() if place.memory.stays is None else holder_of(place.memory.stays) for place in _places(entry)]
    return places + [holder_of(array) for array in _arrays([entry])]


def _spans(entries, fixed) -> dict[Any, Span]:
    """The span of all memory that may move."""
    spans: dict = {}
    for number, entry in enumerate(entries):
        for memory in (place.memory for place in _places(entry)):
            if memory.stays is None and id(memory.owner()) not in fixed:
                first = spans[memory].first if memory in spans else number
                spans[memory] = Span(first, number, _whole_lines(memory.size))
    return spans


def _written_over(entries, spans) -> dict[Any, Any]:
    """{memory of a gradient: that of what the operation saved, which it may be written over}. The two spans become one."""
    pairs = {}
    for number, entry in enumerate(entries):
        if not isinstance(entry, Backward) or not entry.op.overwrites:
            continue
        made, saved = entry.dxs[0], getattr(entry.saved, entry.op.overwrites)
        if type(made) is not Place or type(saved) is not Place or made[1:] != saved[1:]:
            continue
        one, two = spans.get(saved.memory), spans.get(made.memory)
        if one and two and one.last == two.first == number and one.size == two.size:
            spans[saved.memory] = Span(one.first, spans.pop(made.memory).last, one.size)
            pairs[made.memory] = saved.memory
    return pairs


def _whole_lines(size: int) -> int:
    return -(-max(size, 1) // _LINE) * _LINE


def _lines(memory):
    """Bytes from the first line of the cache on."""
    return memory[-memory.ctypes.data % _LINE :]


def as_bytes(array):
    """The bytes of an array, or of what else holds memory, as a view; None where it has gaps."""
    if isinstance(array, Part):
        return array.memory
    if not isinstance(array, np.ndarray):
        return None
    dense = array if array.flags.c_contiguous else array.T
    return dense.reshape(-1).view(np.uint8) if dense.flags.c_contiguous else None


# ---------------------------------------------------------------- places


def find_places(spans, hole: Hole | None = None) -> tuple[dict, int]:
    """(whether it lies in the hole, bytes from its start there or in the arena) for every span, and the size of the arena.

    As they come, each in the gap that became free last, which a cache still has; or the largest first, where that takes less.
    """
    one = _by_time(spans, hole)
    two = _by_size(spans, hole) if len(spans) < _MANY else one
    return two if two[1] < _WORTH * one[1] else one


def _by_time(spans, hole) -> tuple[dict, int]:
    """One after the other. The smallest gap that is wide enough is taken, first in the hole; of equal ones that which became
    free last."""
    places: dict = {}
    free: list = []  # (whether in the hole, start, size) of gaps, the one that became free last at the end
    end = 0
    starting: dict = {}
    for name, (first, last, size) in spans.items():
        starting.setdefault(first, []).append((name, last, size))
    ending: dict = {}
    for number in range(1 + max((span.last for span in spans.values()), default=-1)):
        if hole is not None and number == hole.opens:
            free = [(True, 0, hole.starts[-1]), *free]
        for name, last, size in starting.get(number, ()):
            reach = hole.reach(last) if hole is not None else 0
            wide = [gap for gap in free if gap[2] >= size and (not gap[0] or gap[1] + size <= reach)]
            if wide:
                lent, start, width = min(reversed(wide), key=lambda gap: (not gap[0], gap[2]))
                free.remove((lent, start, width))
                if width > size:
                    free.append((lent, start + size, width - size))
            else:
                lent, start, end = False, end, end + size
            places[name] = lent, start
            ending.setdefault(last, []).append((lent, start, size))
        for gap in ending.pop(number, ()):
            free = _with(free, gap)
    return places, end


def _with(free, gap) -> list:
    """The gaps with one more, joined to its neighbours."""
    lent, start, size = gap
    for other in [each for each in free if each[0] == lent and (each[1] + each[2] == start or start + size == each[1])]:
        free.remove(other)
        start, size = min(start, other[1]), size + other[2]
    return [*free, (lent, start, size)]


def _by_size(spans, hole) -> tuple[dict, int]:
    """The largest first, each in the smallest gap between those that live at the same time, first in the hole."""
    names = sorted(spans, key=lambda name: -spans[name].size)
    rooms = {lent: np.zeros((4, len(names)), np.int64) for lent in (True, False)}  # first, last, start, end of what lies there
    counts, places = {True: 0, False: 0}, {}
    for name in names:
        first, last, size = spans[name]
        limits = {True: hole.reach(last) if hole is not None and first >= hole.opens else 0, False: 1 << 62}
        for lent, limit in limits.items():
            placed = rooms[lent][:, : counts[lent]]
            there = placed[2:, (placed[0] <= last) & (placed[1] >= first)]
            start = _gap(there[:, np.argsort(there[0])], size, limit)
            if start is not None:
                rooms[lent][:, counts[lent]] = first, last, start, start + size
                counts[lent] += 1
                places[name] = lent, start
                break
    return places, int(rooms[False][3].max(initial=0))


def _gap(there, size: int, limit: int) -> int | None:
    """Where the smallest gap of at least `size` between intervals [start, end] begins; None where there is none below `limit`."""
    ends = np.maximum.accumulate(np.concatenate([[0], there[1]]))
    wide = np.concatenate([there[0], [limit]]) - ends
    wide[(wide < size) | (ends + size > limit)] = -1
    if wide.max() < 0:
        return None
    return int(ends[np.where(wide >= 0, wide, 1 << 62).argmin()])
