"""What goes wrong with files where PyTorch raises a class of its own: each complaint is of that class too."""

import pickle

from badak.errors import ArgumentError, FileError


class AbsentFileError(FileError, FileNotFoundError):
    """A file that is not there."""

    def __str__(self) -> str:
        return self.args[0]


class UnsafeFileError(FileError, pickle.UnpicklingError):
    """A file that asks for more than data: a class or function that badak does not take from a file."""


class UnpicklableError(ArgumentError, pickle.PicklingError, AttributeError):
    """A value that no file can hold: a lambda, a local class, an open file."""


def damaged(where, what: str, fix: str = "copy or download it again, or write it again with badak.save") -> FileError:
    """The complaint about a file that cannot be what badak.save or torch.save wrote."""
    return FileError(f"{where}: damaged, or not a file of torch.save: {what}", fix)
