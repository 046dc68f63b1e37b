"""Paths as a caller gives them; and every write: whole or not at all, and never through a link into another file.

A folder may come from somebody else: with `.lock`, metrics.csv or a folder within it as links to files of ours. What badak
writes into it goes through here (or `lock.py`): a file is made again under a name that nothing has, and renamed; what grows is
opened only where it is a file of this folder alone; a folder within a folder is one, and no link to another.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from badak.core.errors import ArgumentTypeError, FileError, tr
from badak.io.errors import AbsentFileError

SMALL = 64 << 20  # bytes: read as JSON they may take thirty times as much memory
NO_LINK = getattr(os, "O_NOFOLLOW", 0)  # Windows has it not: there `expect_own` alone sees a link
NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a pipe without a reader is refused, not waited for


def as_path(path: str | os.PathLike) -> Path:
    """`path` as a Path, be there something or not. ArgumentTypeError for what is no path, FileError for a name that no file can
    have."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = b""
    if not isinstance(text, str):
        cause = tr("expected a path; got {}", type(path).__name__)
        raise ArgumentTypeError(cause, "a text such as 'data/file.txt', or a pathlib.Path")
    try:
        os.lstat(text)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # what opens or makes it says so
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(tr("{!r}: cannot be looked up ({})", text[:80], why), "a path that this system can have") from None
    return Path(text)


def write_file(path: str | os.PathLike, fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write to a temporary neighbour of `path`, force it to the disk, and rename it over `path`.

    Where `fill` raises or the disk is full, `path` keeps what it had and the neighbour is removed. A link at `path` is replaced:
    what it points at stays as it is. Raises FileError where the folder is absent or cannot be written, and for a device.
    """
    with new_file(path) as file:
        fill(file)


@contextmanager
def new_file(path: str | os.PathLike) -> Iterator[BinaryIO]:
    """`write_file` as a block, for what is written in many steps: the file takes its name at the end of the block."""
    path = as_path(path)
    neighbour = path.parent / f".{path.name}.{os.getpid()}.partial"  # path.name is empty for "." and "/"
    try:
        _expect_file(path)
        with suppress(FileNotFoundError):
            neighbour.unlink()  # of a process that had our number, or a link that somebody put there
        with open(neighbour, "xb") as file:  # where nothing is: no link is followed
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(neighbour, path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with suppress(OSError):
            neighbour.unlink()
    sync_folder(path.parent)


def append_to(path: str | os.PathLike, data: bytes) -> None:
    """Add `data` to the end of a file, made if absent, and force it to the disk. FileError where it is a link or no file.

    A file that has another name too (a copy made by hard links) is copied first: the other one keeps what it has.
    """
    path = as_path(path)
    try:
        with open(path, "ab", opener=lambda name, flags: os.open(name, flags | NO_LINK | NO_WAIT, 0o666)) as file:
            expect_own(path, file.fileno())
            shared = os.fstat(file.fileno()).st_nlink > 1
            if not shared:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        if shared:
            before = path.read_bytes()
            write_file(path, lambda file: file.write(before + data))
    except OSError as error:
        raise unwritable(path, error) from error


def make_folder(folder: str | os.PathLike, within: str = "") -> Path:
    """Make `folder`, and the ones above it, if absent; with `within` the folder of that name in it, which must be no link."""
    place = as_path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name in filter(None, within.split("/")):
            place = place / name
            place.mkdir(exist_ok=True)
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                raise FileError(tr("{}: is a link to another folder, and nothing is written through it", place), "remove the link")
    except OSError as error:
        raise FileError(tr("{}: cannot be made ({})", place, _reason(error)), "choose another folder") from error
    return place


def expect_own(path: Path, handle: int | None = None) -> None:
    """Raise FileError where `path` is a link, or what was opened there is no plain file."""
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode) or not stat.S_ISREG(mode if handle is None else os.fstat(handle).st_mode):
        what = tr("a link") if stat.S_ISLNK(mode) else tr("no plain file")
        raise FileError(tr("{}: is {}, and nothing is written through it", path, what), "remove it, or choose another folder")


def _expect_file(path: Path) -> None:
    """Refuse what a rename would destroy, or must not: a device, a pipe, a folder, be it behind a link."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            what = tr("a folder") if stat.S_ISDIR(mode) else tr("no plain file")
            raise FileError(tr("{}: cannot be written (it is {})", path, what), "the name of a file")


def remove_leftovers(folder: Path) -> None:
    """Remove what `write_file` left in `folder` where it was killed. Nobody else may be writing there."""
    with suppress(OSError):
        for path in folder.glob(".*.partial"):
            path.unlink()


def sync_folder(folder: Path) -> None:
    """Force the renames in `folder` to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def open_file(path: str | os.PathLike) -> BufferedReader:
    """Open a file to read it; every reader does it here. FileError for what is no plain file, be it behind a link.

    A pipe would be waited for until somebody writes into it, and a device may have no end.
    """
    file = open(as_path(path), "rb", opener=lambda name, flags: os.open(name, flags | NO_WAIT))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        cause = tr("{}: cannot be read (it is no plain file)", path)
        raise FileError(cause, "copy what comes out of it into a file, and name that")
    return file


@contextmanager
def reading(path: str | os.PathLike) -> Iterator[BufferedReader]:
    """The file as `open_file` opens it, for as long as the block takes. FileError, too, where it cannot be opened or read."""
    try:
        with open_file(path) as file:
            yield file
    except FileError:  # one for an absent file is an OSError
        raise
    except OSError as error:
        raise unreadable(path, error) from error


def read_small(path: str | os.PathLike, at_most: int | None = None) -> bytes:
    """The bytes of a file of settings or tokens. FileError where it cannot be read, and for one larger than any of these is."""
    at_most = SMALL if at_most is None else at_most
    with reading(path) as file:
        data = file.read(at_most + 1)
    if len(data) > at_most:
        raise FileError(tr("{}: more than {} MiB, and no such file is so large", path, at_most >> 20), "restore it from a copy")
    return data


def unwritable(path: str | os.PathLike, error: OSError) -> FileError:
    """The complaint about a file that the system does not let us write."""
    if error.errno == errno.ELOOP:
        return FileError(tr("{}: is a link, and nothing is written through it", path), "remove it, or choose another folder")
    return FileError(tr("{}: cannot be written ({})", path, _reason(error)), "check the folder, its rights and the free space")


def unreadable(path: str | os.PathLike, error: OSError) -> FileError:
    """The complaint about a file that the system does not hand over."""
    if isinstance(error, FileNotFoundError):
        cause = tr("{}: no such file", path)
        return AbsentFileError(cause, "check the path; files are looked up from the folder that the program runs in")
    return FileError(tr("{}: cannot be read ({})", path, _reason(error)), "check that it is a file and that you may read it")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
