"""One writer in a folder: a lock that the operating system takes back when its process ends, however it ends."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from badak.errors import FileError, StateError, warn_once

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_BYTE = 1 << 30  # the byte that Windows locks: far behind the text, which others may read
_HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK}


@contextmanager
def locked(path: str | os.PathLike, where: str, fix: str) -> Iterator[bool]:
    """Hold the lock file `path` within the block; whether there is a lock: some file systems have none, which a warning says.

    Raises StateError (`where`, who has it, `fix`) where another process, or another part of this one, holds it, and
    FileError where the file cannot be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written ({error.strerror})", "check the folder, its rights and the free space"
        ) from error
    try:
        yield _take(handle, path, where, fix)
    finally:
        os.close(handle)


def _take(handle: int, path: str | os.PathLike, where: str, fix: str) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(handle, _BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            raise StateError(f"{where}: another training is at work there{_owner(path)}", fix) from None
        warn_once(
            ("no locks", str(path)),
            f"{where}: this file system has no locks ({error.strerror}), so a second training there would not be noticed",
            "train one at a time in this folder",
        )
        return False
    with suppress(OSError):  # only for the message of another process
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"{os.getpid()}\n".encode())
    return True


def _owner(path: str | os.PathLike) -> str:
    with suppress(OSError):
        number = Path(path).read_text(encoding="ascii", errors="replace").strip()
        if number.isdigit():
            return f" (process {number[:20]})"
    return ""
