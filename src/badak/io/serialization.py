"""torch.serialization's names: save, load, and the list of classes that the user vouches for."""

from typing import Any

from badak.io import allowed
from badak.io.pt import load as load
from badak.io.pt import save as save


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


def _is_zipfile(f: Any) -> bool:
    """Whether a file that is open for reading begins, where it stands, as an archive does; it stands there afterwards."""
    start = f.tell()
    begins = f.read(4)
    f.seek(start)
    return begins == b"PK\x03\x04"
