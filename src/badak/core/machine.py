"""What this process may have of the machine: cores and memory. A container's limits count, and so do those of a batch system.

It imports Python's own library alone: the guard of a rank reads it as a file.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from math import ceil
from pathlib import Path

__all__ = ["cores", "machine_memory", "quota"]

_GROUPS = Path("/sys/fs/cgroup")
_OF_PROCESS = Path("/proc/self/cgroup")


def cores() -> int:
    """How many cores this process may keep busy, at least one.

    A quota of 150 % of a core (`docker run --cpus 1.5`) counts as two: threads beyond it would only wait for each other.
    """
    return quota() or _allowed()


def quota() -> int | None:
    """The cores that a container may use at a time, where it may run on more: on any of them, as others do."""
    granted = _granted()
    return granted if granted is not None and granted < _allowed() else None


def _allowed() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _granted() -> int | None:
    """The cores that the control groups grant at a time, at least one; None without a limit."""
    granted = []
    for folder in _groups("cpu"):
        with suppress(OSError, ValueError, ZeroDivisionError):  # "max" or -1 where there is no limit
            if (both := folder / "cpu.max").exists():
                quota, period = map(int, both.read_text().split())
            else:
                quota, period = (int((folder / f"cpu.cfs_{what}_us").read_text()) for what in ("quota", "period"))
            if quota > 0:
                granted.append(ceil(quota / period))
    return min(granted, default=None)


@cache
def machine_memory() -> int | None:
    """Bytes that this process may have: the machine's, or its container's; None where the system does not say."""
    found = []
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for folder in _groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):  # "max" where there is no limit
                found.append(int((folder / name).read_text()))
    return min((size for size in found if size > 0), default=None)


def _groups(controller: str) -> Iterator[Path]:
    """The folders of the control groups of this process on Linux, each with those around it: all of their limits hold."""
    with suppress(OSError, ValueError):
        for line in _OF_PROCESS.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            top = _GROUPS / controllers  # version 2 has one tree, without controllers in its name
            inner = top / path.lstrip("/")
            yield from [inner, *(folder for folder in inner.parents if folder.is_relative_to(top))]
