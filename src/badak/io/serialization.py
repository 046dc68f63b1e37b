"""torch.serialization's names: save, load, and the list of classes that the user vouches for."""

import mmap
from types import ModuleType
from typing import Any

from badak.core import events
from badak.core.errors import ArgumentError, ArgumentTypeError, NotSupportedError, tr
from badak.io import allowed, options
from badak.io.archive import PyTorchFileReader, PyTorchFileWriter
from badak.io.options import LoadEndianness as LoadEndianness
from badak.io.pt import is_archive
from badak.io.pt import load as load
from badak.io.pt import save as save

_is_zipfile = is_archive  # PyTorch's name


def get_crc32_options() -> bool:
    """What set_crc32_options has set."""
    return options.save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Accepted: badak writes the CRC of every record in any case."""
    events.setting("set_crc32_options")
    options.save.compute_crc32 = compute_crc32


def get_default_load_endianness() -> LoadEndianness | None:
    """What set_default_load_endianness has set."""
    return options.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """In which order the bytes of a number lie in files that do not say it: little end first for None."""
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise ArgumentTypeError(tr("Invalid argument type in function set_default_load_endianness"), "LoadEndianness.LITTLE")
    events.setting("set_default_load_endianness")
    options.load.endianness = endianness


def get_default_mmap_options() -> int:
    """What set_default_mmap_options has set."""
    return options.load.mmap_flags


class set_default_mmap_options:  # noqa: N801  (PyTorch's name)
    """How load(mmap=True) maps a file: what is written into a tensor stays in memory.

    Args:
        flags: mmap.MAP_PRIVATE

    Raises:
        NotSupportedError: for mmap.MAP_SHARED: a tensor that writes into the file would leave it with a wrong CRC
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            cause = tr("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                       "but got {}", flags)  # fmt: skip
            raise ArgumentError(cause, "mmap.MAP_PRIVATE")
        if flags == mmap.MAP_SHARED:
            cause = tr("mmap.MAP_SHARED: a tensor that writes into its file would leave it with a wrong CRC")
            raise NotSupportedError(cause, "mmap.MAP_PRIVATE, and badak.save(obj, path) again")
        self._before, options.load.mmap_flags = options.load.mmap_flags, flags

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        options.load.mmap_flags = self._before


class skip_data:  # noqa: N801  (PyTorch's name)
    """A block in which `save` writes zeros in the place of numbers, and `load` gives zeros without reading any.

    Args:
        materialize_fake_tensors: accepted
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        options.skipped.append(True)

    def __exit__(self, *exc: object) -> None:
        options.skipped.pop()


def add_safe_globals(safe_globals: list) -> None:
    """Let `load` make instances of these classes (or call these functions) when a file names them. They are *called* with what
    the file says: vouch only for what is harmless with any arguments. An item is a class, or a pair (class, "its.name")."""
    for item in safe_globals:
        name, thing = allowed.name_of(item)
        allowed.vouched()[name] = thing


def get_safe_globals() -> list:
    """The classes and functions that have been added."""
    return list(allowed.vouched().values())


def clear_safe_globals() -> None:
    """Forget all that has been added."""
    allowed.vouched().clear()


class safe_globals:  # noqa: N801  (PyTorch's name)
    """`add_safe_globals` for the length of a `with` block."""

    def __init__(self, safe_globals: list) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = dict(allowed.vouched())
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exc: object) -> None:
        allowed.vouched().clear()
        allowed.vouched().update(self._before)


def check_module_version_greater_or_equal(module: ModuleType, req_version_tuple: tuple, error_if_malformed: bool = True) -> bool:
    """Whether a module's `__version__` is at least this one.

    Args:
        module: a module with a `__version__`
        req_version_tuple: the numbers of the version
        error_if_malformed: False takes a version that is none for one that is new enough

    Returns: True or False

    Raises:
        ArgumentError: for a version that is none

    Example:
        >>> import numpy
        >>> badak.serialization.check_module_version_greater_or_equal(numpy, (1, 0))
        True
    """
    parts = module.__version__.split(".")
    try:
        return tuple(type(need)(parts[at]) for at, need in enumerate(req_version_tuple)) >= req_version_tuple
    except (ValueError, IndexError) as error:
        if not error_if_malformed:
            return True
        cause = tr("'{}' module version string is malformed '{}' and cannot be compared with tuple {}", module.__name__,
                   module.__version__, req_version_tuple)  # fmt: skip
        raise ArgumentError(cause, "error_if_malformed=False") from error


class _open_zipfile_reader:  # noqa: N801  (PyTorch's name)
    """A block in which an archive's records are read: `with _open_zipfile_reader("model.pt") as archive`."""

    def __init__(self, name_or_buffer: Any) -> None:
        self.file_like = PyTorchFileReader(name_or_buffer)

    def __enter__(self) -> PyTorchFileReader:
        return self.file_like

    def __exit__(self, *error: object) -> None:
        self.file_like.close()


class _open_zipfile_writer:  # noqa: N801  (PyTorch's name)
    """A block in which an archive's records are written; the file is there at its end."""

    def __init__(self, name_or_buffer: Any) -> None:
        self.file_like = PyTorchFileWriter(name_or_buffer)

    def __enter__(self) -> PyTorchFileWriter:
        return self.file_like

    def __exit__(self, *error: object) -> None:
        self.file_like.write_end_of_file()
