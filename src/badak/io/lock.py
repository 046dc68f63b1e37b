"""One writer in a folder: a lock that the operating system takes back when its process ends, however it ends."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from badak.core.errors import StateError, tr, warn_once
from badak.core.locking import HELD, lock_now
from badak.io.atomic import NO_LINK, NO_WAIT, expect_own, unwritable

_DIGITS = 20  # the room of a number in the file: no truncating is needed for a shorter one
_NUMBER = re.compile(rb"\d+ *\n")


@contextmanager
def locked(path: str | os.PathLike, where: str, fix: str) -> Iterator[bool]:
    """Hold the lock file `path` within the block; whether there is a lock: some file systems have none, which a warning says.

    Raises StateError (`where`, who has it, `fix`) where another process, or another part of this one, holds it, and
    FileError where the file cannot be made.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | NO_LINK | NO_WAIT, 0o666)
    except OSError as error:
        raise unwritable(path, error) from error
    try:
        expect_own(Path(path), handle)
        yield _take(handle, path, where, fix)
    finally:
        os.close(handle)


def _take(handle: int, path: str | os.PathLike, where: str, fix: str) -> bool:
    try:
        lock_now(handle)
    except OSError as error:
        if error.errno in HELD:
            raise StateError(tr("{}: another training is at work there{}", where, _owner(handle)), fix) from None
        cause = tr("{}: this file system has no locks ({}), so a second training there would not be noticed", where, error.strerror)
        warn_once(("no locks", str(path)), cause, "train one at a time in this folder")
        return False
    with suppress(OSError):  # only for the message of another process
        _sign(handle)
    return True


def _sign(handle: int) -> None:
    """Write our number over that of another one, in as many bytes. A file with more in it, or with another name, stays as it is."""
    os.lseek(handle, 0, os.SEEK_SET)
    before = os.read(handle, _DIGITS + 2)
    if os.fstat(handle).st_nlink == 1 and (not before or _NUMBER.fullmatch(before)):
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"{os.getpid():<{_DIGITS}}\n".encode())


def _owner(handle: int) -> str:
    with suppress(OSError):
        number = os.read(handle, _DIGITS).strip()
        if number.isdigit():
            return tr(" (process {})", number.decode())
    return ""
