from collections.abc import Iterator
from typing import TYPE_CHECKING

from badak.core.errors import tr
from badak.inspect.doctor.composed import leaves_of
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis
from badak.inspect.doctor.facts import CUTS
from badak.inspect.doctor.report import Finding

if TYPE_CHECKING:
    from badak.inspect.doctor.session import Visit


class GraphCut(Diagnosis):
    """Something between a part of the model and the loss leaves the graph, and that part never gets a gradient."""

    code = "BADAK-209"
    title = "the graph is cut"
    explains = ("BADAK-217",)

    def look(self, visit: "Visit") -> Iterator[Finding]:
        wanted = visit.without_gradient()
        said: set[str] = set()
        recorded = {id(call.module) for step in visit.steps for call in step.calls if call.grad}
        for step in [*visit.steps[:CUTS], visit.watch.open]:
            for cut in step.cuts:
                if cut.whole is not None and id(cut.whole) in recorded:  # asked without gradients at other times, too
                    continue
                lost = {key: p for key, p in leaves_of(cut.node).items() if key in wanted}
                if lost and cut.place not in said:
                    said.add(cut.place)
                    for key in lost:
                        del wanted[key]
                    yield self.found(
                        cut.place,
                        tr("{} cuts the graph: {} parameters before it got no gradient in {} steps "
                           "({})", cut.how, len(lost), len(visit.steps), visit.names.few(lost.values())),
                        tr("leave out {}; or freeze what is not to learn: module.requires_grad_(False)", cut.how),
                        parameters=len(lost), steps=len(visit.steps),
                    )  # fmt: skip
