"""What a diagnosis is. A new one: a class in a file of its own here, a line in `__init__.py`, a plant in its tests."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class Diagnosis:
    """Judges what was seen; it needs evidence in numbers, for a false alarm is worse than a bug that is missed."""

    code: ClassVar[str]
    title: ClassVar[str]
    explains: tuple[str, ...] = ()  # codes of what follows from it, and is not said as well

    def look(self, visit: "Visit") -> Iterator[Finding]:
        """Yield what is wrong; nothing where a diagnosis is asked in another way, as that of `--overfit`."""
        return iter(())

    def found(self, place: str, cause: str, fix: str, **numbers: Any) -> Finding:
        """A finding of this diagnosis."""
        return Finding(self.code, self.title, place, cause, fix, numbers)
