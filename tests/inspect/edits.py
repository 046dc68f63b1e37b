"""Tables of faults in files of their own: EDITS of each, put together."""

from importlib import import_module
from pathlib import Path


def edits_of(package: str, pattern: str) -> dict[str, list[tuple]]:
    """The EDITS of all modules of a package whose files have such names."""
    files = sorted((Path(__file__).parent / package).glob(pattern))
    return {name: rows for file in files for name, rows in import_module(f"{__package__}.{package}.{file.stem}").EDITS.items()}
