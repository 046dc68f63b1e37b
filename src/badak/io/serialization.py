"""torch.serialization's names: save, load, and the list of classes that the user vouches for."""

from types import ModuleType
from typing import Any

from badak.core.errors import ArgumentError, tr
from badak.io import allowed
from badak.io.archive import PyTorchFileReader, PyTorchFileWriter
from badak.io.pt import is_archive
from badak.io.pt import load as load
from badak.io.pt import save as save

_is_zipfile = is_archive  # PyTorch's name


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
