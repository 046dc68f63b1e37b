"""What a diagnosis is. A new one: a class here, in a file of its own or next to those of its kind, under the next free BADAK-nnn;
its place in `DIAGNOSES` of `__init__.py`, causes before effects; a plant in its tests; a row in docs/how-to/doctor.md, and in the
Korean twin of that page.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

from badak.inspect.doctor.facts import Visit
from badak.inspect.doctor.report import Finding

Findings = Iterator[Finding]


class Diagnosis:
    """Judges what was seen; it needs evidence in numbers, for a false alarm is worse than a bug that is missed."""

    code: ClassVar[str]
    title: ClassVar[str]
    explains: tuple[str, ...] = ()  # codes of what follows from it, and is not said as well

    def look(self, visit: Visit) -> Findings:
        """Yield what is wrong; nothing where a diagnosis is asked in another way, as that of `--overfit`."""
        return iter(())

    def told(self, visit: Visit, kind: str) -> Findings:
        """The first of what the text of the program tells of this kind."""
        for each in [each for each in visit.text if each.kind == kind][:1]:
            yield self.found(each.place, each.cause, each.fix)

    def found(self, place: str, cause: str, fix: str, **numbers: Any) -> Finding:
        """A finding of this diagnosis."""
        return Finding(self.code, self.title, place, cause, fix, numbers)
