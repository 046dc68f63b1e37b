"""A folder that is there as a whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from badak.core.errors import FileError, tr
from badak.io.atomic import as_path, sync_folder

_ANOTHER = tr("choose another folder")


def expect_free(path: str | os.PathLike) -> Path:
    """The path, where nothing stands yet: no file, no folder, and no link, wherever it leads. FileError otherwise."""
    place = as_path(path)
    if os.path.lexists(place):
        kind = tr("a link") if place.is_symlink() else tr("a folder") if place.is_dir() else tr("a file")
        raise FileError(tr("{}: there is {} already, and nothing is written over it", place, kind), _ANOTHER)
    return place


@contextmanager
def whole_folder(path: str | os.PathLike) -> Iterator[Path]:
    """A new folder to fill within the block, next to `path`, whose name it takes at the end; where the block fails it is removed.

    Raises FileError where there is something at `path` already, before or at the end, and where no folder can be made.
    """
    place = expect_free(path)
    stage = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        stage.mkdir()  # fails where there is something, a link too: nobody else's folder is filled
    except OSError as error:
        raise FileError(tr("{}: cannot be made ({})", place, error.strerror), _ANOTHER) from error
    try:
        yield stage
        for folder in (*(one for one in stage.rglob("*") if one.is_dir()), stage):
            sync_folder(folder)
        expect_free(place)
        try:
            os.rename(stage, place)
        except OSError as error:
            raise FileError(tr("{}: cannot be made ({})", place, error.strerror), _ANOTHER) from error
    except BaseException:
        shutil.rmtree(stage, ignore_errors=True)
        raise
    sync_folder(place.parent)
