"""Paths as a caller gives them; and writing a file so that a reader sees the old one or the new one, never half of one."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from badak.errors import FileError, KindError
from badak.io.errors import AbsentFileError


def as_path(path: str | os.PathLike) -> Path:
    """`path` as a Path, be there something or not. KindError for what is no path, FileError for a name that no file can have."""
    try:
        text = os.fspath(path)
    except TypeError:
        text = b""
    if not isinstance(text, str):
        raise KindError(f"expected a path; got {type(path).__name__}", "a text such as 'data/file.txt', or a pathlib.Path")
    try:
        os.lstat(text)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # what opens or makes it says so
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(f"{text[:80]!r}: cannot be looked up ({why})", "a path that this system can have") from None
    return Path(text)


def write_file(path: str | os.PathLike, fill: Callable[[BinaryIO], object]) -> None:
    """Let `fill` write to a temporary neighbour of `path`, force it to the disk, and rename it over `path`.

    Where `fill` raises or the disk is full, `path` keeps what it had and the neighbour is removed.
    Raises FileError where the folder is absent or cannot be written.
    """
    path = as_path(path)
    neighbour = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(neighbour, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(neighbour, path)
    except OSError as error:
        raise FileError(
            f"{path}: cannot be written ({_reason(error)})", "check the folder, its rights and the free space"
        ) from error
    finally:
        with suppress(OSError):
            neighbour.unlink()
    sync_folder(path.parent)


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


def unreadable(path: str | os.PathLike, error: OSError) -> FileError:
    """The complaint about a file that the system does not hand over."""
    if isinstance(error, FileNotFoundError):
        return AbsentFileError(
            f"{path}: no such file", "check the path; files are looked up from the folder that the program runs in"
        )
    return FileError(f"{path}: cannot be read ({_reason(error)})", "check that it is a file and that you may read it")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
