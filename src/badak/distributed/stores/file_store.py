"""FileStore: processes that see one file. It holds the commands that changed the store, a line of JSON for each, in their order.

Whoever asks locks the file, reads the lines that are new to him, and adds his own. A line that has no end is of a process that was
killed while it wrote, and is cut off.
"""

import json
import os
import threading
import time
import weakref
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from badak.core.errors import tr
from badak.core.locking import HELD, lock_now
from badak.core.public_api import guard_types
from badak.distributed.errors import DistStoreError
from badak.distributed.stores.contents import CHANGES, Contents
from badak.distributed.stores.store import FIVE_MINUTES, Store, expect_count


class FileStore(Store):
    """A store in a file that all processes see.

    Args:
        file_name: its path; the file is made where there is none
        world_size: how many stores will be opened on it: after the last of them is gone, the file is deleted, if one of
            them made it. -1: it stays
    """

    def __init__(self, file_name: str | os.PathLike, world_size: int = -1) -> None:
        super().__init__()
        self._path, self._world_size = os.fspath(file_name), expect_count(world_size, tr("FileStore: world_size"))
        self._log = _Log(self._path)
        self._log.ask(FIVE_MINUTES, "join", self._log.made())
        weakref.finalize(self, _left, self._log, os.getpid(), self._world_size)

    @property
    def path(self) -> str:
        """That of the file."""
        return self._path

    def clone(self) -> "FileStore":
        """Another store on the same file."""
        return FileStore(self._path, self._world_size)

    def _ask(self, command: str, *args: Any) -> Any:
        return self._log.ask(self.timeout, command, *args)


class _Log:
    """The file, and what its lines so far have made of the store."""

    def __init__(self, path: str) -> None:
        self.path, self.contents, self.read, self.turn = path, Contents(), 0, threading.Lock()
        self.number = 0  # of the file, by which a new one at its path is noticed

    def made(self) -> bool:
        """Whether there was no file, and now there is one: a file of somebody else is theirs to delete."""
        with suppress(OSError):  # what is wrong with the path is said when it is opened
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
            return True
        return False

    def ask(self, timeout: timedelta, command: str, *args: Any) -> Any:
        with self.turn, self._locked(timeout.total_seconds()) as handle:
            self._catch_up(handle)
            answer = self.contents.do(command, *args)
            if command in CHANGES:
                line = json.dumps([command, *args]).encode() + b"\n"
                os.lseek(handle, self.read, os.SEEK_SET)
                while line:
                    written = os.write(handle, line)
                    self.read, line = self.read + written, line[written:]
            return answer

    @contextmanager
    def _locked(self, seconds: float):
        end = time.monotonic() + seconds
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            cause = tr("FileStore: {} cannot be opened: {}", self.path, error.strerror)
            raise DistStoreError(cause, "a path in a folder in which all processes may write") from None
        try:
            while not self._take(handle):
                if time.monotonic() >= end:
                    cause = tr("FileStore: another process has held {} for {:g} s", self.path, seconds)
                    raise DistStoreError(cause, "look at the process that has it open")
                time.sleep(0.002)
            yield handle
        finally:
            os.close(handle)

    def _take(self, handle: int) -> bool:
        try:
            lock_now(handle)
        except OSError as error:
            if error.errno in HELD:
                return False
            cause = tr("FileStore: the file system of {} has no locks: {}", self.path, error.strerror)
            raise DistStoreError(cause, "a path on a local disk, or a TCPStore") from None
        return True

    def _catch_up(self, handle: int) -> None:
        """Do what others have done since."""
        here = os.fstat(handle)
        self.number = self.number or here.st_ino
        if here.st_ino != self.number or here.st_size < self.read:
            cause = tr("FileStore: {} is another file than before", self.path)
            raise DistStoreError(cause, "world_size=-1 keeps the file; delete it when all have ended")
        os.lseek(handle, self.read, os.SEEK_SET)
        parts = []
        while part := os.read(handle, 1 << 20):
            parts.append(part)
        whole, ended, torn = b"".join(parts).rpartition(b"\n")
        for line in whole.splitlines() if ended else ():
            self._repeat(line)
        self.read += len(whole) + len(ended)
        if torn:
            os.ftruncate(handle, self.read)

    def _repeat(self, line: bytes) -> None:
        try:
            command, *args = json.loads(line)
            if command not in CHANGES:
                raise ValueError
            self.contents.do(command, *args)
        except (ValueError, TypeError, RecursionError):
            cause = tr("FileStore: {} is no file of a store", self.path)
            raise DistStoreError(cause, "a path of its own, at which there is no file") from None


def _left(log: _Log, process: int, world_size: int) -> None:
    """A store is gone: the last of world_size takes the file along."""
    if os.getpid() != process:  # a fork's copy of the store
        return
    with suppress(DistStoreError, OSError):
        if log.ask(timedelta(seconds=1), "leave") and log.contents.made and 0 <= world_size <= log.contents.left:
            os.unlink(log.path)


guard_types(globals(), "badak.distributed")
