"""What the text of a program tells, and what a rule is that says so."""

from collections.abc import Callable, Iterator
from functools import wraps
from itertools import islice
from typing import Any, NamedTuple

from badak.core.errors import tr


class Told(NamedTuple):
    """What is wrong with a line, and how to fix it. kind: which diagnosis says it."""

    kind: str  # "setting", "unread", "read", "chosen", "prepared"
    line: int
    cause: str
    fix: str
    place: str = ""  # "file.py:12", where it is known which file it is


Found = Iterator[tuple[Any, ...]]
OTHER = tr("the other one that was meant")


def rule(kind: str = "", words: str = "") -> Callable[[Callable[..., Found]], Callable[..., Iterator[Told]]]:
    """Makes a rule of a function that yields (line or node, fix, what stands in the holes of the words ...).

    It tells the first of them alone. Without words the cause itself stands behind the fix; a `Told` is told as it is.
    """

    def of(function: Callable[..., Found]) -> Callable[..., Iterator[Told]]:
        @wraps(function)
        def tells(*args: Any) -> Iterator[Told]:
            for found in islice(function(*args), 1):
                if isinstance(found, Told):
                    yield found
                else:
                    at, fix, *values = found
                    yield Told(kind, getattr(at, "lineno", None) or at, tr(words, *values) if words else values[0], fix)

        return tells

    return of
