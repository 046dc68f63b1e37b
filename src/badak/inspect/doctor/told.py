"""One thing that the text of a program tells."""

from typing import NamedTuple


class Told(NamedTuple):
    """What is wrong with a line, and how to fix it. kind: which diagnosis says it."""

    kind: str  # "setting", "unread", "read", "chosen", "prepared"
    line: int
    cause: str
    fix: str
    place: str = ""  # "file.py:12", where it is known which file it is
