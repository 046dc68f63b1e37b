from badak.core.errors import tr
from badak.inspect.doctor.diagnoses.diagnosis import Diagnosis, Findings, Visit
from badak.inspect.doctor.facts import CUTS
from badak.inspect.doctor.graph import leaves_of


class GraphCut(Diagnosis):
    """Something between a part of the model and the loss leaves the graph, and that part never gets a gradient."""

    code = "BADAK-209"
    title = "the graph is cut"
    explains = ("BADAK-217",)

    def look(self, visit: Visit) -> Findings:
        wanted = visit.without_gradient()
        said: set[str] = set()
        recorded = {id(call.module) for step in visit.steps for call in step.calls if call.grad}
        yield from self.encoded(visit)
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

    def encoded(self, visit: Visit) -> Findings:
        """What is given back hangs on none of the weights that the distribution it is drawn of hangs on."""
        rounds = [step for step in visit.rounds[:CUTS] if len(step.terms) > 1 and any(each.pull for each in step.divergences)]
        apart = [step for step in rounds if not any(a & b for i, (_, a) in enumerate(step.terms) for _, b in step.terms[:i])]
        if len(rounds) == CUTS == len(apart):
            cut = next((cut for step in apart for cut in step.cuts if cut.module is not None), None)
            yield self.found(
                cut.place if cut is not None else apart[0].divergences[0].place,
                tr("in {} steps what is given back hangs on none of the weights that give the distribution which it is drawn of: "
                   "they learn of nothing but to be near to the standard one", len(apart)),
                tr("leave out .detach() between what is drawn and what reads it"),
                steps=len(apart),
            )  # fmt: skip
