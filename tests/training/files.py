"""File operations that fail: a process killed at the n-th one, a disk that is full from there on."""

import builtins
import errno
import io
import os
from contextlib import contextmanager

CREATING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Killed(BaseException):
    """What ends a process that is killed. From then on nothing that it does reaches the disk."""


class Failing:
    """Counts the operations that change a disk, and lets the one with number `at` fail, as a kill or as a full disk does."""

    def __init__(self, at: int, kind: str):
        self.at, self.kind, self.count = at, kind, 0

    @property
    def dead(self) -> bool:
        return self.kind == "kill" and self.count >= self.at

    def happen(self, needs_space: bool = True) -> None:
        """One more operation."""
        if self.kind == "full" and not needs_space:
            return
        self.count += 1
        if self.kind == "kill" and self.count >= self.at:
            raise Killed
        if self.kind == "full" and self.count >= self.at or self.kind == "full once" and self.count == self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def wrapped(self, function, needs_space):
        def counted(*args, **options):
            self.happen(needs_space)
            return function(*args, **options)

        return counted

    def open_handle(self, path, flags, *args, **options):
        if flags & CREATING:
            self.happen()
        return _open_handle(path, flags, *args, **options)

    def open(self, path, mode="r", *args, **options):
        if isinstance(path, int) or not set(mode) & set("wax+"):
            return _open(path, mode, *args, **options)
        assert "b" in mode
        self.happen()
        return io.BufferedWriter(_Raw(self, path, mode.replace("b", ""), options.get("opener")))


class _Raw(io.FileIO):
    def __init__(self, failing, path, mode, opener):
        super().__init__(path, mode, opener=opener)
        self.failing = failing

    def write(self, data):
        if self.failing.dead:
            return len(data)  # a buffer that nobody will ever write
        try:
            self.failing.happen()
        except BaseException:
            super().write(bytes(data)[: len(data) // 2])  # torn
            raise
        return super().write(data)


_open, _open_handle = builtins.open, os.open
_CHANGING = {"replace": False, "rename": False, "unlink": False, "mkdir": True, "fsync": True, "ftruncate": False, "write": True}


@contextmanager
def failing(at: int, kind: str):
    """Let the file operation with number `at` fail: "kill", "full" (from then on), "full once" or "never"."""
    state = Failing(at, kind)
    before = {name: getattr(os, name) for name in _CHANGING}
    try:
        for name, needs_space in _CHANGING.items():
            setattr(os, name, state.wrapped(before[name], needs_space))
        os.open, builtins.open, io.open = state.open_handle, state.open, state.open
        yield state
    finally:
        for name, function in before.items():
            setattr(os, name, function)
        os.open, builtins.open, io.open = _open_handle, _open, _open
