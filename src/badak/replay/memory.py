"""One piece of memory for what a replay makes and needs no longer a little later, used again and again as it is run through.

While a step is recorded, all of its results stay. A replay knows when each is read for the last time: from then on its place
is free for others. That takes about the memory that the step takes without recording.

Only memory that nothing but kept calls of kernels touches is moved: not what Python reads, what the step returns, or .grad.
"""

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from badak.replay.entries import Call
from badak.replay.origins import arrays_in, is_table, owner_of

_LINE = 64  # bytes: places start at lines of the cache
_LEAST = 1 << 29  # bytes that recordings may hold on any machine


@cache
def machine_memory() -> int | None:
    """Bytes that this process may have: the machine's, or its container's; None where the system does not say."""
    found = []
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):  # "max" where there is no limit
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min((size for size in found if size > 0), default=None)


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


def give_back() -> None:
    """Give the system what a recording took and no longer needs: malloc keeps what is freed (`kernels/fast/_memory.py`)."""
    with suppress(OSError, AttributeError, TypeError):  # a system without glibc has no such function
        ctypes.CDLL(None).malloc_trim(0)


def settle(entries, kept, origins) -> int:
    """Move what entries with kept calls make into shared memory. `kept`: arrays that must stay where they are.

    Gives the bytes that are held then.
    """
    spans = _spans(entries, {id(owner_of(array)) for array in kept} | _of_python(entries), origins)
    places, size = _places(spans)
    arena = np.empty(size + _LINE, np.uint8)
    start = -arena.ctypes.data % _LINE

    def moved(array):
        """The same view of the new place of an array's memory."""
        owner = owner_of(array)
        if id(owner) not in places:
            return array
        inside = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(array.shape, array.dtype, arena, start + places[id(owner)] + inside, array.strides)

    for entry in entries:
        if entry.calls is not None:
            entry.move(moved)
    return max(0, origins.bytes - sum(size for *_, size in spans.values())) + size


def _of_python(entries) -> set[int]:
    """The owners of all memory that Python touches: in entries without calls, and where an id may turn out to be wrong."""
    python = [entry for entry in entries if entry.calls is None or isinstance(entry, Call)]
    return {id(owner_of(array)) for entry in python for array in entry.touched()}


def _spans(entries, fixed, origins) -> dict:
    """id of an owner: (the number of the first entry that touches it, of the last, its bytes), for memory that may move."""
    spans: dict = {}
    for number, entry in enumerate(entries):
        for _, _, _, arguments in entry.calls or ():
            for array in arrays_in(list(arguments)):
                owner = owner_of(array)
                made = not origins.knows(array) or origins.of(array)[0] == "made"
                if array.size and id(owner) not in fixed and made and not is_table(array):
                    first = spans.get(id(owner), (number,))[0]
                    spans[id(owner)] = first, number, owner.nbytes
    return spans


def _places(spans) -> tuple[dict, int]:
    """A place, in bytes from the start, for every span, and the size of the whole. The smallest gap that is wide enough is
    taken, of equal ones that which became free last."""
    places: dict = {}
    free: list = []  # (start, size) of gaps, the one that became free last at the end
    end = 0
    begins: dict = {}
    for name, (first, last, size) in spans.items():
        begins.setdefault(first, []).append((name, last, -(-max(size, 1) // _LINE) * _LINE))
    ending: dict = {}
    for number in range(max(begins, default=-1) + 1):
        for name, last, size in begins.get(number, ()):
            wide = [gap for gap in free if gap[1] >= size]
            if wide:
                start, width = min(reversed(wide), key=lambda gap: gap[1])
                free.remove((start, width))
                if width > size:
                    free.append((start + size, width - size))
            else:
                start, end = end, end + size
            places[name] = start
            ending.setdefault(last, []).append((start, size))
        for gap in ending.pop(number, ()):
            free = _with(free, gap)
    return places, end


def _with(free, gap) -> list:
    """The gaps with one more, joined to its neighbours."""
    start, size = gap
    for other in [each for each in free if each[0] + each[1] == start or start + size == each[0]]:
        free.remove(other)
        start, size = min(start, other[0]), size + other[1]
    return [*free, (start, size)]
