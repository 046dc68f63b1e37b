from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class NotAsNamed(Diagnosis):
    """A line computes something else than what its own names say."""

    code = "BADAK-267"
    title = "a formula that is not what its names say"

    def look(self, visit: "Visit") -> Iterator[Finding]:
        yield from self.told(visit, "formula")
